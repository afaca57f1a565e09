package httpapi

import (
	"slices"
	"strings"

	"modeldex/dataset"
)

// joinOwnerOnly rewrites verified=true and owner_only=true to source=owner, which they mean, so
// that all three spellings have one canonical address, one ETag and one cached response. Beside
// a source filter without owner they match nothing, and stay as they are.
func (p *parser) joinOwnerOnly() {
	for i := range p.r.params {
		pm := &p.r.params[i]
		if pm.kind != ownerOnly {
			continue
		}
		if values := p.values[pm.name]; len(values) != 1 || values[0] != "true" {
			continue
		}
		owner := string(dataset.Owner)
		sources := strings.Split(strings.Join(p.values["source"], ","), ",")
		if p.values["source"] == nil || slices.Contains(sources, owner) && p.sourcesKnown(sources) {
			p.values["source"] = []string{owner}
			delete(p.values, pm.name)
		}
	}
}

// sourcesKnown says whether all sources are ones there are: others must be reported.
func (p *parser) sourcesKnown(sources []string) bool {
	for _, s := range sources {
		if !slices.Contains(p.r.byName["source"].values, s) {
			return false
		}
	}
	return true
}
