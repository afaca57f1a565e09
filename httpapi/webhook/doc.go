/*
Package webhook sends the owners of keys what a release of the dataset changed: it finds the changes,
queues messages in the ledger and delivers them by HTTP, signed.

	dataset published -> compare with what was announced -> match filters -> queue -> deliver

The ledger has the id of every benchmark that was announced, a hash of its fields, and whether it was withdrawn. When
a dataset is published, and when the server starts, the benchmarks are compared with that. The differences are one
release. Its messages, the records that they list and the new state are one transaction, so a release that was loaded
while the server was down, or at the moment it was killed, is announced later, and none is announced twice.

A webhook without filters gets every benchmark; filters are those of the list of benchmarks and are compared with the
record as it is now. A record that is gone from the dataset is announced to every webhook with the event
benchmark.withdrawn.

Messages follow the Standard Webhooks specification. Each webhook has a queue in the ledger, and only its first message
is tried: the next one follows when the outcome is on the disk. An attempt succeeds with a status of 200 to 299 within 15
seconds. Otherwise it is repeated after growing delays over three days, then the webhook is disabled and says why; 410
Gone disables it at once. The message stays the first of the queue. A server that is killed between sending a message and
storing its outcome sends it again, with the same webhook-id and the same body.

	webhooks per key            20
	messages waiting            100 per webhook; one more disables it
	body                        100 records, 256 KiB; counts are always complete
	records kept per release    16 MiB; of all releases with messages that wait 64 MiB
	requests at a time          32, of which 4 for one key
	requests per second         100, after 20 at once
	names being resolved        1 for each key
	response                    16 KiB of headers are read

See Guard for what is never connected to. Everything is safe for concurrent use.
*/
package webhook
