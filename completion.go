package main

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	data "modeldex/dataset/verbs"

	"github.com/alecthomas/kong"
)

//go:embed packaging/completions
var completions embed.FS

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is shown by --help.
func (completionCmd) Help() string {
	return "bash: source <(modeldex completion bash)    zsh: source <(modeldex completion zsh)    fish: modeldex completion fish | source"
}

// Run prints a script that has the shell ask the program what may follow, see complete.
func (c completionCmd) Run(env *data.Env) error {
	script, err := completions.ReadFile("packaging/completions/modeldex." + c.Shell)
	if err == nil {
		_, err = env.Stdout.Write(script)
	}
	return err
}

// completeVerb is how the scripts of completions call complete.
const completeVerb = "__complete"

// complete prints completions for the last word of a command line, one per line with its help after a tab: commands,
// flags, and values from short lists. It prints nothing where a file is expected.
func complete(out io.Writer, verb *kong.Node, words []string) {
	var value *kong.Value // that the word is for
	place := 0            // of the next argument
	for _, w := range words[:len(words)-1] {
		flag, child := flagOf(verb, w), childOf(verb, w)
		switch {
		case value != nil:
			value = nil
		case flag != nil && !flag.IsBool() && !strings.Contains(w, "="):
			value = flag.Value
		case child != nil:
			verb = child
		case flag == nil:
			place++
		}
	}
	if verb.DefaultCmd != nil && place > 0 {
		verb = verb.DefaultCmd
	}
	if value == nil && place < len(verb.Positional) {
		value = verb.Positional[place]
	}
	last := words[len(words)-1]
	offer := func(word, help string) {
		help, _, _ = strings.Cut(help, "\n")
		if strings.HasPrefix(word, last) {
			fmt.Fprintf(out, "%s\t%s\n", word, help)
		}
	}
	switch {
	case strings.HasPrefix(last, "-"):
		for _, group := range withDefault(verb).AllFlags(true) {
			for _, f := range group {
				offer("--"+f.Name, f.Help)
			}
		}
	case value != nil && value.Enum != "":
		for _, v := range value.EnumSlice() {
			offer(v, "")
		}
	case value == nil || value.Flag == nil && place == 0:
		for _, c := range verb.Children {
			if !c.Hidden {
				offer(c.Name, c.Help)
			}
		}
	}
}

// withDefault is the verb that a verb without another behind it means.
func withDefault(verb *kong.Node) *kong.Node {
	if verb.DefaultCmd != nil {
		return verb.DefaultCmd
	}
	return verb
}

func childOf(verb *kong.Node, word string) *kong.Node {
	i := slices.IndexFunc(verb.Children, func(c *kong.Node) bool { return c.Name == word })
	if i < 0 {
		return nil
	}
	return verb.Children[i]
}

// flagOf is the flag that a word such as --name, --name=value or -n is; nil for none.
func flagOf(verb *kong.Node, word string) *kong.Flag {
	word, _, _ = strings.Cut(word, "=")
	for _, group := range withDefault(verb).AllFlags(false) {
		for _, f := range group {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}
