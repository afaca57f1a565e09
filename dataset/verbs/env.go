// Package verbs has the verbs about datasets: `modeldex check`, `fmt`, `diff`, `changes`, `import` and `resolve`; and
// what all verbs of the program share.
//
// A verb is a struct. Its fields are flags, as tags for the command-line parser; its Run method does one thing with a
// function of the package that owns the work, and prints the result. For a new one, add a file to the verbs package
// there, and a line to the table in main.go. Results go to Env.Stdout, all else to Env.Stderr. Errors of Run end with
// 1, those of a method Validate with 2. Use UntilSignal and CutShort to clean up at a signal, ReadFile, OpenFile and
// CheckOutput for files of a command line, and the embedded Dataset, DatasetArg and Format. Describe the verb in a
// script of httpapi/testdata/scripts.
package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"golang.org/x/term"

	"modeldex/dataset"
	"modeldex/dataset/best"
)

// Env is what a verb may use of the process that it runs in.
type Env struct {
	Stdout, Stderr io.Writer
	// Shipped is the dataset inside the binary.
	Shipped fs.FS
	// Version is the program's.
	Version string
	// CheckSnapshots verifies the documents of the folder snapshots of a dataset, nil for none.
	CheckSnapshots func(files fs.FS) dataset.Findings
	// Evidence is what the newest document of the folder snapshots says of models.
	Evidence func(files fs.FS) func(model dataset.Slug) []best.Evidence
}

var printed = jsonv2.JoinOptions(jsonv2.Deterministic(true), jsonv2.FormatNilSliceAsNull(true), jsonv2.FormatNilMapAsNull(true),
	jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true), jsontext.AllowInvalidUTF8(true), jsontext.WithIndent("  "))

// PrintJSON writes a value to standard output, indented.
func (e *Env) PrintJSON(v any) error {
	b, err := jsonv2.Marshal(v, printed)
	if err != nil {
		return err
	}
	_, err = e.Stdout.Write(append(b, '\n'))
	return err
}

// Format is the flag of verbs that print text for people or JSON for programs.
type Format struct {
	Format string `help:"text for people, json for programs." enum:"text,json" default:"text"`
	AsJSON bool   `name:"json" help:"The same as --format=json."`
}

// JSON says whether programs will read the output.
func (f Format) JSON() bool { return f.AsJSON || f.Format == "json" }

// ReadFile reads a file that a command line names; - is standard input. The error begins with the name.
func ReadFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	b, err := os.ReadFile(name)
	return b, fileError(name, err)
}

// OpenFile opens a file that a command line names, as ReadFile does.
func OpenFile(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(os.Stdin), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return nil, errors.Join(fileError(name, syscall.EISDIR), f.Close())
	}
	return f, nil
}

// CheckOutput is the error of a file that cannot be written where a command line wants it, to be asked before the work.
func CheckOutput(name string) error {
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		return fileError(name, syscall.EISDIR)
	}
	return CheckDirectory(filepath.Dir(name))
}

func fileError(name string, err error) error {
	var at *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: does not exist", name)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%s: must be a file, got a directory", name)
	case errors.As(err, &at):
		return fmt.Errorf("%s: %w", name, at.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// CheckDirectory is the error of what a command line names as a directory and is none.
func CheckDirectory(name string) error {
	st, err := os.Stat(name)
	if err == nil && !st.IsDir() {
		return fmt.Errorf("%s: not a directory", name)
	}
	return fileError(name, err)
}

// Ended is the error of a verb that a signal ended before it was done and that has put everything in order
// since. The program then ends by that signal, as it does during verbs that have nothing to put in order.
type Ended struct{ By syscall.Signal }

func (e Ended) Error() string { return "stopped by a signal before it finished: " + e.By.String() }

// UntilSignal returns a context that SIGTERM or SIGINT ends; a second signal ends the process at once. After stop
// signals are not caught any more.
func UntilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		select {
		case sig := <-caught:
			signal.Stop(caught)
			cancel(Ended{sig.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}

// CutShort is the error of what ended with err under the context of UntilSignal: Ended, with what is left as it was, if
// a signal is the reason.
func CutShort(ctx context.Context, err error, what string) error {
	var ended Ended
	if err != nil && errors.As(context.Cause(ctx), &ended) {
		return fmt.Errorf("%w: %s is unchanged", ended, what)
	}
	return err
}

// Progress shows every second, on a terminal, how long the work has taken. end removes it.
func Progress(what string) (end func()) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func() {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		started, tick := time.Now(), time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				fmt.Fprint(os.Stderr, "\r\x1b[K")
				return
			case now := <-tick.C:
				fmt.Fprintf(os.Stderr, "\r\x1b[K%s: %s", what, now.Sub(started).Round(time.Second))
			}
		}
	}()
	return func() { close(stop); <-stopped }
}
