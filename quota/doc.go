/*
Package quota keeps API keys and their monthly quota: it issues keys, decides calls, and
writes what was charged to a ledger that survives crashes, full disks and month changes.

A key is a secret shown once; its SHA-256, the digest, is all that is kept. An account is what is known of one key. A
tier is a plan. A ledger counts calls per account and calendar month (UTC). A lease is a number of calls already written
to the ledger and not yet spent; a Keeper decides calls from memory and keeps the ledger ahead of them. The burst is the
allowance per second, the quota the one per month.

	ledger, err := quota.Open("modeldex.db", quota.Options{})
	keeper, err := quota.NewKeeper(ctx, ledger, quota.Config{KeysPerEmail: 5})
	...
	digest, ok := quota.DigestOf(bearer, keeper.KeyPrefix()) // no look-up, no allocation
	call := keeper.Admit(digest) // quota.UnknownKey: quota.ParseKey says whether it could be a key
	defer call.Release() // free, unless it was charged before
	if call.Verdict != quota.Admitted {
		refuse(call.Verdict, call.Standing())
		return
	}
	standing := call.Charge() // for responses that cost a call
	...
	err = errors.Join(keeper.Close(ctx), ledger.Close()) // waits for admitted calls and settles exactly

# Promises

  - Calls charged and admitted together never exceed the quota, nor what the ledger counts. What is left falls by exactly
    one per charged call, or by what Call.Extend set, and rises within a month only when an operator changes the limit.
  - After a clean Close the ledger is exact. After a crash it counts no fewer calls than were charged, and at most one
    lease more per key: its traffic of one second, at most a hundredth of its quota and at least one call.
  - Every change of an account is on the disk and in effect before it is acknowledged. A ledger file that is removed or
    replaced while in use is noticed before anything more is acknowledged; see Keeper.Lost.
  - While the ledger cannot be written, calls continue from what is leased; others are LedgerUnavailable with a time to
    retry. Service resumes by itself.
  - A wrong clock creates no calls: an earlier month continues from what the ledger counts.

Everything is safe for concurrent use, except a Call, which belongs to one goroutine. DigestOf, Admit and Charge of a key
with a lease allocate nothing and never wait; other calls wait for one of at most 40 commits per second.

# The ledger file

It is a bbolt database, mode 0600. Every value is sealed: version byte 1, CRC-32C of version, key and payload (4 bytes,
little endian), payload. Ids are 8 bytes, most significant first; numbers in payloads are varints. Each bucket's sequence
is the number of its rows, so that a row hidden by a damaged page is noticed. A row in meta, or beside a month, says that
a bucket exists whose name might be damaged.

	meta      "format" -> 1; "bucket days" -> nothing: there is such a bucket
	accounts  id -> status, flags (1: erased), rev, limit (0: the tier's), created, changed, tier, hint, digest, old secrets
	people    id -> JSON of Person; gone once erased
	emails    first 16 bytes of SHA-256 of the address, id -> nothing
	usage     "#2026-03" -> nothing; "2026-03" is a bucket: id -> calls charged and leased
	history   id -> months with their calls, which an earlier version folded
	days      what an earlier version kept per day; it is not read

Package hooks keeps webhooks in five more buckets, JSON except records and marks; numbers are 8 bytes:

	hooks     account, webhook -> Hook
	outbox    account, webhook, number -> Delivery that waits; earlier versions kept those that are finished in sent
	releases  number -> Release, while a message of it waits; records: release, place (4 bytes) -> JSON of the record
	announced "baseline" -> Baseline; "p" -> id, hash and withdrawn of each benchmark
*/
package quota
