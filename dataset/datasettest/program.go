package datasettest

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Program builds the program of this module, whose root is given, and returns its path in dir. It is a copy of the
// executable that go run keeps in the build cache. So it is linked once for the tests of all packages, and again only
// when its code has changed. It has no information for debuggers: no test debugs it, and linking takes half as long.
func Program(root, dir string, flags ...string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "modeldex")
	cmd := exec.Command("go", append(append([]string{"run", "-ldflags=-w", "-exec=cp"}, flags...), ".", path)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return path, nil
}
