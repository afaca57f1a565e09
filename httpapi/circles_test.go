package httpapi

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	goparser "go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"modeldex/dataset/datasettest"
)

// largestCircle is how many files of one package may all depend on each other, by room. A newcomer
// has to read a circle as one file.
var largestCircle = map[string]int{"dataset": 6, "httpapi": 8}

// TestFileCircles counts the circles of files. A file depends on another of its package where it
// uses an identifier declared there: a function, type, constant, variable, field or method, as the
// type checker resolves it. A circle is a strongly connected component of that graph; files of
// tests do not count.
func TestFileCircles(t *testing.T) {
	datasettest.NeedLong(t, "it type-checks every package of two rooms")
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./dataset/...", "./httpapi/...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{} // import path -> file of what it exports
	var pkgs []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			goPackage
			Export string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if room, ours := roomOf(p.ImportPath); ours && largestCircle[room] > 0 {
			pkgs = append(pkgs, p.goPackage)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range pkgs {
		room, _ := roomOf(p.ImportPath)
		for _, circle := range circlesOf(fileUses(t, fset, imports, p)) {
			if len(circle) > largestCircle[room] {
				t.Errorf("%s: %d files depend on each other, at most %d may: %v", p.ImportPath, len(circle), largestCircle[room], circle)
			}
		}
	}
}

// fileUses lists for each file of a package the others whose identifiers it uses.
func fileUses(t *testing.T, fset *token.FileSet, imports types.Importer, p goPackage) map[string][]string {
	t.Helper()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := goparser.ParseFile(fset, filepath.Join(p.Dir, name), nil, goparser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, files, &info)
	if err != nil {
		t.Fatal(err)
	}
	uses := map[string][]string{}
	for id, of := range info.Uses {
		if of.Pkg() != pkg || !of.Pos().IsValid() {
			continue
		}
		from, to := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(of.Pos()).Filename)
		if from != to && !slices.Contains(uses[from], to) {
			uses[from] = append(uses[from], to)
		}
	}
	return uses
}

// circlesOf are the strongly connected components of more than one file, by Tarjan's algorithm
// (SIAM Journal on Computing 1, 1972).
func circlesOf(uses map[string][]string) (out [][]string) {
	number, low := map[string]int{}, map[string]int{} // number: in the order of the visits, from 1
	var stack []string
	var visit func(file string)
	visit = func(file string) {
		number[file] = len(number) + 1
		low[file] = number[file]
		stack = append(stack, file)
		for _, next := range uses[file] {
			if number[next] == 0 {
				visit(next)
				low[file] = min(low[file], low[next])
			} else if slices.Contains(stack, next) {
				low[file] = min(low[file], number[next])
			}
		}
		if low[file] != number[file] {
			return
		}
		from := slices.Index(stack, file)
		if circle := slices.Clone(stack[from:]); len(circle) > 1 {
			slices.Sort(circle)
			out = append(out, circle)
		}
		stack = stack[:from]
	}
	for file := range uses {
		if number[file] == 0 {
			visit(file)
		}
	}
	return out
}

func TestCirclesOf(t *testing.T) {
	uses := map[string][]string{"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"d", "f"}, "g": {"a", "e"}}
	got := circlesOf(uses)
	slices.SortFunc(got, slices.Compare)
	if want := [][]string{{"a", "b", "c"}, {"d", "e"}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("circlesOf = %v, want %v", got, want)
	}
}
