package webhook

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/url"
	"slices"
	"sync"
	"time"

	"modeldex/quota"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// The events that can be announced to a webhook.
const (
	Created   = "benchmark.created"
	Changed   = "benchmark.changed"
	Withdrawn = "benchmark.withdrawn"
	Released  = "dataset.released"
	// Test is sent when its owner asks for it, never by itself.
	Test = "webhook.test"
)

// Events lists the events that can be subscribed to, in the order their messages are sent.
var Events = []string{Created, Changed, Withdrawn, Released}

const (
	// MaxRecords is how many records one message lists at most.
	MaxRecords = 100
	// maxBytes is how many bytes the records of one message have at most.
	maxBytes = 256 << 10
)

// Message is the body of a delivery.
type Message struct {
	// What happened: the event.
	Type string `json:"type" jsonschema:"enum=benchmark.created,enum=benchmark.changed,enum=benchmark.withdrawn,enum=dataset.released,enum=webhook.test,example=benchmark.created"`
	// When this server saw the release, or was asked for the test.
	Timestamp time.Time `json:"timestamp"`
	// What it is about.
	Data MessageData `json:"data"`
}

// MessageData is what a message is about.
type MessageData struct {
	// Id of the webhook the message is for.
	Webhook string `json:"webhook" jsonschema:"example=wh_00abcdefghi"`
	// The release; left out of a test.
	Dataset *MessageDataset `json:"dataset,omitempty"`
	// How many benchmarks of the release match the filters; for dataset.released all that the release created, changed or withdrew.
	Total int `json:"total" jsonschema:"minimum=0,example=12"`
	// How many of them are listed in records.
	Count int `json:"count" jsonschema:"minimum=0,maximum=100,example=12"`
	// The benchmarks, newest run date first: at most max_records of the webhook, and 256 KiB. Empty for dataset.released and a test.
	Records []jsontext.Value `json:"records"`
	// Where the rest is.
	Links *MessageLinks `json:"links,omitempty"`
}

// MessageDataset names a release and counts what it changed.
type MessageDataset struct {
	// Version of the dataset.
	Version string `json:"version" jsonschema:"example=2026.11.21"`
	// SHA-256 over the files of the dataset, in hex.
	Digest string `json:"digest" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Version that was announced before.
	PreviousVersion string `json:"previous_version" jsonschema:"example=2026.11.20"`
	// Digest that was announced before.
	PreviousDigest string `json:"previous_digest" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Benchmarks of the release that are new, whatever the filters.
	Created int `json:"created" jsonschema:"minimum=0,example=40"`
	// Benchmarks with a field of another value.
	Changed int `json:"changed" jsonschema:"minimum=0,example=2"`
	// Benchmarks that were withdrawn or are gone.
	Withdrawn int `json:"withdrawn" jsonschema:"minimum=0,example=0"`
}

// MessageRecord is one benchmark of a message.
type MessageRecord struct {
	// Id of the benchmark.
	ID string `json:"id" jsonschema:"example=bm-d20987d408c6"`
	// What happened to it; removed is gone from the dataset altogether.
	Change string `json:"change" jsonschema:"enum=created,enum=changed,enum=withdrawn,enum=removed,example=created"`
	// Names of the fields of a changed benchmark that have another value. Left out of others, and where the server has started since the release before: links.changes leads to them always.
	Fields []string `json:"fields,omitempty" jsonschema:"example=generation_tps"`
	// The benchmark as lists show it; null for a removed one.
	Record jsontext.Value `json:"record" jsonschema:"nullable"`
}

// MessageLinks are addresses of the API. They are relative unless the server knows its own address.
type MessageLinks struct {
	// What changed since the release announced before, field by field.
	Changes string `json:"changes" jsonschema:"format=uri-reference,example=/api/v1/changes?since=2026.11.20"`
	// The list of benchmarks with the filters of the webhook.
	Benchmarks string `json:"benchmarks" jsonschema:"format=uri-reference,example=/api/v1/benchmarks?hardware=nvidia-rtx-4090"`
}

// body is the body of a delivery in parts: what is the webhook's own, and the records between, which
// webhooks with equal filters share.
type body struct{ head, records, tail []byte }

func (b *body) size() int64 { return int64(len(b.head) + len(b.records) + len(b.tail)) }

// reader gives the parts one after the other.
func (b *body) reader() io.Reader {
	return io.MultiReader(bytes.NewReader(b.head), bytes.NewReader(b.records), bytes.NewReader(b.tail))
}

