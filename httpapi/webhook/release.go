package webhook

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/index"
	"modeldex/quota/hooks"

	"github.com/cespare/xxhash/v2"
	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// appendValue appends a value, and reports whether there is one.
func appendValue(b []byte, v reflect.Value) ([]byte, bool) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return b, false
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		return append(b, v.String()...), v.Len() > 0
	case reflect.Int64:
		return binary.BigEndian.AppendUint64(b, uint64(v.Int())), true
	case reflect.Float64:
		return binary.BigEndian.AppendUint64(b, math.Float64bits(v.Float())), true
	case reflect.Bool:
		return append(b, fmt.Sprint(v.Bool())...), true
	case reflect.Slice, reflect.Map:
		if v.Len() == 0 {
			return b, false
		}
	}
	text, err := jsonv2.Marshal(v.Interface(), jsonv2.Deterministic(true))
	if err != nil {
		panic(err) // it was read from JSON
	}
	return append(b, text...), true
}

// markOf is what is remembered of a benchmark. The hash is a sum over the fields that have a value, so that neither
// their order nor fields that are new in the program change it.
func markOf(b *dataset.Benchmark) hooks.Mark {
	m, v := hooks.Mark{Withdrawn: b.Withdrawn != nil}, reflect.ValueOf(b).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("json")
		if text, ok := appendValue(append([]byte(name), 0), v.Field(i)); ok {
			m.Hash += xxhash.Sum64(text)
		}
	}
	return m
}

// firstBaseline notes what is being served as announced if there is no webhook yet: only what comes later is
// announced. The caller holds announcing.
func (s *Service) firstBaseline(ctx context.Context) error {
	all, err := s.Store.List(ctx, 0)
	if err != nil || len(all) > 0 {
		return err
	}
	d := s.cfg.Latest()
	if d == nil {
		return errors.New("no dataset is loaded")
	}
	return s.store(ctx, d, &hooks.Announcement{Marks: marksOf(d)})
}

func marksOf(d *Dataset) map[string]hooks.Mark {
	pack := &d.Set.Benchmarks
	marks := make(map[string]hooks.Mark, pack.Len())
	for i := range pack.Len() {
		marks[string(pack.ID(i))] = markOf(pack.At(i))
	}
	return marks
}

// store stores an announcement of a dataset and has its messages sent. The caller holds announcing.
func (s *Service) store(ctx context.Context, d *Dataset, a *hooks.Announcement) error {
	a.Baseline = hooks.Baseline{Version: d.Set.Info.Version, Digest: d.Set.Digest.String()}
	waiting, err := s.Store.Announce(ctx, a)
	if err == nil {
		s.sender.wake(waiting...)
	}
	return err
}

// announce announces what is being served if it differs from what was announced last. Without webhooks nothing is
// noted: the first one begins with what is served then.
func (s *Service) announce(ctx context.Context) error {
	s.announcing.Lock()
	defer s.announcing.Unlock()
	d := s.cfg.Latest()
	all, err := s.Store.List(ctx, 0)
	if d == nil || len(all) == 0 || err != nil {
		return err
	}
	base, before, err := s.Store.Announced(ctx)
	if err != nil {
		return err
	}
	if base.Digest == d.Set.Digest.String() {
		s.wakeQueued(all) // an announcement may have been stored although the ledger said that it was not
		return nil
	}
	a := &hooks.Announcement{Marks: marksOf(d)}
	if base.Digest == "" {
		return s.store(ctx, d, a)
	}
	r := compare(d.Generation, before, a.Marks)
	for i := range all {
		if err := s.addMessages(ctx, a, r, &all[i]); err != nil {
			return err
		}
	}
	a.Rows, a.Release = r.rows, &hooks.Release{
		At: s.now().Unix(), Version: d.Set.Info.Version, Digest: d.Set.Digest.String(), PreviousVersion: base.Version, PreviousDigest: base.Digest,
		Created: len(r.of(Created, r.ords)), Changed: len(r.of(Changed, r.ords)), Withdrawn: len(r.of(Withdrawn, r.ords)) + len(r.removed),
	}
	if err := s.store(ctx, d, a); err != nil {
		return err
	}
	s.cfg.Log.Info("release announced to webhooks", "version", a.Release.Version, "created", a.Release.Created, "changed", a.Release.Changed,
		"withdrawn", a.Release.Withdrawn, "webhooks", len(a.Messages), "records", len(a.Rows))
	return nil
}

