package snapshot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// roundingSlack is what two roundings to four decimals can differ by.
const roundingSlack = 1.5e-4

// weightSlack is the same for a weight, which has six decimals.
const weightSlack = 1.5e-6

func checkSemantics(doc *Document) []Finding {
	c := &checker{doc: doc, sources: map[SourceID]*Source{}}
	c.generated = c.when("/generated_at", doc.GeneratedAt)
	c.readRules()
	c.checkSources()
	for i := range doc.Models {
		c.checkModel(i)
	}
	c.checkCounts()
	return c.found
}

type checker struct {
	doc       *Document
	generated time.Time
	sources   map[SourceID]*Source // source_id -> entry in doc.Sources
	rules     *rules               // what the document states; nil: composites are not computed again
	found     []Finding
}

// secondRules labels the documents made before releases had a drift: their rules state none.
const secondRules = "modeldex snapshot build, rules v2"

// firstRules labels the documents made by the first rules, which did not state their numbers.
const firstRules = "modeldex snapshot build, rules v1"

// madeByFirstRules are closed, by hash: their components cannot be computed again from the document.
var madeByFirstRules = []string{"e554ef47a88489cb45247f1b84ec7a2a6e5c7c68165ecbc4e0336677e43ba33d"}

func (c *checker) readRules() {
	switch c.doc.GeneratedBy {
	case generatorLabel, secondRules:
		rules, err := statedRules(c.doc.Normalization.Composite)
		if err != nil {
			c.say("/normalization/composite", "%v", err)
			return
		}
		c.rules = rules
	case firstRules:
		if !slices.Contains(madeByFirstRules, c.doc.OutputHash) {
			c.say("/generated_by", "must be %q: only the documents already published use the first rules", generatorLabel)
		}
	default:
		c.say("/generated_by", "must be %q, because documents made by other rules cannot be recomputed, got %q", generatorLabel, clip(c.doc.GeneratedBy))
	}
}

func (c *checker) say(at, format string, args ...any) {
	if len(c.found) >= maxFindings {
		return
	}
	c.found = append(c.found, Finding{Pointer: at, Rule: fmt.Sprintf(format, args...)})
}

// when reads a time; one that cannot be read is the schema's finding, or a leap second.
func (c *checker) when(at, s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		c.say(at, "must be a date-time of RFC 3339, got %q", clip(s))
	}
	return t
}

func (c *checker) checkSources() {
	for i := range c.doc.Sources {
		s, at := &c.doc.Sources[i], pointer("sources", strconv.Itoa(i))
		if c.sources[s.SourceID] != nil {
			c.say(at+"/source_id", "must be unique, %q is a duplicate", s.SourceID)
		}
		c.sources[s.SourceID] = s
		if s.FetchedRows > s.TotalRowsReported {
			c.say(at+"/fetched_rows", "must be at most total_rows_reported %d, got %d", s.TotalRowsReported, s.FetchedRows)
		}
		if t := c.when(at+"/captured_at", s.CapturedAt); t.After(c.generated) && !c.generated.IsZero() {
			c.say(at+"/captured_at", "must not be after generated_at %s, got %s", c.doc.GeneratedAt, clip(s.CapturedAt))
		}
	}
}

func (c *checker) checkModel(i int) {
	m, at := &c.doc.Models[i], pointer("models", strconv.Itoa(i))
	if i > 0 && c.doc.Models[i-1].ModelKey >= m.ModelKey {
		c.say(at+"/model_key", "must be unique and in order, %q follows %q", clip(m.ModelKey), clip(c.doc.Models[i-1].ModelKey))
	}
	if m.Openness != nil && *m.Openness != OpenWeights && *m.Openness != proprietary {
		c.say(at+"/openness", "must be %s, %s or null, got %q", OpenWeights, proprietary, clip(*m.Openness))
	}
	for name, v := range map[string]*float64{"parameter_billions": m.ParameterBillions, "context_window": m.ContextWindow} {
		if v != nil && *v <= 0 {
			c.say(at+"/"+name, "must be greater than 0 or null, got %v", *v)
		}
	}
	scored := slices.DeleteFunc(slices.Clone(sourceIDs), func(id SourceID) bool {
		return !slices.ContainsFunc(m.Scores, func(s Score) bool { return s.SourceID == id })
	})
	if !slices.Equal(m.SourceIDs, scored) {
		c.say(at+"/source_ids", "must be the sources of the scores %v, got %v", scored, m.SourceIDs)
	}
	for j := range m.Scores {
		c.checkScore(at+pointer("scores", strconv.Itoa(j)), &m.Scores[j])
	}
	if c.rules != nil {
		c.checkRules(at, m)
	}
}

