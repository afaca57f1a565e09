package webhook

import (
	"math/rand/v2"
	"time"
)

// delays are the times between attempts to deliver one message: seven minutes for a restart, hours
// for a night, three days (71 hours and a half) for a weekend. After the last the webhook is
// disabled.
var delays = [...]time.Duration{
	5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute,
	2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 18 * time.Hour, 22 * time.Hour,
}

// Attempts is how often one message is tried.
const Attempts = len(delays) + 1

// maxRetryAfter bounds the Retry-After of a receiver.
const maxRetryAfter = 24 * time.Hour

// jitter is the share by which a delay is made longer or shorter at random, so that webhooks that
// failed together are not repeated together.
const jitter = 0.1

// nextDelay returns how long to wait after attempt number tries, from 1; false when it was the last.
// The receiver may ask for a longer time.
func nextDelay(tries int, retryAfter time.Duration) (time.Duration, bool) {
	if tries > len(delays) {
		return 0, false
	}
	d := delays[tries-1]
	d += time.Duration((2*rand.Float64() - 1) * jitter * float64(d))
	return max(d, min(retryAfter, maxRetryAfter)), true
}
