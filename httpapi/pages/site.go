package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"path"
	"strings"

	"modeldex/httpapi/charts"
)

//go:embed templates assets
var files embed.FS

// An Asset is a file that pages load. Its name has a hash of the content, so that it may be kept for good.
type Asset struct {
	Name        string // below /assets/
	ContentType string
	Body        []byte
}

// Config is what pages say about the service they belong to.
type Config struct {
	// RepositoryURL is where the dataset files are kept, for proposals of new lines. Empty: unknown.
	RepositoryURL string
	// SupportEmail is where readers report faults.
	SupportEmail string
}

// Site is the pages and their files.
type Site struct {
	cfg       Config
	assets    []Asset
	names     map[string]string // file as pages name it -> its name with a hash
	templates map[string]*template.Template
	edition   string
}

// New parses the embedded templates. It panics if one does not parse: they are part of the build.
func New(cfg Config) *Site {
	s := &Site{cfg: cfg, names: map[string]string{}, templates: map[string]*template.Template{}}
	s.addAssets("assets")
	s.addAsset("charts.css", []byte(charts.Stylesheet))
	layout := template.Must(template.New("layout.html").Funcs(s.functions()).ParseFS(files, "templates/layout.html", "templates/parts.html"))
	pages, err := files.ReadDir("templates")
	must(err)
	sum := sha256.New()
	for _, f := range pages {
		b, err := files.ReadFile("templates/" + f.Name())
		must(err)
		sum.Write(b)
		if f.Name() == "layout.html" || f.Name() == "parts.html" {
			continue
		}
		t := template.Must(layout.Clone())
		s.templates[f.Name()] = template.Must(t.New(f.Name()).Parse(string(b)))
	}
	for _, a := range s.assets {
		sum.Write([]byte(a.Name))
	}
	s.edition = hex.EncodeToString(sum.Sum(nil)[:6])
	return s
}

// Edition names the templates and files of this build: pages of different editions differ although
// the dataset is the same.
func (s *Site) Edition() string { return s.edition }

// Assets lists the files that pages load.
func (s *Site) Assets() []Asset { return s.assets }

// Icon is the icon of the site, as SVG.
func (s *Site) Icon() []byte {
	b, err := files.ReadFile("assets/favicon.svg")
	must(err)
	return b
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// assetTypes are the content types of files, by extension; others are not served. The tables of
// the operating system differ from machine to machine.
var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8", ".png": "image/png",
}

func (s *Site) addAssets(dir string) {
	list, err := files.ReadDir(dir)
	must(err)
	for _, f := range list {
		body, err := files.ReadFile(dir + "/" + f.Name())
		must(err)
		s.addAsset(f.Name(), body)
	}
}

func (s *Site) addAsset(name string, body []byte) {
	ext := path.Ext(name)
	contentType := assetTypes[ext]
	if contentType == "" {
		return // a note for maintainers of the files
	}
	sum := sha256.Sum256(body)
	hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:5]) + ext
	s.names[name] = hashed
	s.assets = append(s.assets, Asset{hashed, contentType, body})
}

// AssetName is the name of a file with its hash, empty for none.
func (s *Site) AssetName(name string) string { return s.names[name] }

func (s *Site) asset(name string) string {
	hashed := s.names[name]
	if hashed == "" {
		panic("no file " + name + " for the pages") // the pages are embedded, and rendered by tests
	}
	return "/assets/" + hashed
}

// render executes a page. An error of a template is a fault of this package, and panics.
func (s *Site) render(name string, view any) []byte {
	var b bytes.Buffer
	must(s.templates[name].ExecuteTemplate(&b, name, view))
	return b.Bytes()
}