func (c *checker) checkRules(at string, m *Model) {
	for i := range m.Scores {
		s := &m.Scores[i]
		c.equal(at+pointer("scores", strconv.Itoa(i), "normalized_0_100"), "line of its cell", c.rules.normalized(s), s.Normalized, roundingSlack)
	}
	var want composite
	if !slices.Contains(m.Composite.Limitations, baseLimitation) {
		want = c.rules.compose(c.rules.estimates(m.Scores))
	}
	at += "/composite"
	got := m.Composite.Components
	if len(want.components) != len(got) {
		c.say(at+"/components", "must be %d by the stated rules, one for each source with a score on the common scale, got %d", len(want.components), len(got))
		want.components = nil
	}
	for i, w := range want.components {
		here, g := at+pointer("components", strconv.Itoa(i)), got[i]
		if w.SourceID != g.SourceID {
			c.say(here+"/source_id", "must be %q by the stated rules, got %q", w.SourceID, clip(string(g.SourceID)))
		}
		c.equal(here+"/normalized_0_100", statedText, &w.Normalized, &g.Normalized, roundingSlack)
		c.equal(here+"/weight", statedText, &w.Weight, &g.Weight, weightSlack)
	}
	c.equal(at+"/score_0_100", statedText, want.score, m.Composite.Score, roundingSlack)
	if conf := c.rules.confidence(want); conf != m.Composite.Confidence {
		c.say(at+"/confidence", "must be %q by the stated rules: the interval is %.2f points to a side; got %q", conf, want.half, clip(string(m.Composite.Confidence)))
	}
}

const statedText = "stated rules"

// equal compares a number of the document, which may be null, with the one that follows from the rules.
func (c *checker) equal(at, by string, want, got *float64, slack float64) {
	if want == nil || got == nil {
		if want == got {
			return
		}
	} else if math.Abs(*want-*got) <= slack {
		return
	}
	c.say(at, "must be %s by the %s, got %s", shown(want, "%v", "null"), by, shown(got, "%v", "null"))
}

func (c *checker) checkScore(at string, s *Score) {
	src := c.sources[s.SourceID]
	if src == nil {
		c.say(at+"/source_id", "must be in sources, got %q", s.SourceID)
		return
	}
	if s.SourceRowCount > src.FetchedRows {
		c.say(at+"/source_row_count", "must be at most fetched_rows %d of %s, got %d", src.FetchedRows, s.SourceID, s.SourceRowCount)
	}
	for _, same := range []struct{ field, got, want string }{
		{"captured_at", s.CapturedAt, src.CapturedAt}, {"source_dataset", s.SourceDataset, src.Dataset}, {"source_config", s.SourceConfig, src.Config},
	} {
		if same.got != same.want {
			c.say(at+"/"+same.field, "must match %s (%s), got %s", s.SourceID, same.want, clip(same.got))
		}
	}
	if !slices.Contains(strings.Split(src.Split, ","), s.SourceSplit) {
		c.say(at+"/source_split", "must be one of those of %s, %s, got %s", s.SourceID, clip(src.Split), clip(s.SourceSplit))
	}
	if s.Lower != nil && *s.Lower > s.Value {
		c.say(at+"/lower", "must be at most value %v, got %v", s.Value, *s.Lower)
	}
	if s.Upper != nil && *s.Upper < s.Value {
		c.say(at+"/upper", "must be at least value %v, got %v", s.Value, *s.Upper)
	}
	if s.Rank != nil && *s.Rank < 1 {
		c.say(at+"/rank", "must be at least 1, got %v", *s.Rank)
	}
}

func (c *checker) checkCounts() {
	var scores int64
	var by ConfidenceCounts
	for i := range c.doc.Models {
		scores += int64(len(c.doc.Models[i].Scores))
		by.add(c.doc.Models[i].Composite.Confidence)
	}
	meta := c.doc.Meta
	c.count("model_count", meta.ModelCount, int64(len(c.doc.Models)))
	c.count("score_count", meta.ScoreCount, scores)
	c.count("source_count", meta.SourceCount, int64(len(c.doc.Sources)))
	c.count("confidence_counts/high", meta.ConfidenceCounts.High, by.High)
	c.count("confidence_counts/moderate", meta.ConfidenceCounts.Moderate, by.Moderate)
	c.count("confidence_counts/low", meta.ConfidenceCounts.Low, by.Low)
}

func (c *checker) count(name string, got, want int64) {
	if got != want {
		c.say("/meta/"+name, "must be %d as counted, got %d", want, got)
	}
}
