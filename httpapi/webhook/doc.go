/*
Package webhook sends the owners of keys what a release of the dataset changed: it finds the changes,
queues messages in the ledger and delivers them by HTTP, signed.

# From a release to a message

	dataset published -> compare with what was announced -> match filters -> queue -> deliver

For every benchmark that was announced the ledger has its id, a hash of its fields, and whether it was
withdrawn. When a generation is published, and when the server starts, the benchmarks are
compared with that. The differences are one release: the records that messages list, one message per
event and webhook, and the new state. They are written in small transactions, so that calls do not wait
for thousands of webhooks; they take effect with the last one, and what a server wrote that was killed before it
is removed. So a release that was loaded while the server was down, or at the moment it was killed,
is announced later, and none is announced twice.

A webhook without filters gets every benchmark; filters are those of the list of benchmarks, which has throughput
results only where scenario is one of them, and are compared with the record as it is now. Withdrawn records match as they are; one that is gone from
the dataset has no fields any more, so it is announced to every webhook with the event benchmark.withdrawn.

Only fields that have a value are hashed, in any order. A program that knows more fields than the
one that announced last therefore announces nothing until a record has one.

# Delivery

Messages follow the Standard Webhooks specification: the headers webhook-id, webhook-timestamp and
webhook-signature, and a JSON body {"type", "timestamp", "data"}. Each webhook has a queue in the
ledger. Only the oldest message of a queue is tried; the next one follows when the outcome is on the
disk. An attempt succeeds with a status of 200 to 299 within 15 seconds. Otherwise it is repeated
after growing delays over three days, then the webhook is disabled and says why. 410 Gone disables it
at once.

Delivery is at least once: a server that is killed between sending a message and storing its outcome
sends it again, with the same webhook-id and the same body. A test and a redelivery are tried once, at
once, beside the queue.

# Bounds

	webhooks per key            20
	messages waiting            100 per webhook; one more disables it. 30 days where it is paused or disabled
	log                         100 deliveries per webhook, 30 days
	body                        100 records, 256 KiB; counts are always complete
	records kept per release    10,000, 16 MiB; of all releases 64 MiB, 30 days
	requests at a time          32, of which 2 to one host
	requests per second         100, after 20 at once: 10,000 messages take 100 seconds
	response                    16 KiB of headers and 64 KiB of body are read, and dropped

# What is never connected to

See Guard: loopback, private, link-local, shared, reserved and multicast addresses, also inside IPv6
ones, and addresses of this machine, checked when the URL is given and again for the address of each
connection. Redirects are not followed, and no proxy is used.

Everything is safe for concurrent use. A Service has two goroutines beside those of requests under
way; they end with Close.
*/
package webhook
