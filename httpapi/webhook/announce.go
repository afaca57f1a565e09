package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"modeldex/dataset"
	"modeldex/index"
	"modeldex/quota"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// Dataset is what is being served.
type Dataset struct {
	Set        *dataset.Set
	Generation *index.Generation
}

// announcer finds what is new. It belongs to the goroutine of announcements.
type announcer struct {
	s      *Service
	pack   *dataset.Pack // what sums are of; nil before the first
	sums   []uint64
	digest string // of the dataset that has pack
}

// run announces what is being served if it differs from what was announced last.
func (a *announcer) run(ctx context.Context) error {
	for {
		d := a.s.cfg.Latest()
		if d == nil {
			return nil
		}
		base, known, err := a.s.store.Baseline(ctx)
		if err != nil {
			return err
		}
		if known && base.Digest == d.Set.Digest.String() {
			return nil
		}
		hooks, err := a.s.hooks(ctx, 0)
		switch {
		case err != nil:
			return err
		case len(hooks) == 0 && known:
			return a.s.store.Forget(ctx)
		case len(hooks) == 0:
			return nil
		}
		err = a.announce(ctx, d, base, known, hooks)
		if !errors.Is(err, quota.ErrSuperseded) {
			return err
		}
	}
}

// first stores what is being served as announced, unless something was announced before.
func (a *announcer) first(ctx context.Context) error {
	_, known, err := a.s.store.Baseline(ctx)
	d := a.s.cfg.Latest()
	if err != nil || known || d == nil {
		return err
	}
	return a.announce(ctx, d, quota.Baseline{}, false, nil)
}

func (a *announcer) announce(ctx context.Context, d *Dataset, base quota.Baseline, known bool, hooks []quota.Hook) error {
	pack := &d.Set.Benchmarks
	sums := hashes(pack, a.pack, a.sums)
	var announced *dataset.Pack // what was announced last, if this process did it
	if a.digest == base.Digest {
		announced = a.pack
	}
	a.pack, a.sums, a.digest = pack, sums, d.Set.Digest.String()
	diff, err := compare(pack, sums, !known, base.Scheme == scheme, func(part int) ([]quota.Mark, error) { return a.s.store.Marks(ctx, part) })
	if err != nil {
		return err
	}
	diff.fields = changesOf(pack, announced, diff.changed)
	out := &quota.Announcement{
		First:    !known,
		Baseline: quota.Baseline{Version: d.Set.Info.Version, Digest: d.Set.Digest.String(), Scheme: scheme, Records: pack.Len()},
		Parts:    diff.parts,
		Release: quota.Release{
			At: a.s.now().Unix(), Version: d.Set.Info.Version, Digest: d.Set.Digest.String(), PreviousVersion: base.Version, PreviousDigest: base.Digest,
			Created: len(diff.created), Changed: len(diff.changed), Withdrawn: len(diff.withdrawn) + len(diff.removed),
		},
	}
	if known {
		b := newBatch(d.Generation, pack, diff)
		if err := a.fill(ctx, b, hooks); err != nil {
			return err
		}
		out.Rows, out.Deliveries = b.rows, b.deliveries
	}
	waiting, err := a.s.store.Announce(ctx, out)
	if err != nil {
		return err
	}
	if known {
		a.s.cfg.Log.Info("release announced to webhooks", "version", out.Release.Version, "created", out.Release.Created, "changed", out.Release.Changed,
			"withdrawn", out.Release.Withdrawn, "messages", len(out.Deliveries), "records", len(out.Rows))
	}
	a.s.dispatch.add(waiting)
	return nil
}

// fill makes the messages of all webhooks. Those with the same filters are looked at together.
func (a *announcer) fill(ctx context.Context, b *batch, hooks []quota.Hook) error {
	hooks = slices.DeleteFunc(hooks, func(h quota.Hook) bool { return h.State != quota.HookActive })
	slices.SortStableFunc(hooks, func(x, y quota.Hook) int { return cmp.Compare(x.Filters, y.Filters) })
	var found *matched
	for i := range hooks {
		h := &hooks[i]
		if found == nil || h.Filters != hooks[i-1].Filters {
			ords, err := a.s.cfg.Match(b.gen, h.Filters, b.ords)
			if err != nil {
				a.s.disable(ctx, h.Key, fmt.Sprintf("the filters cannot be read any more: %v", err))
				found = nil
				continue
			}
			found = b.sort(ords)
		}
		if err := b.add(h, found); err != nil {
			return err
		}
	}
	return nil
}

