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
