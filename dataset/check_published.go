package dataset

import (
	"errors"
	"fmt"
	"slices"
)

// checkPublished checks that no benchmark of the dataset published before is gone.
func (l *loader) checkPublished() error {
	if l.opt.Previous == nil || l.benchmarks.gap() {
		return nil
	}
	before := newLoader(l.ctx, l.opt.Previous, Options{Workers: l.opt.Workers, Now: l.opt.Now})
	err := before.read()
	if i := slices.IndexFunc(before.findings, func(f Finding) bool { return f.unreadable }); err == nil && i >= 0 {
		err = errors.New(before.findings[i].String())
	}
	if err != nil {
		return fmt.Errorf("reading the dataset published before: %w", err)
	}
	now := make(map[Slug]bool, len(l.benchmarks.recs))
	for _, b := range l.benchmarks.recs {
		now[b.ID] = true
	}
	for _, r := range l.benchmarks.undecodable {
		now[r.slug] = true
	}
	for i, b := range before.benchmarks.recs {
		if !now[b.ID] {
			l.add(Finding{
				Path: before.files[before.benchmarks.places[i].file], Field: "id",
				Text: fmt.Sprintf("%q was published and is gone; withdraw it with the field withdrawn", b.ID),
			})
		}
	}
	return nil
}
