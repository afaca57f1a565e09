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
	// Description by its owner.
	Description string `json:"description" jsonschema:"maxLength=200,example=new runs on my card"`
	// Events to send.
	Events []string `json:"events" jsonschema:"minItems=1,example=benchmark.created"`
	// Filters as in the benchmark list, by name; empty means all benchmarks.
	Filters map[string][]string `json:"filters"`
	// Maximum number of records in a message.
	MaxRecords int `json:"max_records" jsonschema:"minimum=0,maximum=100,example=100"`
	// active: events are sent. paused: the owner paused it. disabled: the server stopped it; disabled_reason says why.
	Status string `json:"status" jsonschema:"enum=active,enum=paused,enum=disabled,example=active"`
	// Why the server disabled it; null unless it is disabled.
	DisabledReason *string `json:"disabled_reason" jsonschema:"nullable,example=message msg_1 was not accepted within three days; the last attempt: status 500"`
	// Secret that signs messages; only in the response that created it.
	Secret string `json:"secret,omitempty" jsonschema:"example=whsec_..."`
	// Until when the secret before the last rotation also signs; null if it does not.
	OldSecretUntil *time.Time `json:"old_secret_until" jsonschema:"nullable"`
	// Number of messages waiting for delivery.
	Waiting int `json:"waiting" jsonschema:"minimum=0,maximum=100,example=0"`
	// Since when the current message has been failing; null while deliveries succeed.
	FailingSince *time.Time `json:"failing_since" jsonschema:"nullable"`
	// When a message was last accepted; null before the first.
	LastSuccessAt *time.Time `json:"last_success_at" jsonschema:"nullable"`
	// The most recent failed attempt; null if there is none.
	LastFailure *AttemptView `json:"last_failure" jsonschema:"nullable"`
	// When the webhook was created.
	CreatedAt time.Time `json:"created_at"`
	// When it was last changed.
	ChangedAt time.Time `json:"changed_at"`
}

// AttemptView is one attempt to deliver a message.
type AttemptView struct {
	// When it started.
	At time.Time `json:"at"`
	// How long it took, in milliseconds.
	DurationMs int64 `json:"duration_ms" jsonschema:"minimum=0,example=42" jsonschema_extras:"unit=ms"`
	// HTTP status of the response; null without a response.
	Status *int `json:"status" jsonschema:"nullable,example=200"`
	// Why it failed; null on success.
	Error *string `json:"error" jsonschema:"nullable,example=the connection was refused"`
}

func unixTime(s int64) time.Time { return time.Unix(s, 0).UTC() }

// optional is null for the zero value.
func optional[T comparable](v T) *T {
	if v == *new(T) {
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

// ViewOf is a webhook as its owner sees it at a time. filters are those of the webhook, by name; secret is empty in all
// responses but the one that made it.
func ViewOf(h *hooks.Hook, filters map[string][]string, secret string, now time.Time) *View {
	v := &View{
		ID: h.Key.Hook.String(), URL: h.URL, Description: h.Description, Events: h.Events, Filters: filters, MaxRecords: h.MaxRecords,
		Status: string(h.State), DisabledReason: optional(h.Reason), Secret: secret, Waiting: len(h.Queue),
		FailingSince: optionalTime(h.FailingSince), LastSuccessAt: optionalTime(h.LastSuccess),
		CreatedAt: unixTime(h.Created), ChangedAt: unixTime(h.Changed),
	}
	if h.LastFailure != nil {
		v.LastFailure = AttemptViewOf(h.LastFailure)
	}
	if len(h.Secrets) > 1 && h.Secrets[1].Until > now.Unix() {
		v.OldSecretUntil = optionalTime(h.Secrets[1].Until)
	}
	return v
}

// AttemptViewOf is an attempt as the owner of its webhook sees it.
func AttemptViewOf(a *hooks.Attempt) *AttemptView {
	return &AttemptView{At: unixTime(a.At), DurationMs: a.Millis, Status: optional(a.Status), Error: optional(a.Error)}
}
