package webhook

import (
	"time"

	"modeldex/quota/hooks"
)

// View is a webhook as its owner sees it.
type View struct {
	// Public name of the webhook.
	ID string `json:"id" jsonschema:"example=wh_00abcdefghi"`
	// Where messages are sent.
	URL string `json:"url" jsonschema:"format=uri,example=https://example.com/hooks/modeldex"`
	// Note of its owner.
	Description string `json:"description" jsonschema:"maxLength=200,example=new runs on my card"`
	// Events that are sent to it.
	Events []string `json:"events" jsonschema:"minItems=1,example=benchmark.created"`
	// Filters of benchmarks by name, as in the list of benchmarks; empty means all of them.
	Filters map[string][]string `json:"filters"`
	// How many records a message lists at most.
	MaxRecords int `json:"max_records" jsonschema:"minimum=0,maximum=100,example=100"`
	// active: events are sent. paused: its owner stopped it. disabled: the server stopped it, disabled_reason says why.
	Status string `json:"status" jsonschema:"enum=active,enum=paused,enum=disabled,example=active"`
	// Why the server stopped it; null unless it is disabled.
	DisabledReason *string `json:"disabled_reason" jsonschema:"nullable,example=message msg_1 was not accepted in three days; the last attempt: status 500"`
	// Secret that signs messages: only in the response that made it, never again.
	Secret string `json:"secret,omitempty" jsonschema:"example=whsec_..."`
	// Until when the secret that a rotation replaced signs too; null when none does.
	OldSecretUntil *time.Time `json:"old_secret_until" jsonschema:"nullable"`
	// Messages that wait to be delivered.
	Waiting int `json:"waiting" jsonschema:"minimum=0,maximum=100,example=0"`
	// Since when the message that is tried now fails; null while deliveries succeed.
	FailingSince *time.Time `json:"failing_since" jsonschema:"nullable"`
	// When a message was accepted last; null before the first.
	LastSuccessAt *time.Time `json:"last_success_at" jsonschema:"nullable"`
	// The newest attempt that failed; null before the first.
	LastFailure *AttemptView `json:"last_failure" jsonschema:"nullable"`
	// When the webhook was made.
	CreatedAt time.Time `json:"created_at"`
	// When it was changed last.
	ChangedAt time.Time `json:"changed_at"`
}

// AttemptView is one attempt to deliver a message.
type AttemptView struct {
	// When it began.
	At time.Time `json:"at"`
	// How long it took, in milliseconds.
	DurationMs int64 `json:"duration_ms" jsonschema:"minimum=0,example=42" jsonschema_extras:"unit=ms"`
	// HTTP status of the response; null without a response.
	Status *int `json:"status" jsonschema:"nullable,example=200"`
	// Why it failed; null for a success.
	Error *string `json:"error" jsonschema:"nullable,example=the connection was refused"`
}

// DeliveryView is one message to a webhook and the attempts to deliver it.
type DeliveryView struct {
	// Number of the delivery within its webhook, from 1.
	Number uint64 `json:"number" jsonschema:"minimum=1,example=7"`
	// Id of the message, its header webhook-id: the same for every attempt and in a redelivery.
	MessageID string `json:"message_id" jsonschema:"example=msg_0Z9sZ1mJ9yKQ0Z9sZ1mJ9y"`
	// What the message says.
	Event string `json:"event" jsonschema:"enum=benchmark.created,enum=benchmark.changed,enum=benchmark.withdrawn,enum=dataset.released,enum=webhook.test,example=benchmark.created"`
	// pending: it waits for its first or next attempt. failed: no attempt follows.
	Status string `json:"status" jsonschema:"enum=pending,enum=delivered,enum=failed,example=delivered"`
	// Number of the delivery that this one repeats; null otherwise.
	RedeliveryOf *uint64 `json:"redelivery_of" jsonschema:"nullable,example=3"`
	// Benchmarks it is about.
	Total int `json:"total" jsonschema:"minimum=0,example=12"`
	// When the message was made.
	CreatedAt time.Time `json:"created_at"`
	// When the next attempt is; null when none follows. A message behind another one waits longer.
	NextAttemptAt *time.Time `json:"next_attempt_at" jsonschema:"nullable"`
	// The attempts, oldest first.
	Attempts []AttemptView `json:"attempts"`
	// What is sent, as it is sent; only in the response for one delivery.
	Body *Message `json:"body,omitempty"`
}

func unixTime(s int64) time.Time { return time.Unix(s, 0).UTC() }

// optional is null for the zero value.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// optionalTime is null for 0.
func optionalTime(s int64) *time.Time {
	if s == 0 {
		return nil
	}
	return optional(unixTime(s))
}

func attemptView(a *hooks.Attempt) *AttemptView {
	return &AttemptView{At: unixTime(a.At), DurationMs: a.Millis, Status: optional(a.Status), Error: optional(a.Error)}
}

// ViewOf is a webhook as its owner sees it at a time. filters are those of the webhook, by name; secret is empty in all
// responses but the one that made it.
func ViewOf(h *hooks.Hook, filters map[string][]string, secret string, now time.Time) *View {
	v := &View{
		ID: h.Key.Hook.String(), URL: h.URL, Description: h.Description, Events: h.Events, Filters: filters, MaxRecords: h.MaxRecords,
		Status: string(h.State), DisabledReason: optional(h.Reason), Secret: secret, Waiting: h.Queued,
		FailingSince: optionalTime(h.FailingSince), LastSuccessAt: optionalTime(h.LastSuccess),
		CreatedAt: unixTime(h.Created), ChangedAt: unixTime(h.Changed),
	}
	if h.LastFailure != nil {
		v.LastFailure = attemptView(h.LastFailure)
	}
	old := int64(0)
	for _, s := range h.Secrets[1:] {
		old = max(old, s.Until)
	}
	if old > now.Unix() {
		v.OldSecretUntil = optionalTime(old)
	}
	return v
}

// DeliveryViewOf is a delivery as the owner of its webhook sees it, without the body.
func DeliveryViewOf(d *hooks.Delivery) DeliveryView {
	v := DeliveryView{
		Number: d.Seq, MessageID: d.Message, Event: d.Event, Status: string(d.State), RedeliveryOf: optional(d.Of), Total: d.Total,
		CreatedAt: unixTime(d.Created), Attempts: []AttemptView{},
	}
	if d.State == hooks.Pending {
		v.NextAttemptAt = optionalTime(d.NextAt)
	}
	for i := range d.Attempts {
		v.Attempts = append(v.Attempts, *attemptView(&d.Attempts[i]))
	}
	return v
}
