/*
Package webhook sends the owners of keys what a release of the dataset changed: it finds the changes,
queues messages in the ledger and delivers them by HTTP, signed.

# From a release to a message

	dataset published -> compare with what was announced -> match filters -> queue -> deliver

For every benchmark that was announced the ledger has its id, a hash of its fields, and whether it was
withdrawn. When a dataset is published, and when the server starts, the benchmarks are compared with that.
The differences are one release. Its messages, the records that they list and the new state are one
transaction, so a release that was loaded while the server was down, or at the moment it was killed, is
announced later, and none is announced twice.

A webhook without filters gets every benchmark; filters are those of the list of benchmarks and are compared with the
record as it is now. Withdrawn records match as they are. A record that is gone from the dataset has no fields any
more, so it is announced to every webhook with the event benchmark.withdrawn.

# Delivery

Messages follow the Standard Webhooks specification. Each webhook has a queue in the ledger, and only its oldest
message is tried: the next one follows when the outcome is on the disk. An attempt succeeds with a status of 200 to
299 within 15 seconds. Otherwise it is repeated after growing delays over three days, then the webhook is disabled and
says why. 410 Gone disables it at once. A test and a redelivery are tried once, at once, beside the queue.

Delivery is at least once: a server that is killed between sending a message and storing its outcome
sends it again, with the same webhook-id and the same body.

# Bounds

	webhooks per key            20
	messages waiting            100 per webhook; one more disables it. 30 days where it is paused or disabled
	log                         100 deliveries per webhook, 30 days
	body                        100 records, 256 KiB; counts are always complete
	records kept per release    10,000, 16 MiB; of all releases 64 MiB, 30 days
	requests at a time          32, of which 4 for one key and 2 for one key to one host
	requests per second         100, after 20 at once
	names being resolved        1 for each key
	response                    16 KiB of headers and 64 KiB of body are read, and dropped

See Guard for what is never connected to. Everything is safe for concurrent use.
*/
package webhook
