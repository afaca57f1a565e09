package static

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"modeldex/httpapi"
	"modeldex/httpapi/static/progress"
	"modeldex/httpapi/static/wholedir"
	"modeldex/quota"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// Config says what to export and where to.
type Config struct {
	// Server is what to serve: dataset, documents, addresses. Its Keeper, Dumps, DumpsDir, CacheBytes
	// and limits are set by Export.
	Server httpapi.Config
	// Dir is the directory to write. It must not exist, be empty, or be an earlier export.
	Dir string
	// Compressed are the endings of the compressed forms to write: gz, br, zst.
	Compressed []string
	// Concurrency is how many responses are made at a time; zero means one.
	Concurrency int
	// Progress, if set, is called before the dump is made, before the first address is asked for, and after
	// each: never by two goroutines at a time.
	Progress func(progress.State)
}

// Summary is what an export wrote, and the file export.json of it.
type Summary struct {
	// Format names the layout.
	Format string `json:"format"`
	// Version, Digest and Licence are those of the dataset, Program is the version of the program.
	Version string `json:"dataset_version"`
	Digest  string `json:"dataset_digest"`
	Licence string `json:"licence"`
	Program string `json:"program_version"`
	// BaseURL is what absolute addresses begin with.
	BaseURL string `json:"base_url"`
	// Files and Bytes are without compressed forms, Compressed and CompressedBytes those alone.
	Files           int            `json:"files"`
	Bytes           int64          `json:"bytes"`
	Compressed      int            `json:"compressed_files"`
	CompressedBytes int64          `json:"compressed_bytes"`
	Kinds           map[string]int `json:"files_by_kind"`
}

// layout is Summary.Format. An export is known by it.
const layout = "modeldex-export-1"

// summaryFile and listFile are written last.
const (
	summaryFile = "export.json"
	listFile    = "files.ndjson"
)

// cacheBytes is the cache of the server: a response is asked for once in each coding.
const cacheBytes = 4 << 20

// entry is a line of the list of files.
type entry struct {
	File       string   `json:"file"`
	Address    string   `json:"address"`
	Kind       string   `json:"kind"`
	MediaType  string   `json:"media_type"`
	Bytes      int64    `json:"bytes"`
	SHA256     string   `json:"sha256"`
	Compressed []string `json:"compressed"`

	compressedBytes int64
}

// Export writes the files and puts the directory in place in one step; an error, and the end of ctx,
// leave what was there before. It takes the memory of the dataset and of as many responses as are made
// at a time. An export to a directory to which another one is under way is an error.
func Export(ctx context.Context, cfg Config) (_ *Summary, err error) {
	out, err := wholedir.New(cfg.Dir, exported)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.Discard()) }()
	server, key, stop, err := open(cfg.Server, out.Aside())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if cfg.Progress == nil {
		cfg.Progress = func(progress.State) {}
	}
	cfg.Progress(progress.State{})
	if err := server.MakeDump(ctx); err != nil {
		return nil, fmt.Errorf("making the dump: %w", err)
	}
	gen := cfg.Server.Live.Current()
	sum := &Summary{
		Format: layout, Version: gen.Info.Version, Digest: gen.Digest.String(), Licence: gen.Info.License,
		Program: cfg.Server.Version, BaseURL: cfg.Server.BaseURL, Kinds: map[string]int{},
	}
	w := &writer{progress: cfg.Progress, server: server, key: key, out: out, twins: twinsOf(cfg.Compressed)}
	if err := w.all(ctx, max(1, cfg.Concurrency), sum); err != nil {
		return nil, err
	}
	b, err := jsonv2.Marshal(sum, jsonv2.Deterministic(true), jsontext.WithIndent("  "))
	if err == nil {
		err = out.Write(summaryFile, func(w io.Writer) error { _, err := w.Write(append(b, '\n')); return err })
	}
	if err == nil {
		err = out.Publish()
	}
	return sum, err
}

// exported says whether a directory is an export.
func exported(dir string) error {
	var sum Summary
	b, err := os.ReadFile(filepath.Join(dir, summaryFile))
	if err == nil {
		err = jsonv2.Unmarshal(b, &sum)
	}
	if err != nil || sum.Format != layout {
		return fmt.Errorf("%s: has files and is not an export; name a directory that does not exist, is empty, or was written by export", dir)
	}
	return nil
}

