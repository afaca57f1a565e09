// Package verbs has the verbs about snapshot documents: `modeldex snapshot capture`, `build`, `verify`, `evaluate`
// and `diff`. See modeldex/dataset/verbs for how verbs are written.
package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/best"
	"modeldex/dataset/record"
	"modeldex/dataset/verbs"
	"modeldex/dataset/wholefile"
	"modeldex/snapshot"
	"modeldex/snapshot/importer"
)

// Build builds a document from captured rows.
type Build struct {
	From        string `help:"Folder with build.json, aliases, directory and captured rows; default data/snapshots." default:"data/snapshots" placeholder:"DIR"`
	GeneratedAt string `help:"Time to write into the document, such as 2026-07-01T00:00:00Z; default SOURCE_DATE_EPOCH, else now." placeholder:"TIME"`
	Epoch       string `name:"source-date-epoch" hidden:"" help:"The same time in seconds since 1970, as reproducible builds set it." env:"SOURCE_DATE_EPOCH"`
	BaseURL     string `help:"Address of the service without a path, for an absolute schema_url; default base_url of build.json, where empty means a schema_url relative to the document." env:"MODELDEX_BASE_URL" placeholder:"URL"`
	Models      string `help:"Take the list of models from this dataset instead of directory.ndjson, and write it to that file after the build." placeholder:"DIR"`
	Out         string `short:"o" required:"" help:"File to write." placeholder:"FILE"`

	at time.Time
}

// Validate reads the time and checks the address.
func (c *Build) Validate() (err error) {
	if err := snapshot.CheckBaseURL(c.BaseURL); err != nil {
		return fmt.Errorf("--base-url: %w", err)
	}
	from := "--generated-at"
	switch {
	case c.GeneratedAt != "":
		if c.at, err = time.Parse(time.RFC3339, c.GeneratedAt); err != nil {
			return fmt.Errorf("--generated-at: must be a time such as 2026-07-01T00:00:00Z, got %q", c.GeneratedAt)
		}
	case c.Epoch != "":
		from = "SOURCE_DATE_EPOCH"
		seconds, err := strconv.ParseInt(c.Epoch, 10, 64)
		if err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH: must be whole seconds since 1970, got %q", c.Epoch)
		}
		c.at = time.Unix(seconds, 0).UTC()
	default:
		c.at = time.Now().UTC().Truncate(time.Second)
	}
	if text := dateProblem(c.at); text != "" {
		return fmt.Errorf("%s: %s", from, text)
	}
	return nil
}

// dateProblem says what is wrong with the time of a document. One of the future would hide all later ones.
func dateProblem(at time.Time) string {
	return dataset.DateProblem(dataset.Date(at.UTC().Format(time.DateOnly)), time.Now())
}

// Run prints what could not be matched.
func (c *Build) Run(env *verbs.Env) error {
	for _, err := range []error{checkCaptured(c.From), verbs.CheckOutput(c.Out)} {
		if err != nil {
			return err
		}
	}
	opt := importer.Options{GeneratedAt: c.at, BaseURL: c.BaseURL, Dir: c.From}
	if c.Models != "" {
		set, _, err := verbs.Dataset{Data: c.Models}.Load(env)
		if err != nil {
			return err
		}
		opt.Directory = importer.DirectoryOf(set.Models)
	}
	doc, report, err := importer.Build(context.Background(), os.DirFS(c.From), opt)
	if err != nil && report.Models == 0 {
		return err // nothing was matched, so there is nothing to say of it
	}
	if _, printErr := fmt.Fprint(env.Stderr, &report); err != nil || printErr != nil {
		return errors.Join(err, printErr)
	}
	if err := wholefile.WriteBytes(c.Out, doc); err != nil || c.Models == "" {
		return err
	}
	return importer.FreezeDirectory(c.From, opt.Directory) // last: a build that fails changes nothing
}

