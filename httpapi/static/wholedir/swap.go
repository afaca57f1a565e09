package wholedir

import (
	"errors"
	"os"
)

// swap is exchange in several steps: for a moment nothing is at b.
func swap(a, b string) error {
	old := a + "-old" // begins as a, so that the next export removes it
	if err := os.Rename(b, old); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(old, b))
	}
	return os.RemoveAll(old)
}
