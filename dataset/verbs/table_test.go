package verbs

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/alecthomas/kong"
)

// someVerbs is a table with every form that main.go's has: verbs, verbs below a verb, one of these the
// default, and a name of its own.
type someVerbs struct {
	Check   Check `cmd:"" help:"Check."`
	Diff    Diff  `cmd:"" help:"Compare."`
	Changes struct {
		Record ChangesRecord `cmd:"" help:"Record."`
	} `cmd:"" help:"Changes."`
	Import struct {
		LlamaBench ImportLlamaBench `cmd:"" help:"Outputs."`
	} `cmd:"" help:"Import."`
	Names struct {
		Ask   Resolve `cmd:"" default:"withargs" help:"Ask."`
		Other Mirror  `cmd:"" help:"Keep."`
	} `cmd:"" help:"Names."`
	Resolve Resolve `cmd:"" help:"Names."`
	Mirror  Mirror  `cmd:"" name:"follow" help:"Keep."`
}

func parserOf(t testing.TB, table any) *kong.Kong {
	parser, err := kong.New(table, kong.Name("program"), kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		t.Fatal(err)
	}
	return parser
}

// TestTableFor: a command line means the same to the part of the table that TableFor takes as to the whole
// table: the same verb, values of flags, help and error.
func TestTableFor(t *testing.T) {
	whole := parserOf(t, &someVerbs{})
	for _, verb := range whole.Model.Children {
		if part := parserOf(t, TableFor(&someVerbs{}, []string{verb.Name})); len(part.Model.Children) != 1 || part.Model.Children[0].Name != verb.Name {
			t.Fatalf("%s has no table of its own", verb.Name)
		}
		lines := [][]string{nil, {"--help"}, {"-h"}, {"--no-such-flag"}, {"a", "b", "c"}, {"--data=.", "a"}, {"--dta=."}, {"--limit=x"}, {"a", "--data"}}
		for _, below := range verb.Children {
			lines = append(lines, []string{below.Name}, []string{below.Name, "--help"}, []string{below.Name, "a"}, []string{below.Name, "--no-such-flag"})
		}
		for _, line := range lines {
			line = append([]string{verb.Name}, line...)
			if want, got := parsed(t, parserOf(t, &someVerbs{}), line), parsed(t, parserOf(t, TableFor(&someVerbs{}, line)), line); want != got {
				t.Errorf("%q: the whole table gives\n%s\nits part\n%s", line, want, got)
			}
		}
	}
	for _, line := range [][]string{nil, {"--help"}, {"no-such-verb"}, {"Check"}, {"-h", "check"}, {"mirror"}} {
		if table := (&someVerbs{}); TableFor(table, line) != any(table) {
			t.Errorf("%q begins with no verb and has not the whole table", line)
		}
	}
}

// ended is what a parser panics with where kong ends the program.
type ended struct{}

// parsed describes what a parser makes of a command line: the help or the error, or the verb with the
// values of its flags.
func parsed(t *testing.T, parser *kong.Kong, line []string) (out string) {
	var printed bytes.Buffer
	parser.Stdout, parser.Stderr, parser.Exit = &printed, io.Discard, func(int) { panic(ended{}) }
	defer func() {
		if p := recover(); p == (ended{}) {
			out = printed.String()
		} else if p != nil {
			panic(p)
		}
	}()
	ctx, err := parser.Parse(line)
	var fault *kong.ParseError
	switch {
	case errors.As(err, &fault):
		out = err.Error()
		if below := fault.Context.Selected(); below != nil {
			out += " at " + below.Path()
		}
		return out
	case err != nil:
		t.Fatal(err)
	}
	out = ctx.Command()
	for _, value := range ctx.Selected().Positional {
		out += "\n" + value.Summary() + " " + value.Target.String()
	}
	for _, flag := range ctx.Flags() {
		out += "\n" + flag.Summary() + " " + flag.Target.String()
	}
	return out
}

// TestEnvironmentOf: the variables read from the tags are those of the parser.
func TestEnvironmentOf(t *testing.T) {
	var want []string
	err := kong.Visit(parserOf(t, &someVerbs{}).Model.Node, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			want = append(want, flag.Envs...)
		}
		return next(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	got := EnvironmentOf(&someVerbs{})
	slices.Sort(want)
	slices.Sort(got)
	if want, got = slices.Compact(want), slices.Compact(got); !slices.Equal(want, got) || len(want) == 0 {
		t.Errorf("the tags name %q, the parser %q", got, want)
	}
}

// BenchmarkTableFor is what a command takes before its verb begins, with its part of a table and with all
// of it.
func BenchmarkTableFor(b *testing.B) {
	line := []string{"check", "data"}
	for name, table := range map[string]func() any{
		"part":  func() any { return TableFor(&someVerbs{}, line) },
		"whole": func() any { return &someVerbs{} },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := parserOf(b, table()).Parse(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
