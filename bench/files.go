//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// filesCmd asks the real program for every row at once, as a key that pays may, and watches its memory.
type filesCmd struct {
	Rows    int           `default:"1000000" help:"Benchmarks to make, in lean lines."`
	Data    string        `placeholder:"DIR" help:"Dataset to use instead of making one."`
	Formats []string      `default:"ndjson,csv,parquet" help:"Formats to ask for."`
	Limit   time.Duration `default:"10m" help:"How long one file may take."`
}

// Run prints a table.
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
	s, err := serve(program, dir, data, ledger, keys, "--log-level", "error", "--dumps", "off")
	if err != nil {
		return err
	}
	defer s.stop()
	s.idle()
	fmt.Printf("%s.\n\n| format | MB | seconds | resident before MB | highest MB | added MB |\n|---|---:|---:|---:|---:|---:|\n", describeMachine("."))
	for _, format := range c.Formats {
		before := s.resident()
		began := time.Now()
		size, highest, err := c.read(s, format)
		if err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
		fmt.Printf("| %s | %d | %.0f | %d | %d | %d |\n", format, size>>20, time.Since(began).Seconds(), before>>20, highest>>20, (highest-min(highest, before))>>20)
	}
	return nil
}

// read reads one file to its end and returns its size and the most memory the server had.
func (c *filesCmd) read(s *server, format string) (size int64, highest uint64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), c.Limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/api/v1/benchmarks?limit=all&format="+format, http.NoBody)
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
func (s *server) resident() uint64 {
	return statusBytesOf(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid), "VmRSS")
}
