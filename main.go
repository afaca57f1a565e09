// Command modeldex serves a directory of open-weight models, hardware, local-AI tools and
// tokens-per-second benchmarks as a JSON read API, and maintains the files behind it.
//
// This file is the table of verbs. What a verb does is in the verbs package of the room that owns
// the work; see modeldex/dataset/verbs for how to add one.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"modeldex/dataset"
	fit "modeldex/dataset/fit/verbs"
	here "modeldex/dataset/here/verbs"
	measure "modeldex/dataset/measure/verbs"
	"modeldex/dataset/record"
	data "modeldex/dataset/verbs"
	server "modeldex/httpapi/verbs"
	snapshot "modeldex/snapshot/verbs"

	"github.com/alecthomas/kong"
)

// version and commit are set by the linker in releases, see packaging/release.sh.
var (
	version = "dev"
	commit  = ""
)

// Exit codes.
const (
	exitFailure = 1 // findings, or anything that went wrong
	exitUsage   = 2
)

// cli is the table of verbs. Each is a struct of flags with a method Run.
type cli struct {
	Serve   server.Serve `cmd:"" help:"Serve the API. With no flags: the dataset in ./data (or the copy inside the binary) on 127.0.0.1:8080."`
	MCP     server.MCP   `cmd:"" name:"mcp" help:"Serve the Model Context Protocol to an agent over standard input and output. Answers come from the dataset; no key or network is needed."`
	Check   data.Check   `cmd:"" help:"Check a dataset. Lists errors, then warnings, as path:line:col: field: message. Exits with 1 if there are errors."`
	Fmt     data.Fmt     `cmd:"" help:"Write dataset files in the canonical format, so that changing one field changes one line."`
	Diff    data.Diff    `cmd:"" help:"List the differences between two datasets, record by record and field by field."`
	Changes struct {
		Record data.ChangesRecord `cmd:"" help:"Append the changes of a release to data/changes/<year>.ndjson. Run it once per release; running it again has no effect."`
	} `cmd:"" help:"Record the changes of each release."`
	Keys struct {
		Issue   server.KeysIssue  `cmd:"" help:"Issue a key and print it; it is not shown again."`
		List    server.KeysList   `cmd:"" help:"List keys, oldest first."`
		Show    server.KeysShow   `cmd:"" help:"Show keys by id, hint or e-mail address."`
		Suspend server.KeysChange `cmd:"" set:"change=suspended" help:"Suspend a key; it is rejected until you resume it."`
		Resume  server.KeysChange `cmd:"" set:"change=resumed" help:"Resume a suspended key."`
		Revoke  server.KeysChange `cmd:"" set:"change=revoked" help:"Revoke a key permanently."`
		Erase   server.KeysChange `cmd:"" set:"change=erased and revoked" help:"Revoke a key and delete its name, e-mail address and use case. Its digest is kept so that the key stays rejected."`
		SetTier server.KeysTier   `cmd:"" help:"Move a key to another tier."`
	} `cmd:"" help:"Manage API keys, whether or not the server is running."`
	Ledger struct {
		Check   server.LedgerCheck   `cmd:"" help:"Check the ledger for damage. The server can stay running."`
		Backup  server.LedgerBackup  `cmd:"" help:"Write a copy of the ledger. The server can stay running."`
		Copy    server.LedgerCopy    `cmd:"" help:"Copy a ledger from a file to etcd or back, and verify the copy. Stop all servers that use either one first."`
		Restore server.LedgerRestore `cmd:"" help:"Restore a backup into a new ledger file, or into an empty ledger in etcd."`
		Compact server.LedgerCompact `cmd:"" help:"Shrink the ledger file. Stop the server first."`
	} `cmd:"" help:"Manage the ledger, which holds keys and quotas."`
	Import struct {
		LlamaBench   data.Import        `cmd:"" set:"format=llama-bench" help:"Convert llama-bench output to benchmark lines on standard output, to append to data/benchmarks/<year>.ndjson."`
		BatchedBench data.Import        `cmd:"" name:"batched-bench" set:"format=batched-bench" help:"Convert llama-batched-bench output to benchmark lines."`
		SweepBench   data.Import        `cmd:"" name:"sweep-bench" set:"format=sweep-bench" help:"Convert sweep-bench (ik_llama.cpp) output to benchmark lines."`
		Ollama       data.Import        `cmd:"" name:"ollama" set:"format=ollama" help:"Convert ollama run --verbose output to benchmark lines."`
		VLLM         data.Import        `cmd:"" name:"vllm" set:"format=vllm" help:"Convert vllm bench serve output to benchmark lines."`
		MLX          data.Import        `cmd:"" name:"mlx" set:"format=mlx" help:"Convert mlx_lm.benchmark output to benchmark lines."`
		KoboldCpp    data.Import        `cmd:"" name:"koboldcpp" set:"format=koboldcpp" help:"Convert koboldcpp --benchmark output to benchmark lines."`
		Issue        server.ImportIssue `cmd:"" help:"Convert an issue opened with the measurement form to benchmark lines on standard output."`
	} `cmd:"" help:"Convert the output of other programs to dataset lines."`
	Snapshot struct {
		Capture  snapshot.Capture  `cmd:"" help:"Convert a table downloaded from a source to rows for data/snapshots/sources, on standard output."`
		Build    snapshot.Build    `cmd:"" help:"Build a document from the captured rows in data/snapshots. The same inputs and timestamp produce identical bytes on every machine."`
		Verify   snapshot.Verify   `cmd:"" help:"Check the schema, hash, counts, references and ranges of a document, and recompute every composite from its scores. Lists all errors, and exits with 1 if there are any."`
		Evaluate snapshot.Evaluate `cmd:"" help:"Test the common scale by predicting the scores of each source from the others."`
		Diff     snapshot.Diff     `cmd:"" help:"List the models that moved, were added or were removed between two documents."`
	} `cmd:"" help:"Capture, build, verify, evaluate and compare model-intelligence snapshots."`
	Fit struct {
		Ask      fit.Fit      `cmd:"" default:"withargs" help:"Show whether a model runs on given hardware, and how fast: a table of its quantizations, best first."`
		Evaluate fit.Evaluate `cmd:"" help:"Test speed estimates against measurements from sources that the estimates were not based on."`
	} `cmd:"" help:"Show whether a model runs on given hardware, and how fast: modeldex fit MODEL HARDWARE."`
	Resolve    data.Resolve  `cmd:"" help:"Find the records that names refer to: modeldex resolve \"AD102 [GeForce RTX 4090]\" unsloth/Qwen3-8B-GGUF. Without names, reads one per line from standard input."`
	Ask        fit.Ask       `cmd:"" help:"Answer a question in plain English: modeldex ask \"can a 3090 run gpt-oss-20b at 32k?\". Shows how the question was read."`
	Here       here.Here     `cmd:"" help:"Detect the hardware of this machine and list the models it can run. Changes nothing and sends nothing."`
	Bench      measure.Bench `cmd:"" help:"Benchmark a model on this machine with llama-bench, Ollama or an OpenAI-compatible server, and print benchmark lines. Sends nothing to any other server."`
	Runs       fit.Runs      `cmd:"" help:"List the models that run on given hardware, with the best quantization of each and its speed."`
	Compare    fit.Compare   `cmd:"" help:"Compare models on the same hardware, or hardware for the same model."`
	Completion completionCmd `cmd:"" help:"Print a shell completion script for commands and flags."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

const about = `modeldex serves a directory of open-weight models, hardware, local-AI tools and tokens-per-second benchmarks as a JSON API.

  modeldex serve                          start the API, then open http://127.0.0.1:8080/docs
  modeldex check data                     check dataset files before a merge
  modeldex diff origin/main data          show what a branch changes in the dataset

Exit codes: 0 success, 1 findings or failure, 2 usage error; 130 or 143 (as shells report it) if SIGINT or SIGTERM stopped
the command early. A running server exits with 0 instead.`

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if args[0] != completeVerb {
		args = longFlags(args)
	}
	if replacement := data.Replacement(args); replacement != "" {
		fmt.Fprintf(os.Stderr, "modeldex: %s\n", replacement)
		return exitUsage
	}
	parser, err := kong.New(&cli{}, kong.Name("modeldex"), kong.Description(about), kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		panic(err) // the table of verbs is a constant
	}
	if args[0] == completeVerb && len(args) > 1 {
		complete(os.Stdout, parser.Model.Node, args[1:])
		return 0
	}
	checkEnvironment(os.Stderr, environmentOf(parser))
	ctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "modeldex: %v (see %s --help)\n", err, verbOf(err))
		return exitUsage
	}
	files, err := fs.Sub(shipped(), "data")
	if err != nil {
		panic(err) // embedded
	}
	var (
		findings dataset.Findings
		ended    data.Ended
	)
	out := &results{file: os.Stdout}
	switch err := ctx.Run(&data.Env{Stdout: out, Stderr: os.Stderr, Shipped: files, Version: version, CheckSnapshots: snapshot.Check, Evidence: snapshot.Evidence}); {
	case errors.As(err, &findings):
		fmt.Fprintf(os.Stderr, "%v\nmodeldex: %s; the dataset is rejected\n", findings, record.Counted(len(findings), "finding"))
		return exitFailure
	case errors.As(err, &ended):
		fmt.Fprintf(os.Stderr, "modeldex: %v\n", err)
		return endBy(ended.By)
	case err != nil:
		fmt.Fprintf(os.Stderr, "modeldex: %v\n", err)
		return exitFailure
	case out.err != nil && ctx.Command() != "serve": // serve has no results
		fmt.Fprintf(os.Stderr, "modeldex: the results are incomplete: %v\n", out.err)
		return exitFailure
	}
	return 0
}

// endBy ends the process by a signal: its parent sees the same as if the signal had not been caught.
func endBy(sig syscall.Signal) int {
	signal.Reset(sig)
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(sig) == nil {
		time.Sleep(time.Second) // another thread may get the signal
	}
	return 128 + int(sig)
}

// results is standard output. It keeps the first error, because most verbs do not check their writes: results
// that a full disk cut short must not look complete.
type results struct {
	file *os.File
	err  error
}

func (r *results) Write(b []byte) (int, error) {
	n, err := r.file.Write(b)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// verbOf is the verb whose arguments are wrong, as it is called.
func verbOf(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context.Selected() != nil {
		return "modeldex " + parse.Context.Selected().Path()
	}
	return "modeldex"
}

// checkEnvironment makes empty MODELDEX_* variables mean the same as none, as an empty line of a
// compose file is meant, and warns about those that no flag of any verb reads.
func checkEnvironment(warn io.Writer, known []string) {
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case !strings.HasPrefix(name, "MODELDEX_"):
		case data.RemovedName(name) != "":
			fmt.Fprintf(warn, "modeldex: warning: %s\n", data.RemovedName(name))
		case !slices.Contains(known, name):
			fmt.Fprintf(warn, "modeldex: warning: unknown environment variable %s%s\n", name, didYouMean(name, known))
		case value == "":
			_ = os.Unsetenv(name)
		}
	}
}

// environmentOf lists the environment variables that the flags of all verbs read.
func environmentOf(parser *kong.Kong) (names []string) {
	_ = kong.Visit(parser.Model.Node, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			names = append(names, flag.Envs...)
		}
		return next(nil)
	})
	return names
}

func didYouMean(name string, known []string) string {
	if near := record.Near(name, known, 1); len(near) > 0 {
		return "; did you mean " + near[0] + "?"
	}
	return ""
}

// longFlags lets flags be written -data as well as --data, as Go's own tools do: a lower-case
// letter and at least one more character after one hyphen. Flags of one letter stay as they are.
func longFlags(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if a == "--" {
			break
		}
		if len(a) > 2 && a[0] == '-' && 'a' <= a[1] && a[1] <= 'z' && a[2] != '=' {
			out[i] = "-" + a
		}
	}
	return out
}

type versionCmd struct{}

// Run prints the version and the commit of the release, or the commit that a development build was made from.
func (versionCmd) Run(env *data.Env) error { //nolint:unparam // the form kong calls
	from := commit
	if info, ok := debug.ReadBuildInfo(); ok && from == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				from = s.Value
			}
		}
	}
	if from != "" {
		from = "commit " + from[:min(len(from), 12)] + ", "
	}
	fmt.Fprintf(env.Stdout, "modeldex %s (%s%s, %s/%s)\n", env.Version, from, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
