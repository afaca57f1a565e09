//go:build !unix

package wholefile

import "os"

// Lock takes nothing: these systems have no lock that ends with its process in every way.
func Lock(*os.File) error { return nil }