// bytes is the body in one piece.
func (b *body) bytes() []byte { return slices.Concat(b.head, b.records, b.tail) }

// noRecords is where the records of a body belong. A text has no quotes without a backslash before
// them, so that a body has it once.
var noRecords = []byte(`"records":[]`)

// newBody makes the body of a delivery from its list of records: the same bytes for the same delivery, as long as its release is
// kept. base is put before links.
func newBody(job *quota.Job, base string, list *recordList) (*body, error) {
	m := Message{
		Type: job.Event, Timestamp: time.Unix(job.Created, 0).UTC(),
		Data: MessageData{Webhook: job.Key.Hook.String(), Total: job.Total, Records: []jsontext.Value{}},
	}
	if r := job.Release; r.Number != 0 {
		m.Data.Dataset = &MessageDataset{
			Version: r.Version, Digest: r.Digest, PreviousVersion: r.PreviousVersion, PreviousDigest: r.PreviousDigest,
			Created: r.Created, Changed: r.Changed, Withdrawn: r.Withdrawn,
		}
		m.Data.Links = &MessageLinks{Changes: base + "/api/v1/changes?since=" + url.QueryEscape(r.PreviousDigest), Benchmarks: base + "/api/v1/benchmarks"}
		if job.Hook.Filters != "" {
			m.Data.Links.Benchmarks += "?" + job.Hook.Filters
		}
	}
	m.Data.Count = list.count
	var b bytes.Buffer
	if err := jsonv2.MarshalWrite(&b, &m); err != nil {
		return nil, err
	}
	at := bytes.Index(b.Bytes(), noRecords)
	if at < 0 {
		return nil, errors.New("a message without records") // the struct above has them
	}
	at += len(noRecords) - len("[]")
	return &body{head: b.Bytes()[:at], records: list.text, tail: b.Bytes()[at+len("[]"):]}, nil
}

// body makes the body of a delivery.
func (s *Service) body(ctx context.Context, job *quota.Job) (*body, error) {
	list, err := s.lists.of(ctx, &job.Delivery)
	if err != nil {
		return nil, err
	}
	return newBody(job, s.cfg.Base, list)
}

// recordList is the records of a message, a JSON array.
type recordList struct {
	count int
	text  []byte
}

// listOf makes a list of the first records that have maxBytes together. They are JSON, without white
// space between.
func listOf(rows [][]byte) *recordList {
	list := &recordList{text: []byte{'['}}
	size := 0
	for _, row := range rows {
		if size += len(row); size > maxBytes {
			break
		}
		if list.count > 0 {
			list.text = append(list.text, ',')
		}
		list.text = append(list.text, row...)
		list.count++
	}
	list.text = append(list.text, ']')
	return list
}

// maxLists is how many bytes of lists are kept for other messages with the same records.
const maxLists = 4 << 20

// lists keeps lists of records, those that were made last. Safe for concurrent use.
type lists struct {
	store interface {
		Records(ctx context.Context, release uint64, places []uint32) ([][]byte, error)
	}

	mu     sync.Mutex
	byName map[string]*recordList
	names  []string // in the order they were made
	bytes  int
}

// of is the list of a delivery.
func (l *lists) of(ctx context.Context, d *quota.Delivery) (*recordList, error) {
	if len(d.Rows) == 0 {
		return listOf(nil), nil
	}
	name := nameOf(d)
	l.mu.Lock()
	list := l.byName[name]
	l.mu.Unlock()
	if list != nil {
		return list, nil
	}
	rows, err := l.store.Records(ctx, d.Release, d.Rows)
	if err != nil {
		return nil, err
	}
	list = listOf(rows)
	if len(rows) == len(d.Rows) { // the whole
		l.keep(name, list)
	}
	return list, nil
}

func nameOf(d *quota.Delivery) string {
	name := binary.BigEndian.AppendUint64(make([]byte, 0, 8+4*len(d.Rows)), d.Release)
	for _, row := range d.Rows {
		name = binary.BigEndian.AppendUint32(name, row)
	}
	return string(name)
}

func (l *lists) keep(name string, list *recordList) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byName[name] != nil {
		return // another message had it made as well
	}
	for l.bytes += len(list.text); l.bytes > maxLists && len(l.names) > 0; l.names = l.names[1:] {
		l.bytes -= len(l.byName[l.names[0]].text)
		delete(l.byName, l.names[0])
	}
	l.byName[name], l.names = list, append(l.names, name)
}
