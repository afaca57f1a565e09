package operator

// forOwnerOnly does nothing: on Windows a new file has the access list of its directory.
func forOwnerOnly() (restore func()) { return func() {} }