// open starts a server without a listener, and a key that may ask without end. Keys and dumps are kept
// in dir.
func open(cfg httpapi.Config, dir string) (_ *httpapi.Server, key string, stop func() error, err error) {
	stop = func() error { return nil }
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	ledger, err := quota.Open(filepath.Join(dir, "keys.db"), quota.Options{})
	if err != nil {
		return nil, "", nil, err
	}
	stop = ledger.Close
	const endless = 1_000_000
	tiers, err := quota.NewTiers(quota.Tier{Name: quota.FreeTier, CallsPerMonth: quota.MaxLimit, Burst: quota.Burst{Rate: endless, PerSeconds: 1, Depth: endless}})
	if err != nil {
		return nil, "", nil, err
	}
	keeper, err := quota.NewKeeper(ledger, quota.Config{Tiers: tiers})
	if err != nil {
		return nil, "", nil, err
	}
	stop = func() error {
		return errors.Join(keeper.Close(context.Background()), ledger.Close())
	}
	issued, _, err := keeper.Issue(context.Background(), quota.IssueRequest{Name: "export", Email: "export@localhost.invalid", UseCase: "export"})
	if err != nil {
		return nil, "", nil, err
	}
	cfg.Keeper, cfg.Dumps, cfg.DumpsDir, cfg.CacheBytes, cfg.PagesPerMinute, cfg.Hooks = keeper, httpapi.DumpsOpen, dir, cacheBytes, 0, nil
	server, err := httpapi.New(cfg)
	if err != nil {
		return nil, "", nil, err
	}
	stop = func() error {
		return errors.Join(server.Shutdown(context.Background()), keeper.Close(context.Background()), ledger.Close())
	}
	return server, issued.Secret.Reveal(), stop, nil
}

// job is a place to write the files of, and where its entries of the list go.
type job struct {
	place httpapi.Place
	done  chan []entry
}

// all writes the files of all places, some at a time, and the list of them in the order of the places.
func (w *writer) all(ctx context.Context, concurrency int, sum *Summary) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs, order := make(chan job), make(chan job, concurrency)
	var work sync.WaitGroup
	work.Go(func() { w.queue(ctx, jobs, order) })
	for range concurrency {
		work.Go(func() {
			if err := w.do(ctx, jobs); err != nil {
				cancel(err)
			}
		})
	}
	err := w.out.Write(listFile, func(out io.Writer) error { return w.list(ctx, out, order, sum) })
	if err != nil {
		cancel(err)
	}
	work.Wait()
	return err
}

// queue sends a job for each place to those who do them, and to the list, which waits for each in this order.
func (w *writer) queue(ctx context.Context, jobs, order chan<- job) {
	defer close(jobs)
	defer close(order)
	for p := range w.server.Places() {
		j := job{p, make(chan []entry, 1)}
		for _, to := range []chan<- job{order, jobs} {
			select {
			case to <- j:
			case <-ctx.Done():
				return
			}
		}
	}
}

// do writes the files of places until there are no more.
func (w *writer) do(ctx context.Context, jobs <-chan job) error {
	for j := range jobs {
		entries, err := w.place(ctx, j.place)
		if err != nil {
			return fmt.Errorf("%s: %w", j.place.Address, err)
		}
		j.done <- entries
	}
	return nil
}

// list writes the list of all files, adds them up and reports the progress.
func (w *writer) list(ctx context.Context, out io.Writer, order <-chan job, sum *Summary) error {
	now := progress.State{}
	for range w.server.Places() { // their addresses alone are made, in milliseconds
		now.Total++
	}
	w.progress(now)
	lines := jsontext.NewEncoder(out)
	for j := range order {
		var entries []entry
		select {
		case entries = <-j.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		for i := range entries {
			sum.add(&entries[i])
			if err := jsonv2.MarshalEncode(lines, &entries[i], jsonv2.FormatNilSliceAsNull(true)); err != nil {
				return err
			}
		}
		now.Addresses, now.Files, now.Bytes = now.Addresses+1, sum.Files+sum.Compressed, sum.Bytes+sum.CompressedBytes
		w.progress(now)
	}
	return ctx.Err()
}

func (s *Summary) add(e *entry) {
	s.Files++
	s.Bytes += e.Bytes
	s.Compressed += len(e.Compressed)
	s.CompressedBytes += e.compressedBytes
	s.Kinds[e.Kind]++
}