// Verify names what is wrong with a document.
type Verify struct {
	From string `arg:"" help:"File or http(s) address of a document; - reads standard input."`
}

// Run prints every finding.
func (c *Verify) Run(env *verbs.Env) error {
	r, err := open(c.From)
	if err != nil {
		return err
	}
	defer r.Close() // only read
	checked := snapshot.Check(r)
	if checked.Document != nil {
		at, _ := time.Parse(time.RFC3339, checked.Document.GeneratedAt) // checked
		if text := dateProblem(at); text != "" {
			checked.Findings = append(checked.Findings, snapshot.Finding{Pointer: "/generated_at", Rule: text})
		}
	}
	for _, f := range checked.Findings {
		f.Path = c.From
		fmt.Fprintln(env.Stderr, f)
	}
	if len(checked.Findings) > 0 {
		return fmt.Errorf("%s: %s", c.From, record.Counted(len(checked.Findings), "finding"))
	}
	doc := checked.Document
	fmt.Fprintf(env.Stdout, "%s: valid: %s, %s, sha256 %s\n", c.From, record.Counted(doc.Meta.ModelCount, "model"), record.Counted(doc.Meta.ScoreCount, "score"), doc.OutputHash)
	if checked.Form != nil {
		fmt.Fprintf(env.Stdout, "%s: valid content, but the bytes are not canonical JSON (RFC 8785): they differ at %s. A published file must be canonical.\n", c.From, "#"+checked.Form.Pointer)
	}
	return nil
}

// Capture turns the table of a publisher into rows.
type Capture struct {
	Form       string `arg:"" help:"Source of the table: arena, livebench or euroeval." enum:"arena,livebench,euroeval"`
	Table      string `arg:"" help:"The table as downloaded: JSON from arena, CSV from the others."`
	Categories string `help:"The categories file of the release, for livebench." placeholder:"FILE"`
	Config     string `help:"Board (config) in build.json that the table belongs to; default that of the shipped rows." placeholder:"NAME"`
	Split      word   `required:"" help:"Split (release) in build.json that the table belongs to." placeholder:"NAME"`
	Date       word   `required:"" help:"Date of the table, such as 2026-01-08." placeholder:"DATE"`
}

type word string

// UnmarshalText reads the value of a flag.
func (w *word) UnmarshalText(text []byte) error {
	if *w = word(text); *w == "" {
		return errors.New("must not be empty")
	}
	return nil
}

// Validate checks what goes together.
func (c *Capture) Validate() error {
	if (c.Form == "livebench") != (c.Categories != "") {
		return errors.New("--categories: is required for livebench, and cannot be used otherwise")
	}
	if c.Date == "" {
		return nil // the parser reports missing flags
	}
	at, err := time.Parse(time.DateOnly, string(c.Date))
	if err != nil {
		return fmt.Errorf("--date: must be a date such as 2026-01-08, got %q", c.Date)
	}
	if text := dateProblem(at); text != "" {
		return fmt.Errorf("--date: %s", text)
	}
	return nil
}

// Run prints the rows as NDJSON, to be kept in sources.
func (c *Capture) Run(env *verbs.Env) error {
	table, err := verbs.ReadFile(c.Table)
	if err != nil {
		return err
	}
	var rows []snapshot.Row
	board := importer.Board{Config: c.Config, Split: string(c.Split), Date: string(c.Date)}
	switch c.Form {
	case "arena":
		board.Source, board.Config = "lmarena", cmp.Or(c.Config, "text_style_control")
		rows, err = importer.ReadArena(board, table)
	case "livebench":
		board.Source, board.Config = "livebench", cmp.Or(c.Config, "leaderboard")
		var categories []byte
		if categories, err = verbs.ReadFile(c.Categories); err != nil {
			return err
		}
		rows, err = importer.ReadLiveBench(board, table, categories)
	case "euroeval":
		board.Source, board.Config = "euroeval", cmp.Or(c.Config, "english_all")
		rows, err = importer.ReadEuroEval(board, table)
	}
	if bad := new(importer.CategoriesError); errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", c.Categories, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.Table, err)
	}
	return importer.WriteLines(env.Stdout, rows)
}

