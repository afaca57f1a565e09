package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// rooms are the floors of the house: a room may import itself and the rooms listed, nothing
// else of this module. A room missing here fails the test, so that a new one is placed.
var rooms = map[string][]string{
	"dataset":  {},
	"quota":    {},
	"index":    {"dataset"},
	"snapshot": {"dataset"},
	"httpapi":  {"dataset", "index", "quota", "snapshot"},
	"bench":    {"dataset", "index", "quota", "snapshot", "httpapi", "main"},
	"main":     {"dataset", "index", "quota", "snapshot", "httpapi"},
}

// owners are the libraries one room alone may know, so that swapping one touches one room.
var owners = map[string]string{
	"github.com/gofiber/fiber":            "httpapi",
	"github.com/valyala/fasthttp":         "httpapi",
	"github.com/dgraph-io/ristretto":      "httpapi",
	"go.etcd.io/bbolt":                    "quota",
	"github.com/RoaringBitmap/roaring":    "index",
	"github.com/alecthomas/kong":          "main",
	"github.com/prometheus/client_golang": "httpapi",
	"golang.org/x/image":                  "httpapi",
}

// foundations are the rooms below httpapi: they do not log and do not read flags or the
// environment, they return errors.
var foundations = []string{"dataset", "index", "quota", "snapshot"}

// goPackage is what `go list -json` says of a package.
type goPackage struct {
	ImportPath, Dir                    string
	GoFiles                            []string
	Imports, TestImports, XTestImports []string
}

const moduleName = "modeldex"

// allPackages lists the packages of this module, once for all tests.
var allPackages = sync.OnceValues(func() (pkgs []goPackage, err error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, err
		}
		pkgs = append(pkgs, p)
	}
})

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	pkgs, err := allPackages()
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

// roomOf is the first element below the module; the module's root is main. It is false for a
// package of another module.
func roomOf(importPath string) (string, bool) {
	if importPath == moduleName {
		return "main", true
	}
	rest, ok := strings.CutPrefix(importPath, moduleName+"/")
	room, _, _ := strings.Cut(rest, "/")
	return room, ok
}

// testKit says whether a package exists for the tests of others.
func testKit(importPath string) bool { return strings.HasSuffix(path.Base(importPath), "test") }

func TestFloors(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		room, _ := roomOf(p.ImportPath)
		below, known := rooms[room]
		if !known {
			t.Errorf("%s: the room %q has no floor: add it to rooms", p.ImportPath, room)
			continue
		}
		for _, imp := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			to, ours := roomOf(imp)
			if ours && to != room && !slices.Contains(below, to) {
				t.Errorf("%s imports %s: %s may import %v only", p.ImportPath, imp, room, below)
			}
		}
		for _, imp := range p.Imports {
			checkImport(t, p, room, imp)
		}
	}
}

// checkImport holds one import of shipped code to the rules about libraries, kits and importers.
func checkImport(t *testing.T, p goPackage, room, imp string) {
	t.Helper()
	for lib, owner := range owners {
		if (imp == lib || strings.HasPrefix(imp, lib+"/")) && room != owner && room != "bench" {
			t.Errorf("%s imports %s, which is known in %s only", p.ImportPath, imp, owner)
		}
	}
	if _, ours := roomOf(imp); ours && strings.Contains(imp, "/importer") && room != "main" && !strings.Contains(p.ImportPath, "/importer") && !strings.HasSuffix(p.ImportPath, "/verbs") && p.ImportPath != moduleName+"/httpapi/contribute" {
		t.Errorf("%s imports %s: only verbs and the page for contributions run importers", p.ImportPath, imp)
	}
	if (imp == "testing" || testKit(imp) && strings.HasPrefix(imp, moduleName)) && !testKit(p.ImportPath) && room != "bench" {
		t.Errorf("%s imports %s outside its tests", p.ImportPath, imp)
	}
	if slices.Contains(foundations, room) && (imp == "log" || imp == "flag") && !testKit(p.ImportPath) {
		t.Errorf("%s imports %s: lower floors do not log and have no flags", p.ImportPath, imp)
	}
}

// TestFloorsReadNoEnvironment looks for what imports do not show: reading the environment, and
// the snapshot room using more of dataset than slugs and what messages are made with.
func TestFloorsReadNoEnvironment(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		room, _ := roomOf(p.ImportPath)
		if room == "main" || room == "bench" || testKit(p.ImportPath) {
			continue
		}
		for _, name := range p.GoFiles {
			for _, sel := range selectors(t, filepath.Join(p.Dir, name)) {
				switch {
				case slices.Contains([]string{"os.Getenv", "os.LookupEnv", "os.Environ", "os.Args"}, sel):
					t.Errorf("%s/%s uses %s: main alone reads flags and environment", p.ImportPath, name, sel)
				case sel == "slog.Default" || room != "httpapi" && (sel == "slog.Info" || sel == "slog.Warn" || sel == "slog.Error"):
					t.Errorf("%s/%s uses %s: main alone chooses the logger", p.ImportPath, name, sel)
				case p.ImportPath == "modeldex/snapshot" && strings.HasPrefix(sel, "dataset.") && !strings.HasPrefix(sel, "dataset.Slug") && !slices.Contains([]string{"dataset.MaxSlug", "record.Near", "record.Clip", "record.Counted"}, sel):
					t.Errorf("%s/%s uses %s: snapshot knows slugs, Near, Clip and Counted only", p.ImportPath, name, sel)
				}
			}
		}
	}
}

// selectors lists every "package.Name" of a file, by the package's own name.
func selectors(t *testing.T, file string) (out []string) {
	t.Helper()
	f, err := goparser.ParseFile(token.NewFileSet(), file, nil, goparser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // name in the file -> last element of the path
	for _, imp := range f.Imports {
		p, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		names[path.Base(p)] = path.Base(p)
		if imp.Name != nil {
			names[imp.Name.Name] = path.Base(p)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && names[x.Name] != "" {
				out = append(out, names[x.Name]+"."+s.Sel.Name)
			}
		}
		return true
	})
	return out
}
