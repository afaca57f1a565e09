package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/best"

	"github.com/klauspost/compress/zstd"
)

// Pattern is the name a published document has; every other file of the folder is passed over.
const Pattern = "snapshot-*.json"

// Catalog holds every published document of a folder, verified, newest first. It never changes; Reload makes a new one.
type Catalog struct {
	documents []*Published            // newest first by generated_at, then by hash
	byHash    map[string]*Published   // output_hash_sha256 -> published
	newest    map[string]Intelligence // model_key -> what the newest document says
	rejected  []Finding
}

// Published is one published document with its finished bytes.
type Published struct {
	Info
	packed       []byte            // the file in zstd: a document is megabytes, and asked for seldom
	sum          [sha256.Size]byte // of the file, to know an unchanged file again
	intelligence map[string]Intelligence
}

// Info is one published snapshot document in the list.
type Info struct {
	// Hash of the document, which is part of its permanent URL.
	Hash string `json:"output_hash_sha256" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Address of the document.
	URL string `json:"url" jsonschema:"example=/api/v1/snapshots/e554ef47"`
	// Version of its schema.
	SchemaVersion string `json:"schema_version" jsonschema:"example=service-model-intelligence-snapshot-v1"`
	// Address of its schema.
	SchemaURL string `json:"schema_url"`
	// When it was made.
	GeneratedAt time.Time `json:"generated_at"`
	// Licence of the document.
	License string `json:"license"`
	// Sources to credit for the numbers.
	Attribution string `json:"attribution"`
	// Number of models.
	ModelCount int64 `json:"model_count"`
	// Number of scores.
	ScoreCount int64 `json:"score_count"`
	// Number of evaluation sources.
	SourceCount int64 `json:"source_count"`
	// Models by confidence of their composite.
	ConfidenceCounts ConfidenceCounts `json:"confidence_counts"`
	// Size of the document, in bytes.
	Bytes int    `json:"bytes"`
	Path  string `json:"-"` // file in the folder
}

// Intelligence is the model in the newest snapshot document: a score from published evaluations, not measured by us.
type Intelligence struct {
	// Composite score, 0 to 100; null if the document has none.
	Score *float64 `json:"score_0_100" jsonschema:"nullable,minimum=0,maximum=100,example=71.25"`
	// Lower end of the 95 % interval of the score; null if the document has none.
	Lower *float64 `json:"lower_0_100" jsonschema:"nullable,minimum=0,maximum=100,example=68.1"`
	// Upper end of the 95 % interval of the score; null if the document has none.
	Upper *float64 `json:"upper_0_100" jsonschema:"nullable,minimum=0,maximum=100,example=74.4"`
	// How reliable the composite is.
	Confidence Confidence `json:"confidence" jsonschema:"enum=high,enum=moderate,enum=low,example=moderate"`
	// Evaluation sources of the score.
	Sources []SourceID `json:"source_ids"`
	// Rank by score among models with open weights; 1 is best, and equal scores share a rank. Null if the model is not
	// open, its openness is unknown, or it has no score.
	OpenRank *int `json:"open_rank" jsonschema:"nullable,minimum=1,example=12"`
	// Number of models with open weights and a score.
	OpenCount int `json:"open_count" jsonschema:"minimum=0,example=300"`
	// Hash of the document: see /api/v1/snapshots/{hash}.
	Hash string `json:"snapshot_hash" jsonschema:"pattern=^[0-9a-f]{64}$"`

	evidence []best.Evidence
}

// Open reads and verifies every document of the folder. A rejected file is left out and reported in findings, with its
// path. The error is of the folder itself. An empty folder is an empty catalog.
func Open(folder fs.FS) (*Catalog, []Finding, error) {
	return (*Catalog)(nil).Reload(context.Background(), folder)
}

// Reload is Open for a folder opened before as c, which may be nil. A file that is rejected now and was valid in c
// stays, so that a half-written one removes nothing; an unchanged one is not verified again. Once ctx has ended, its
// error is returned.
func (c *Catalog) Reload(ctx context.Context, folder fs.FS) (*Catalog, []Finding, error) {
	names, err := fs.Glob(folder, Pattern)
	if err != nil {
		return nil, nil, fmt.Errorf("snapshots: %w", err)
	}
	if _, err := fs.Stat(folder, "."); err != nil { // Glob passes over a folder it cannot read
		return nil, nil, fmt.Errorf("snapshots: %w", err)
	}
	var documents []*Published
	var findings []Finding
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("snapshots: %w", err)
		}
		published, found := c.readPublished(folder, name)
		findings = append(findings, found...)
		if published != nil {
			documents = append(documents, published)
		}
	}
	made := &Catalog{byHash: map[string]*Published{}, rejected: findings}
	for _, p := range documents {
		if made.byHash[p.Hash] == nil {
			made.byHash[p.Hash] = p
			made.documents = append(made.documents, p)
		}
	}
	slices.SortFunc(made.documents, func(a, b *Published) int {
		return cmp.Or(b.GeneratedAt.Compare(a.GeneratedAt), strings.Compare(a.Hash, b.Hash))
	})
	if len(made.documents) > 0 {
		made.newest = made.documents[0].intelligence
	}
	return made, findings, nil
}

// Rejected returns the findings of rejected files, in the order of files. The slice is shared.
func (c *Catalog) Rejected() []Finding { return c.rejected }

func (c *Catalog) readPublished(folder fs.FS, name string) (*Published, []Finding) {
	var was *Published
	if c != nil {
		if at := slices.IndexFunc(c.documents, func(p *Published) bool { return p.Path == name }); at >= 0 {
			was = c.documents[at]
		}
	}
	info, err := fs.Stat(folder, name)
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("must be a regular file")
	case info.Size() > maxDocumentBytes:
		err = fmt.Errorf("must be at most %d bytes", maxDocumentBytes)
	}
	var body []byte
	if err == nil {
		body, err = fs.ReadFile(folder, name)
	}
	if err != nil {
		return was, []Finding{{Path: name, Rule: "reading: " + err.Error()}}
	}
	sum := sha256.Sum256(body)
	if was != nil && was.sum == sum {
		return was, nil
	}
	checked := checkPublished(body, sum)
	if findings := checked.all(); len(findings) > 0 {
		for i := range findings {
			findings[i].Path = name
		}
		return was, findings
	}
	return newPublished(name, checked.Document, body, sum), nil
}

func newPublished(name string, doc *Document, body []byte, sum [sha256.Size]byte) *Published {
	at, _ := time.Parse(time.RFC3339Nano, doc.GeneratedAt) // verified
	out, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constants
	}
	defer out.Close() // of an encoder that writes nowhere
	p := &Published{packed: bytes.Clone(out.EncodeAll(body, nil)), sum: sum}
	p.Info = Info{
		Path: name, Hash: doc.OutputHash, URL: "/api/v1/snapshots/" + doc.OutputHash, SchemaVersion: doc.SchemaVersion, SchemaURL: doc.SchemaURL,
		GeneratedAt: at.UTC(), License: doc.License, Attribution: doc.Attribution,
		ModelCount: doc.Meta.ModelCount, ScoreCount: doc.Meta.ScoreCount, SourceCount: doc.Meta.SourceCount,
		ConfidenceCounts: doc.Meta.ConfidenceCounts, Bytes: len(body),
	}
	p.intelligence = intelligenceOf(doc)
	return p
}

func intelligenceOf(doc *Document) map[string]Intelligence {
	rules, err := statedRules(doc.Normalization.Composite)
	if err != nil { // verified: only the first rules are not stated
		rules = nil
	}
	ranks, count := openRanks(doc)
	all := make(map[string]Intelligence, len(doc.Models))
	for i := range doc.Models {
		m := &doc.Models[i]
		in := Intelligence{
			Score: m.Composite.Score, Confidence: m.Composite.Confidence, Sources: []SourceID{},
			OpenCount: count, Hash: doc.OutputHash,
		}
		if rank := ranks[m.ModelKey]; rank > 0 {
			in.OpenRank = &rank
		}
		for _, c := range m.Composite.Components {
			in.Sources = append(in.Sources, c.SourceID)
		}
		if rules != nil {
			in.Lower, in.Upper = rules.interval(&m.Composite)
			in.evidence = rules.evidence(m.Composite.Components)
		}
		all[m.ModelKey] = in
	}
	return all
}

func openRanks(doc *Document) (ranks map[string]int, count int) {
	var scores []float64
	for i := range doc.Models {
		if ranked(&doc.Models[i]) {
			scores = append(scores, *doc.Models[i].Composite.Score)
		}
	}
	slices.Sort(scores)
	ranks = make(map[string]int, len(scores))
	for i := range doc.Models {
		if m := &doc.Models[i]; ranked(m) {
			above, _ := slices.BinarySearch(scores, math.Nextafter(*m.Composite.Score, math.Inf(1)))
			ranks[m.ModelKey] = len(scores) - above + 1
		}
	}
	return ranks, len(scores)
}

func ranked(m *Model) bool {
	return m.Openness != nil && *m.Openness == OpenWeights && m.Composite.Score != nil
}

// Len is the number of documents.
func (c *Catalog) Len() int { return len(c.documents) }

// List describes every document, newest first. The caller owns the slice.
func (c *Catalog) List() []Info {
	out := make([]Info, len(c.documents))
	for i, b := range c.documents {
		out[i] = b.Info
	}
	return out
}

// Latest returns the newest document, and false when the catalog is empty.
func (c *Catalog) Latest() (*Published, bool) {
	if len(c.documents) == 0 {
		return nil, false
	}
	return c.documents[0], true
}

// Lookup returns the document with the given output_hash_sha256, 64 lowercase hex digits.
func (c *Catalog) Lookup(hash string) (*Published, bool) {
	b, ok := c.byHash[hash]
	return b, ok
}

// Intelligence returns what the newest document says of a model key, and false where it has
// not the model. The score is shared and must not be written to.
func (c *Catalog) Intelligence(modelKey string) (Intelligence, bool) {
	i, ok := c.newest[modelKey]
	return i, ok
}

// Evidence returns what each source of the newest document says of a model key, nil without it. The slice is shared.
func (c *Catalog) Evidence(model dataset.Slug) []best.Evidence {
	return c.newest[string(model)].evidence
}

// Body unpacks the finished bytes, canonical JSON, for the caller to keep. It takes some ten milliseconds.
func (p *Published) Body() []byte {
	in, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constants
	}
	defer in.Close()
	body, err := in.DecodeAll(p.packed, make([]byte, 0, p.Info.Bytes))
	if err != nil {
		panic(err) // newPublished packed it, and nothing writes to it
	}
	return body
}
