//go:build !race

package httpapi

// raceEnabled says that the tests run under the race detector; the binary they start does so then too.
const raceEnabled = false
