//go:build !unix

package mirror

import "os"

// lockFile takes nothing: these systems have no lock that ends with its process in every way.
func lockFile(*os.File) error { return nil }
