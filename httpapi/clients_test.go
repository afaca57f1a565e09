package httpapi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestGoClient: a program with the client that oapi-codegen makes of the OpenAPI document compiles and works. The
// generator has a module of its own; where it cannot be had, MODELDEX_REQUIRE_CLIENTS=1 makes that a failure.
func TestGoClient(t *testing.T) {
	dir := clientDir(t, "main.go", "../.ci/clients/go.mod", "../.ci/clients/go.sum")
	tool := exec.Command("go", "tool", "oapi-codegen", "-package", "client", "-generate", "models,client", "-o", "client/client.go", "openapi.json")
	if err := os.Mkdir(filepath.Join(dir, "client"), 0o700); err != nil {
		t.Fatal(err)
	}
	tool.Dir = dir
	if out, err := tool.CombinedOutput(); err != nil {
		needClients(t, fmt.Sprintf("oapi-codegen cannot be run: %v\n%s", err, out))
	}
	usesClient(t, dir, "go", "run", ".")
}

// TestTypeScriptClient: a program with openapi-fetch and the types that openapi-typescript makes compiles and works.
// MODELDEX_CLIENTS names the folder in which npm has installed both and typescript.
func TestTypeScriptClient(t *testing.T) {
	modules := os.Getenv("MODELDEX_CLIENTS")
	if modules == "" {
		needClients(t, "MODELDEX_CLIENTS names no folder with openapi-typescript, openapi-fetch and typescript")
	}
	dir := clientDir(t, "main.ts")
	if err := os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"node_modules/openapi-typescript/bin/cli.js", "openapi.json", "-o", "schema.d.ts"},
		{"node_modules/typescript/bin/tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2023,dom", "main.ts"},
	} {
		cmd := exec.Command("node", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("node %v: %v\n%s", args, err, out)
		}
	}
	usesClient(t, dir, "node", "main.js")
}

func needClients(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("MODELDEX_REQUIRE_CLIENTS") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// clientDir is a folder with the OpenAPI document, a program of testdata/clients and other files.
func clientDir(t *testing.T, program string, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append(files, "openapi.json", "testdata/clients/"+program) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// usesClient runs a program against the real server.
func usesClient(t *testing.T, dir string, command ...string) {
	t.Helper()
	p := launch(t, dir, nil, "serve", "--addr", "127.0.0.1:0", "--data", mustSmallData(t), "--ledger", filepath.Join(dir, "modeldex.db"), "--dumps", "off")
	if err := p.awaitServing(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command[0], append(command[1:], "http://"+p.addr)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	want := regexp.MustCompile(`^(model \S+ \S+\n)+models (\d+) of (\d+)\nhardware \S.*\nfit llama-2-7b \S+\nname nvidia-rtx-3090\nerror not_found\n$`)
	if m := want.FindSubmatch(out); m == nil || string(m[2]) != string(m[3]) {
		t.Errorf("%v printed\n%s\nwant %s", command, out, want)
	}
}
