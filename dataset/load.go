// Package dataset has the records of the directory, and reads and checks their files.
//
// A Set is all records of one load, in default order, with a digest of the bytes read. A Finding is one thing wrong in
// the files: path, line, column, field and a sentence. It rejects the dataset, unless it is a warning.
//
// Load reads a directory strictly and reports all findings at once; Check reports warnings too; Format writes the files
// in canonical format. Reading is bounded in files, lines and findings. A new rule of one field is a tag in package
// record. Any other rule is an entry in a table of rules, such as modelRules, and a fixture in testdata/lint.
//
// Unknown is nil, which matches no range. The package never logs and never reads the environment. Records of a Set must
// not be changed; reading them from many goroutines is safe.
package dataset

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"time"

	"modeldex/dataset/history"
	"modeldex/dataset/record"
)

// Options says how to load. The zero value loads with every core.
type Options struct {
	// Workers is how many files are decoded at once; zero means one per core.
	Workers int
	// Now is the clock that dates in the future are judged by; nil means time.Now.
	Now func() time.Time
	// Review, if set, returns a rule for one benchmark that needs more than this package has. Check and Propose
	// warn of the field with the text it returns; an empty text is no warning. See resolve.Review.
	Review func([]*Model, []*Hardware) func(*Benchmark) (field, text string)
	// Last, if set, is what an earlier Load returned. Load returns it again if no byte has changed.
	Last *Set
}

// Load reads and checks the dataset in fsys, see Dir. If there are faults, the error is Findings with all of them; any
// other error means that the dataset cannot be read. If ctx ends, Load soon returns its error. Safe for concurrent use.
func Load(ctx context.Context, fsys fs.FS, opt Options) (*Set, error) {
	list, err := listFiles(fsys, false)
	if err != nil {
		return nil, err
	}
	if opt.Last != nil && len(list.findings) == 0 && opt.Last.source.sameFiles(ctx, list) {
		return opt.Last, nil
	}
	src, err := readSource(ctx, list, opt)
	if err != nil {
		return nil, err
	}
	c := newChecker(ctx, src, opt)
	findings, err := c.judge()
	switch {
	case err != nil:
		return nil, err
	case len(findings) > 0:
		return nil, findings
	}
	return newSet(src), nil
}

// Check reads and checks the dataset in fsys and returns all findings, warnings too, sorted by place. The error means
// that there is no dataset to be read.
func Check(fsys fs.FS, opt Options) (Findings, error) {
	ctx := context.Background()
	list, err := listFiles(fsys, true)
	if err != nil {
		return nil, err
	}
	src, err := readSource(ctx, list, opt)
	if err != nil {
		return nil, err
	}
	c := newChecker(ctx, src, opt)
	c.warn = true
	findings, err := c.judge()
	if err != nil {
		return nil, err
	}
	return findings.accepted(fsys), nil
}

type source struct {
	tables
	fsys     fs.FS
	files    []*file
	findings Findings // of single files and records
	faulty   map[member]bool
	text     []byte // in place of the files, see Propose
}

func (s *source) open(ctx context.Context, name string) (io.ReadCloser, error) {
	if s.text != nil {
		return io.NopCloser(bytes.NewReader(s.text)), nil
	}
	return open(ctx, s.fsys, name)
}

func readSource(ctx context.Context, list *listing, opt Options) (*source, error) {
	opt.Workers = cmp.Or(opt.Workers, runtime.GOMAXPROCS(0))
	s := &source{fsys: list.fsys, files: list.files, findings: list.findings, faulty: map[member]bool{}}
	if err := readFiles(ctx, s.fsys, s.files, opt); err != nil {
		return nil, err
	}
	for _, kind := range list.missed {
		s.tableOf(kind).lose(lost{})
	}
	for _, f := range s.files {
		for _, kind := range kinds {
			s.tableOf(kind).append(f.records.tableOf(kind))
		}
		s.findings = append(s.findings, f.findings...)
		for _, m := range f.faulty {
			s.faulty[m] = true
		}
		f.records, f.findings, f.faulty = nil, nil, nil
	}
	return s, nil
}

func (s *source) anyFaulty(records ...place) bool {
	return len(s.faulty) > 0 && slices.ContainsFunc(records, func(p place) bool { return s.faulty[member{at: p}] })
}

