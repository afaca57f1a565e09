//go:build packed

package main

import (
	"archive/zip"
	_ "embed"
	"io/fs"
	"strings"

	// An image has no certificates of its own: webhooks and etcd over TLS are checked by those of Mozilla.
	_ "golang.org/x/crypto/x509roots/fallback"
)

// packed is a zip archive of the files that shipped.go names: packaging/release.sh makes it. It is a tenth of their size.
//
//go:embed data.zip
var packed string

// shipped is the dataset of this build, so that the binary alone serves.
func shipped() fs.FS {
	files, err := zip.NewReader(strings.NewReader(packed), int64(len(packed)))
	if err != nil {
		panic(err) // embedded
	}
	return files
}
