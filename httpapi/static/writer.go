package static

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"modeldex/httpapi"
	"modeldex/httpapi/static/progress"
	"modeldex/httpapi/static/wholedir"
)

// twin is a coding of compressed forms and what their files end with.
type twin struct{ coding, ending string }

var allTwins = []twin{{"gzip", ".gz"}, {"br", ".br"}, {"zstd", ".zst"}}

// twinsOf are the twins with some endings, which have no dot.
func twinsOf(endings []string) []twin {
	return slices.DeleteFunc(slices.Clone(allTwins), func(t twin) bool { return !slices.Contains(endings, t.ending[1:]) })
}

// writer turns responses into files. Safe for concurrent use.
type writer struct {
	server *httpapi.Server
	key    string
	out    *wholedir.Tree
	twins  []twin

	progress func(progress.State)
}

// place writes the file of a place, and those of the pages behind it.
func (w *writer) place(ctx context.Context, p httpapi.Place) (out []entry, err error) {
	stem, ending := strings.TrimSuffix(p.File, ".json"), ".json"
	for page := 1; ; page++ {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := entry{File: p.File, Address: p.Address, Kind: p.Kind, Compressed: []string{}}
		if page > 1 {
			e.File = stem + "." + strconv.Itoa(page) + ending
		}
		next, err := w.file(&e, p.Optional)
		if errors.Is(err, errNothing) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, e)
		if !p.Pages || next == "" {
			return out, nil
		}
		p.Address = next
	}
}

// errNothing: there is nothing at an address, as may be.
var errNothing = errors.New("nothing is there")

// file writes the body of an address and its compressed forms.
func (w *writer) file(e *entry, optional bool) (next string, err error) {
	a := w.server.Ask(e.Address, w.key)
	if a.Status == http.StatusNotFound && optional {
		return "", errNothing
	}
	sum := sha256.New()
	if e.Bytes, err = w.body(a, e.File, sum); err != nil {
		return "", err
	}
	e.MediaType, e.SHA256 = a.ContentType, hex.EncodeToString(sum.Sum(nil))
	for _, t := range w.twins {
		b := a.Encoded(t.coding)
		if b == nil {
			break // too small, or compressed inside
		}
		if err := w.out.Write(e.File+t.ending, func(file io.Writer) error { _, err := file.Write(b); return err }); err != nil {
			return "", err
		}
		e.Compressed = append(e.Compressed, t.ending)
		e.compressedBytes += int64(len(b))
	}
	return a.Next, nil
}

// body writes one body to a file and to sum.
func (w *writer) body(a *httpapi.Answer, name string, sum io.Writer) (n int64, err error) {
	if a.Status != http.StatusOK {
		return 0, fmt.Errorf("the server answers %d", a.Status)
	}
	err = w.out.Write(name, func(file io.Writer) (err error) {
		n, err = a.WriteTo(io.MultiWriter(file, sum))
		return err
	})
	return n, err
}
