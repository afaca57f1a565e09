package webhook

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/index"
	"modeldex/quota/hooks"

	"github.com/cespare/xxhash/v2"
	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// announceRetry is after how long an announcement that failed is tried again.
const announceRetry = 5 * time.Second

// runAnnouncer announces releases until the service is closed.
func (s *Service) runAnnouncer() {
	for failing := false; ; {
		select {
		case <-s.ctx.Done():
			return
		case <-s.changed:
		}
		s.announcing.Lock()
		err := s.announce(s.ctx, false)
		s.announcing.Unlock()
		if err != nil && s.ctx.Err() == nil {
			if !failing {
				s.cfg.Log.Error("announcing a release to webhooks", "cause", err)
			}
			time.AfterFunc(announceRetry, s.Published)
		}
		failing = err != nil
	}
}

// announce announces what is being served if it differs from what was announced last. Without webhooks nothing is
// noted, unless the first one is about to be made: it gets what comes later. The caller holds announcing.
func (s *Service) announce(ctx context.Context, first bool) error {
	all, err := s.Store.List(ctx, 0)
	d := s.cfg.Latest()
	switch {
	case err != nil || !first && (d == nil || len(all) == 0):
		return err
	case d == nil:
		return errors.New("no dataset is loaded")
	}
	base, before, err := s.Store.Announced(ctx)
	if err != nil {
		return err
	}
	if base.Digest == d.Set.Digest.String() {
		s.wake(all...) // an announcement may have been stored although the ledger said that it was not
		return nil
	}
	r := &release{gen: d.Generation, happened: map[string][]uint32{}, placed: map[string]uint32{}}
	r.At, r.Version, r.Digest, r.Marks = s.now().Unix(), d.Set.Info.Version, d.Set.Digest.String(), map[string]hooks.Mark{}
	for _, b := range d.Set.Benchmarks {
		r.Marks[string(b.ID)] = markOf(b)
	}
	if base.Digest != "" && len(all) > 0 {
		r.PreviousVersion, r.PreviousDigest = base.Version, base.Digest
		r.compare(before)
		s.addMessages(r, all)
	}
	waiting, err := s.Store.Announce(ctx, &r.Announcement)
	if err != nil {
		return err
	}
	s.wake(waiting...)
	s.cfg.Log.Info("dataset announced to webhooks", "version", r.Version, "created", r.Created, "changed", r.Changed,
		"withdrawn", r.Withdrawn, "webhooks", len(waiting), "records", len(r.Rows))
	return nil
}

// addMessages adds the messages of all webhooks.
func (s *Service) addMessages(r *release, all []hooks.Hook) {
	r.Messages = map[hooks.Key][]hooks.Delivery{}
	for i := range all {
		h := &all[i]
		if h.State != hooks.Active {
			continue
		}
		var err error
		if r.Messages[h.Key], err = s.messages(r, h); err != nil {
			s.disable(h.Key, fmt.Sprintf("the filters are no longer valid: %v", err))
		}
	}
}

// markOf is what is remembered of a benchmark. The hash is a sum over the fields that have a value, so that neither
// their order nor fields that are new in the program change it.
func markOf(b *dataset.Benchmark) hooks.Mark {
	m, v := hooks.Mark{Withdrawn: b.Withdrawn != nil}, reflect.ValueOf(b).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("json")
		if text := appendValue(append([]byte(name), 0), reflect.Indirect(v.Field(i))); len(text) > len(name)+1 {
			m.Hash += xxhash.Sum64(text)
		}
	}
	return m
}

// appendValue appends a value, and nothing where there is none.
func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Invalid:
		return b
	case reflect.String:
		return append(b, v.String()...)
	case reflect.Int64, reflect.Float64:
		b, _ = binary.Append(b, binary.BigEndian, v.Interface())
		return b
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Slice, reflect.Map:
		if v.Len() == 0 {
			return b
		}
	}
	text, err := jsonv2.Marshal(v.Interface(), jsonv2.Deterministic(true))
	if err != nil {
		panic(err) // it was read from JSON
	}
	return append(b, text...)
}

// release is what changed in a dataset, while its messages are made.
type release struct {
	hooks.Announcement
	gen      *index.Generation
	happened map[string][]uint32 // event -> benchmarks to which it happened, rising
	removed  []string            // ids that are gone, sorted
	placed   map[string]uint32   // id -> place in Rows
}

// compare finds what changed since the benchmarks that were announced before.
func (r *release) compare(before map[string]hooks.Mark) {
	for id, m := range r.Marks {
		was, known := before[id]
		event := Changed
		switch {
		case known && was == m, !known && m.Withdrawn: // one that was never announced does not count
			continue
		case !known:
			event = Created
		case m.Withdrawn && !was.Withdrawn:
			event = Withdrawn
		}
		if ord, ok := r.gen.Benchmarks.Find(id); ok {
			r.happened[event] = append(r.happened[event], ord)
		}
	}
	for id, m := range before {
		if _, there := r.Marks[id]; !there && !m.Withdrawn {
			r.removed = append(r.removed, id)
		}
	}
	for _, ords := range r.happened {
		slices.Sort(ords)
	}
	slices.Sort(r.removed)
	r.Created, r.Changed = len(r.happened[Created]), len(r.happened[Changed])
	r.Withdrawn = len(r.happened[Withdrawn]) + len(r.removed)
}

// messages makes the messages of a webhook, in the order of Events.
func (s *Service) messages(r *release, h *hooks.Hook) (out []hooks.Delivery, err error) {
	for _, event := range Events {
		if !slices.Contains(h.Events, event) {
			continue
		}
		d := hooks.Delivery{Message: hooks.NewMessageID(), Event: event}
		if event == Released {
			d.Total = r.Created + r.Changed + r.Withdrawn
			out = append(out, d)
			continue
		}
		ords, err := s.cfg.Match(r.gen, h.Filters, r.happened[event])
		if err != nil {
			return nil, err
		}
		var removed []string
		if event == Withdrawn {
			removed = r.removed
		}
		if d.Total = len(ords) + len(removed); d.Total > 0 {
			d.Rows = r.list(event, ords, removed, h.MaxRecords)
			out = append(out, d)
		}
	}
	return out, nil
}

// list returns the places of the first records of a message. Each record is kept once for all webhooks; those that a
// full release has no room for are left out.
func (r *release) list(event string, ords []uint32, removed []string, most int) (places []uint32) {
	_, change, _ := strings.Cut(event, ".")
	for i := range min(len(ords)+len(removed), most) {
		var record MessageRecord
		if i < len(ords) {
			record = MessageRecord{r.gen.Benchmarks.Slug(ords[i]), change, r.gen.Benchmarks.Row(ords[i])}
		} else {
			record = MessageRecord{removed[i-len(ords)], "removed", jsontext.Value("null")}
		}
		at, ok := r.placed[record.ID]
		if !ok {
			row, err := jsonv2.Marshal(record)
			if err != nil {
				panic(err) // lists show the same record
			}
			if r.Bytes+len(row) > hooks.MaxRowBytes {
				continue
			}
			at = uint32(len(r.Rows))
			r.Rows, r.Bytes, r.placed[record.ID] = append(r.Rows, row), r.Bytes+len(row), at
		}
		places = append(places, at)
	}
	return places
}
