//go:build !linux

package static

// exchange gives two directories each other's name.
func exchange(a, b string) error { return swap(a, b) }