// batch gathers the messages of one release.
type batch struct {
	gen        *index.Generation
	diff       *difference
	ords       []uint32 // of all that is new, changed or withdrawn, rising
	classOf    map[uint32]string
	fieldsOf   map[uint32][]string // of changed ones, where they are known
	placed     map[string]uint32   // id -> place in rows
	rows       [][]byte
	bytes      int
	deliveries []quota.Delivery
}

func newBatch(gen *index.Generation, pack *dataset.Pack, diff *difference) *batch {
	b := &batch{gen: gen, diff: diff, classOf: map[uint32]string{}, fieldsOf: map[uint32][]string{}, placed: map[string]uint32{}}
	for class, places := range map[string][]int{Created: diff.created, Changed: diff.changed, Withdrawn: diff.withdrawn} {
		for _, i := range places {
			if ord, ok := gen.Benchmarks.Find(string(pack.ID(i))); ok {
				b.ords, b.classOf[ord] = append(b.ords, ord), class
				if class == Changed {
					b.fieldsOf[ord] = diff.fields[i]
				}
			}
		}
	}
	slices.Sort(b.ords)
	return b
}

// matched is what of a release matches filters, by event.
type matched struct{ created, changed, withdrawn []uint32 }

func (b *batch) sort(ords []uint32) *matched {
	m := &matched{}
	for _, ord := range ords {
		switch b.classOf[ord] {
		case Created:
			m.created = append(m.created, ord)
		case Changed:
			m.changed = append(m.changed, ord)
		default:
			m.withdrawn = append(m.withdrawn, ord)
		}
	}
	return m
}

// add makes the messages of one webhook, in the order of Events.
func (b *batch) add(h *quota.Hook, m *matched) error {
	for _, event := range Events {
		if !slices.Contains(h.Events, event) {
			continue
		}
		d := quota.Delivery{Key: h.Key, Message: quota.NewMessageID(), Event: event}
		var ords []uint32
		var removed []string
		switch event {
		case Created:
			ords = m.created
		case Changed:
			ords = m.changed
		case Withdrawn:
			ords, removed = m.withdrawn, b.diff.removed
		case Released:
			d.Total = len(b.classOf) + len(b.diff.removed)
			b.deliveries = append(b.deliveries, d)
			continue
		}
		if d.Total = len(ords) + len(removed); d.Total == 0 {
			continue
		}
		if err := b.list(&d, h.MaxRecords, event, ords, removed); err != nil {
			return err
		}
		b.deliveries = append(b.deliveries, d)
	}
	return nil
}

// list puts the places of the first records into a delivery.
func (b *batch) list(d *quota.Delivery, most int, event string, ords []uint32, removed []string) error {
	change := map[string]string{Created: "created", Changed: "changed", Withdrawn: "withdrawn"}[event]
	for _, ord := range ords[:min(len(ords), most)] {
		if err := b.place(d, &MessageRecord{b.gen.Benchmarks.Slug(ord), change, b.fieldsOf[ord], b.gen.Benchmarks.Row(ord)}); err != nil {
			return err
		}
	}
	for _, id := range removed[:min(len(removed), most-min(len(ords), most))] {
		if err := b.place(d, &MessageRecord{ID: id, Change: "removed", Record: jsontext.Value("null")}); err != nil {
			return err
		}
	}
	return nil
}

// place lists one record, which is kept once for all webhooks, unless the release is full.
func (b *batch) place(d *quota.Delivery, record *MessageRecord) error {
	at, ok := b.placed[record.ID]
	if !ok {
		row, err := jsonv2.Marshal(record)
		if err != nil {
			return fmt.Errorf("rendering benchmark %s: %w", record.ID, err)
		}
		if len(b.rows) == quota.MaxRows || b.bytes+len(row) > quota.MaxRowBytes {
			return nil
		}
		at = uint32(len(b.rows))
		b.rows, b.bytes, b.placed[record.ID] = append(b.rows, row), b.bytes+len(row), at
	}
	d.Rows = append(d.Rows, at)
	return nil
}
