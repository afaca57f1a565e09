package webhook

import (
	"net/url"
	"time"

	"modeldex/quota/hooks"

	"github.com/goccy/go-json/jsontext"
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
	// The event.
	Type string `json:"type" jsonschema:"enum=benchmark.created,enum=benchmark.changed,enum=benchmark.withdrawn,enum=dataset.released,enum=webhook.test,example=benchmark.created"`
	// When this server detected the release, or received the test request.
	Timestamp time.Time `json:"timestamp"`
	// The content of the message.
	Data MessageData `json:"data"`
}

// MessageData is the content of a message.
type MessageData struct {
	// Id of the webhook the message is for.
	Webhook string `json:"webhook" jsonschema:"example=wh_00abcdefghi"`
	// The release; omitted in a test.
	Dataset *hooks.Changes `json:"dataset,omitempty"`
	// Number of benchmarks in the release that match the filters; for dataset.released, of all that were created, changed
	// or withdrawn.
	Total int `json:"total" jsonschema:"minimum=0,example=12"`
	// Number of benchmarks listed in records.
	Count int `json:"count" jsonschema:"minimum=0,maximum=100,example=12"`
	// The benchmarks, newest run date first; at most max_records and 256 KiB. Empty for dataset.released and a test.
	Records []jsontext.Value `json:"records"`
	// Where to get the rest.
	Links *MessageLinks `json:"links,omitempty"`
}

// MessageRecord is one benchmark of a message.
type MessageRecord struct {
	// Id of the benchmark.
	ID string `json:"id" jsonschema:"example=bm-d20987d408c6"`
	// Kind of change; removed means that it is no longer in the dataset.
	Change string `json:"change" jsonschema:"enum=created,enum=changed,enum=withdrawn,enum=removed,example=created"`
	// The benchmark as in lists; null if it was removed.
	Record jsontext.Value `json:"record" jsonschema:"nullable"`
}

// MessageLinks are addresses of the API. They are relative unless the server knows its own address.
type MessageLinks struct {
	// Changes since the previously announced release, field by field.
	Changes string `json:"changes" jsonschema:"format=uri-reference,example=/api/v1/changes?since=2026.11.20"`
	// The benchmark list with the filters of the webhook.
	Benchmarks string `json:"benchmarks" jsonschema:"format=uri-reference,example=/api/v1/benchmarks?hardware=nvidia-rtx-4090"`
}

// messageOf makes the body of the first delivery of a job, the same for every attempt. base is put before links.
func messageOf(job *hooks.Job, base string) *Message {
	d := &job.Queue[0]
	data := MessageData{Webhook: job.Key.Hook.String(), Total: d.Total, Records: []jsontext.Value{}}
	size := 0
	for _, record := range job.Records {
		if size += len(record); size > maxBytes {
			break
		}
		data.Records = append(data.Records, record)
	}
	data.Count = len(data.Records)
	if r := &job.Release; r.Digest != "" {
		data.Dataset = &r.Changes
		data.Links = &MessageLinks{base + "/api/v1/changes?since=" + url.QueryEscape(r.PreviousDigest), base + "/api/v1/benchmarks"}
		if job.Filters != "" {
			data.Links.Benchmarks += "?" + job.Filters
		}
	}
	return &Message{Type: d.Event, Timestamp: unixTime(d.Created), Data: data}
}
