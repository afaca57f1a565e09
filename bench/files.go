//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	jsonv2 "github.com/goccy/go-json/v2"
)

// filesCmd asks the real program for every row at once, as a key that pays may, and for its dumps, and
// watches its memory.
type filesCmd struct {
	Rows    int           `default:"1000000" help:"Benchmarks to make, in lean lines."`
	Data    string        `placeholder:"DIR" help:"Dataset to use instead of making one."`
	Formats []string      `default:"ndjson,csv,parquet" help:"Formats to ask for."`
	Dumps   bool          `default:"true" negatable:"" help:"Make and read the dumps as well."`
	Limit   time.Duration `default:"20m" help:"How long one file, or the dumps, may take."`
	Out     string        `placeholder:"FILE" help:"File to write the tables to as well."`
}

// Run prints tables.
func (c *filesCmd) Run() error {
	dir, err := os.MkdirTemp("", "bench-files")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if c.Data == "" {
		c.Data = filepath.Join(dir, "data")
		if err := makeLean(c.Data, c.Rows); err != nil {
			return err
		}
	}
	program, data, err := programAndData(dir, c.Data)
	if err != nil {
		return err
	}
	ledger := filepath.Join(dir, "modeldex.db")
	keys, err := issueKeys(ledger, 1, "paid")
	if err != nil {
		return err
	}
	var report bytes.Buffer
	out := io.MultiWriter(os.Stdout, &report)
	fmt.Fprintf(out, "# Files of %d benchmarks\n\nCommand: `go run ./bench files`. Seconds of the clock, and of processor time of the server alone; resident memory.\n%s.\n\n", c.Rows, describeMachine("."))
	fmt.Fprintf(out, "| what | MB | seconds | processor s | resident before MB | highest MB | added MB |\n|---|---:|---:|---:|---:|---:|---:|\n")
	s, err := serve(program, dir, data, ledger, keys, "--log-level", "error", "--dumps", "off")
	if err != nil {
		return err
	}
	for _, format := range c.Formats {
		err = errors.Join(err, c.measure(out, s, "`limit=all&format="+format+"`", "/api/v1/benchmarks?limit=all&format="+format))
	}
	s.stop()
	if err == nil && c.Dumps {
		err = c.dumps(out, program, dir, data, ledger, keys)
	}
	if err == nil && c.Out != "" {
		err = os.WriteFile(c.Out, report.Bytes(), 0o644)
	}
	return err
}

// dumps has the dumps made by one server, reads some, and has them found by the next.
func (c *filesCmd) dumps(out io.Writer, program, dir, data, ledger string, keys []string) error {
	for _, made := range []string{"dumps, made", "dumps, found after a restart"} {
		s, err := serve(program, dir, data, ledger, keys, "--log-level", "error")
		if err != nil {
			return err
		}
		err = c.measure(out, s, made, "")
		for _, name := range []string{"benchmarks.csv.zst", "benchmarks_wide.parquet"} {
			if err == nil && made == "dumps, made" {
				err = c.measure(out, s, "`"+name+"`, sent", "/api/v1/dumps/latest/"+name)
			}
		}
		s.stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// measure prints the line of one address, or of waiting for the dumps for none.
func (c *filesCmd) measure(out io.Writer, s *server, what, path string) error {
	if path != "" {
		s.idle()
	}
	before, began := s.resident(), time.Now()
	used, err := processorTime(s.pids())
	if err != nil {
		return err
	}
	var size int64
	var highest int64
	if path == "" {
		size, highest, err = c.await(s)
	} else {
		size, highest, err = c.read(s, path)
	}
	took := time.Since(began)
	var now time.Duration
	if err == nil {
		now, err = processorTime(s.pids())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	fmt.Fprintf(out, "| %s | %d | %.0f | %.0f | %d | %d | %d |\n", what, size>>20, took.Seconds(), (now - used).Seconds(), before>>20, highest>>20, (highest-min(highest, before))>>20)
	return nil
}

// await waits for the dumps, and returns their size and the most memory the server had until then.
func (c *filesCmd) await(s *server) (size int64, highest int64, err error) {
	body, err := s.awaitDump(c.Limit, 20*time.Millisecond, func() { highest = max(highest, s.resident()) })
	if err != nil {
		return 0, 0, err
	}
	var list struct {
		Data struct {
			Files []struct {
				Bytes int64 `json:"bytes"`
			} `json:"files"`
		} `json:"data"`
	}
	if err := jsonv2.Unmarshal(body, &list); err != nil {
		return 0, 0, fmt.Errorf("the list of dumps: %w", err)
	}
	for _, f := range list.Data.Files {
		size += f.Bytes
	}
	return size, highest, nil
}

// read reads one file to its end and returns its size and the most memory the server had.
func (c *filesCmd) read(s *server, path string) (size int64, highest int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), c.Limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+path, http.NoBody)
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Authorization", "Bearer "+s.keys[0])
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1000)) // what there is of it explains the status
		return 0, 0, fmt.Errorf("status %d: %s", resp.StatusCode, body)
	}
	for {
		n, err := io.CopyN(io.Discard, resp.Body, 1<<20)
		size += n
		highest = max(highest, s.resident())
		if errors.Is(err, io.EOF) {
			return size, highest, nil
		}
		if err != nil {
			return size, highest, err
		}
	}
}

// resident is the resident memory of the server.
func (s *server) resident() int64 {
	return memory(s.cmd.Process.Pid, "VmRSS")
}