func (s *source) placeText(p place) string { return fmt.Sprintf("%s:%d", s.files[p.file].name, p.line) }

func (s *source) sameFiles(ctx context.Context, list *listing) bool {
	return s != nil && slices.EqualFunc(s.files, list.files, func(was, is *file) bool {
		if was.name != is.name || was.size != is.size {
			return false
		}
		f, err := open(ctx, list.fsys, is.name)
		if err != nil {
			return false
		}
		defer f.Close()
		hash := sha256.New()
		_, err = io.Copy(hash, f)
		return err == nil && Digest(hash.Sum(nil)) == was.digest
	})
}

func newSet(src *source) *Set {
	s := &Set{
		Info: *src.info.recs[0], Models: values(src.models.recs), Hardware: values(src.hardware.recs),
		Tools: values(src.tools.recs), Quantizations: values(src.quantizations.recs), Origins: values(src.origins.recs), Quality: values(src.quality.recs),
		Benchmarks: slices.SortedFunc(slices.Values(src.benchmarks.recs), record.NewerRun),
	}
	slices.SortFunc(s.Models, func(a, b Model) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(s.Hardware, func(a, b Hardware) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(s.Quality, func(a, b Quality) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(s.Origins, func(a, b Origin) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(s.Tools, func(a, b Tool) int { return cmp.Compare(a.Slug, b.Slug) })
	for i := range s.Models {
		if state := s.Models[i].RecurrentState(); state != nil {
			s.Models[i].KVCache.RecurrentStateBytes = state
		}
	}
	addComputed(s.Models, s.Quantizations)
	s.Releases = history.New(src.changes.recs)
	s.source = src
	hash := sha256.New()
	for _, f := range s.Files() {
		fmt.Fprintf(hash, "%s %s\n", f.Digest, f.Name)
	}
	hash.Sum(s.Digest[:0])
	return s
}

var errNoFiles = errors.New("the dataset was not read from files")

// proposedFile is the path of findings about proposed lines: a file of no year, so that any year fits.
const proposedFile = benchmarksDir + "/proposed.ndjson"

// Propose checks benchmark lines by the rules of Check, as if they were a further file of the set, and returns their
// findings in order of place, with proposedFile as the path. They are compared with the benchmarks of the same hardware
// and tool, id or figures. Of opt, Now and Review are used. Safe for concurrent use.
func Propose(set *Set, lines []byte, opt Options) (Findings, error) {
	if set.source == nil {
		return nil, errNoFiles
	}
	own := &file{name: proposedFile, number: int32(len(set.source.files)), shared: record.NewSharer(), records: new(tables)}
	if err := own.decode(bytes.NewReader(lines)); err != nil && !errors.Is(err, errTooMany) {
		own.readFailed(err)
	}
	src := &source{
		tables: set.source.tables, text: lines, files: append(slices.Clip(set.source.files), own),
		findings: own.findings, faulty: map[member]bool{},
	}
	for _, m := range own.faulty {
		src.faulty[m] = true
	}
	src.benchmarks = alike(&set.source.benchmarks, own.records.benchmarks.recs)
	src.benchmarks.append(&own.records.benchmarks)
	c := newChecker(context.Background(), src, opt)
	c.warn, c.each = true, true
	c.index()
	c.checkBenchmarks()
	c.report()
	c.pending = slices.DeleteFunc(c.pending, func(f pendingFinding) bool { return f.at.file != own.number })
	return c.placed(), nil
}

// alike are the benchmarks that a rule may compare proposed ones with: by hardware and tool, by id, or by their
// figures.
func alike(all *table[Benchmark], proposed []*Benchmark) (out table[Benchmark]) {
	type machine struct{ hardware, tool Slug }
	machines, ids, printed := map[machine]bool{}, map[Slug]bool{}, map[figures]bool{}
	for _, b := range proposed {
		machines[machine{b.Hardware, b.Tool}], ids[b.ID] = true, true
		if f, clear := figuresOf(b); clear {
			printed[f] = true
		}
	}
	for i, b := range all.recs {
		f, clear := figuresOf(b)
		if machines[machine{b.Hardware, b.Tool}] || ids[b.ID] || clear && printed[f] {
			out.add(b, all.places[i])
		}
	}
	return out
}