func checkCaptured(folder string) error {
	if err := verbs.CheckDirectory(folder); err != nil {
		return fmt.Errorf("%w; name data/snapshots of a checkout of the repository with --from", err)
	}
	return nil
}

// Evaluate measures the common scale.
type Evaluate struct {
	From string `help:"Folder with build.json, aliases, directory and captured rows; default data/snapshots." default:"data/snapshots" placeholder:"DIR"`
}

// Run prints how well held-out sources are predicted.
func (c *Evaluate) Run(env *verbs.Env) error {
	if err := checkCaptured(c.From); err != nil {
		return err
	}
	in, err := importer.Load(os.DirFS(c.From), importer.Options{Dir: c.From})
	if err != nil {
		return err
	}
	end := verbs.Progress("evaluating")
	e, err := snapshot.Evaluate(context.Background(), in)
	end()
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(env.Stdout, e)
	return err
}

// Diff compares two documents.
type Diff struct {
	Before string `arg:"" help:"File or http(s) address of a document."`
	After  string `arg:"" help:"File or http(s) address of a later document."`
	verbs.Format
}

// Run lists the models that moved, are new or were removed.
func (c *Diff) Run(env *verbs.Env) error {
	before, err := read(c.Before)
	if err != nil {
		return err
	}
	after, err := read(c.After)
	if err != nil {
		return err
	}
	d := snapshot.Diff(before, after)
	if c.JSON() {
		return env.PrintJSON(d)
	}
	_, err = fmt.Fprint(env.Stdout, d)
	return err
}

func read(from string) (*snapshot.Document, error) {
	r, err := open(from)
	if err != nil {
		return nil, err
	}
	defer r.Close() // only read
	checked := snapshot.Check(r)
	if found := checked.Findings; len(found) > 0 {
		return nil, fmt.Errorf("%s: %s, the first: %s", from, record.Counted(len(found), "finding"), found[0])
	}
	return checked.Document, nil
}

func open(from string) (io.ReadCloser, error) {
	if !strings.HasPrefix(from, "http://") && !strings.HasPrefix(from, "https://") {
		return verbs.OpenFile(from)
	}
	client := http.Client{Timeout: time.Minute}
	resp, err := client.Get(from)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s: answered %s", from, resp.Status), resp.Body.Close())
	}
	return resp.Body, nil
}

// Check verifies the documents in the folder snapshots of a dataset, which need not have any.
func Check(files fs.FS) dataset.Findings {
	const folder = "snapshots"
	documents, err := fs.Sub(files, folder)
	var findings []snapshot.Finding
	var out dataset.Findings
	if err == nil {
		var catalog *snapshot.Catalog
		if catalog, findings, err = snapshot.Open(documents); err == nil {
			for _, info := range catalog.List() {
				if text := dateProblem(info.GeneratedAt); text != "" {
					out = append(out, dataset.Finding{Path: path.Join(folder, info.Path), Field: "/generated_at", Text: text})
				}
			}
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		out = append(out, dataset.Finding{Path: folder, Text: err.Error()})
	}
	for _, f := range findings {
		out = append(out, dataset.Finding{Path: path.Join(folder, f.Path), Field: f.Pointer, Text: f.Rule})
	}
	return out
}

// Evidence is what the newest document of the folder snapshots of a dataset says of models; nothing if there is none.
func Evidence(files fs.FS) func(model dataset.Slug) []best.Evidence {
	if folder, err := fs.Sub(files, "snapshots"); err == nil {
		if catalog, _, err := snapshot.Open(folder); err == nil {
			return catalog.Evidence
		}
	}
	return (&snapshot.Catalog{}).Evidence
}