// addMessages makes the messages of one webhook.
func (s *Service) addMessages(ctx context.Context, a *hooks.Announcement, r *release, h *hooks.Hook) error {
	if h.State != hooks.Active {
		return nil
	}
	ords, known := r.matched[h.Filters]
	if !known {
		var err error
		if ords, err = s.cfg.Match(r.gen, h.Filters, r.ords); err != nil {
			s.disable(ctx, h.Key, fmt.Sprintf("the filters cannot be read any more: %v", err))
			return nil
		}
		r.matched[h.Filters] = ords
	}
	list, err := r.messages(h, ords)
	if len(list) > 0 {
		a.Messages = append(a.Messages, list)
	}
	return err
}

// release is what changed in a dataset, while its messages are made.
type release struct {
	gen     *index.Generation
	ords    []uint32            // of the benchmarks that changed, rising
	events  map[uint32]string   // of each of them
	removed []string            // ids that are gone, sorted
	matched map[string][]uint32 // filters -> those of ords that match

	rows   [][]byte // records of messages, each once
	bytes  int
	placed map[string]uint32 // id -> place in rows
}

// eventOf is what happened to a benchmark; empty: nothing.
func eventOf(was hooks.Mark, known bool, now hooks.Mark) string {
	switch {
	case !known && now.Withdrawn: // it never counted
		return ""
	case !known:
		return Created
	case now.Withdrawn && !was.Withdrawn:
		return Withdrawn
	case now != was:
		return Changed
	}
	return ""
}

// compare finds what changed.
func compare(gen *index.Generation, before, now map[string]hooks.Mark) *release {
	r := &release{gen: gen, events: map[uint32]string{}, matched: map[string][]uint32{}, placed: map[string]uint32{}}
	for id, m := range now {
		was, known := before[id]
		event := eventOf(was, known, m)
		if ord, ok := gen.Benchmarks.Find(id); ok && event != "" {
			r.ords, r.events[ord] = append(r.ords, ord), event
		}
	}
	for id, m := range before {
		if _, there := now[id]; !there && !m.Withdrawn {
			r.removed = append(r.removed, id)
		}
	}
	slices.Sort(r.ords)
	slices.Sort(r.removed)
	return r
}

// of returns those of ords to which an event happened.
func (r *release) of(event string, ords []uint32) []uint32 {
	return slices.DeleteFunc(slices.Clone(ords), func(ord uint32) bool { return r.events[ord] != event })
}

// messages makes the messages of a webhook that ords match, in the order of Events.
func (r *release) messages(h *hooks.Hook, ords []uint32) (out []hooks.Delivery, err error) {
	for _, event := range Events {
		if !slices.Contains(h.Events, event) {
			continue
		}
		mine, removed := r.of(event, ords), []string(nil)
		if event == Withdrawn {
			removed = r.removed
		}
		d := hooks.Delivery{Key: h.Key, Message: hooks.NewMessageID(), Event: event, Total: len(mine) + len(removed)}
		if event == Released {
			d.Total = len(r.events) + len(r.removed)
		} else if d.Total == 0 {
			continue
		}
		if err := r.list(&d, h.MaxRecords, mine, removed); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// list puts the places of the first records into a delivery. Each record is kept once for all webhooks; those that a
// full release has no room for are left out.
func (r *release) list(d *hooks.Delivery, most int, ords []uint32, removed []string) error {
	_, change, _ := strings.Cut(d.Event, ".")
	records := make([]MessageRecord, 0, most)
	for _, ord := range ords[:min(len(ords), most)] {
		records = append(records, MessageRecord{r.gen.Benchmarks.Slug(ord), change, r.gen.Benchmarks.Row(ord)})
	}
	for _, id := range removed[:min(len(removed), most-len(records))] {
		records = append(records, MessageRecord{id, "removed", jsontext.Value("null")})
	}
	for _, record := range records {
		at, ok := r.placed[record.ID]
		if !ok {
			row, err := jsonv2.Marshal(record)
			if err != nil {
				return fmt.Errorf("rendering benchmark %s: %w", record.ID, err)
			}
			if len(r.rows) == hooks.MaxRows || r.bytes+len(row) > hooks.MaxRowBytes {
				continue
			}
			at = uint32(len(r.rows))
			r.rows, r.bytes, r.placed[record.ID] = append(r.rows, row), r.bytes+len(row), at
		}
		d.Rows = append(d.Rows, at)
	}
	return nil
}
