/*
Package quota keeps API keys and their monthly quota: it issues keys, decides calls, and
writes what was charged to a ledger that survives crashes, full disks and month changes.

# Nouns

A key is a secret shown once; its digest, a SHA-256, is all that is kept. An account is what is
known of one key: tier, status, limits. A tier is a plan. A period is one calendar month in
UTC. The ledger is a file of accounts and of calls counted per account and period; a keeper
decides calls from memory and keeps the ledger ahead of them. A lease is a number of calls
already written to the ledger and not yet spent. The burst is the allowance per second, the
quota the one per month.

# Using it

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
	answer(...)
	standing := call.Charge() // for responses that cost a call
	...
	err = keeper.Close(ctx) // settles exactly
	err = ledger.Close()

Close waits for every admitted call: one that is neither charged nor released keeps it waiting
until its context ends.

# What it promises

Calls charged and calls admitted together never exceed the quota, nor what the ledger counts. The
number of calls left falls by exactly one per charged call, or by the number that Call.Extend set, also
with parallel callers, and rises within a month only when an operator changes the limit. After a clean Close the ledger is
exact. After a crash at any instant it counts no fewer calls than were charged, and at most one
lease more per key, beside the calls that were being answered.

A lease is the key's own traffic of one second (a call that ends free is traffic while it is
answered), at most one hundredth of its quota, at least one call. There is one exception: calls
that wait for a lease at the same time all get one. If they then end free, the lease may be more
than a hundredth until the next sweep takes the rest back, after one second (up to 16 seconds
with more than 4,096 active keys).

Every change of an account (issuing, rotating, revoking and all others) is on the disk and in
effect before it is acknowledged. A ledger file that is removed or replaced while it is in use is
noticed before anything more is acknowledged; see Keeper.Lost.

When the ledger cannot be written, calls continue from what is leased. Calls without a lease are
rejected as LedgerUnavailable with a time to retry. Service resumes by itself once the ledger can
be written.

# Months

The next month begins when the clock reaches the end of the current one. An earlier month becomes
current again only when the clock is more than a day before the beginning of the current month,
because then it was wrong before. The earlier month continues from what the ledger counts for it,
so a wrong clock creates no calls. A call admitted in one month and charged in the next counts in
the first.

A rotated-out secret whose end is more than a day later than the longest grace allows was rotated while the
clock was ahead. It does not work, because it may be in a stranger's hands. Days counted that far ahead are dropped.

# Packages and types

boltfile checks the pages of a ledger file before bbolt opens it. hooks keeps webhooks and their messages in it. etcd
keeps a ledger for several servers, and ledgers opens either kind by its address. quotatest and linktest are test kits.

A Keeper decides calls. It has the accounts by their digests (directory), what issues keys and changes accounts
(accounts), the leases and what writes them (leases), the use per day (dayLog) and the month (clock).

# What it does not do

The package does not know HTTP, reads no environment and does not log: errors that no caller waits
for go to Config.OnError. It does not slow down attempts to guess keys, and it does not know who
may administer them.

# Concurrency and cost

Everything is safe for concurrent use, except a Call, which belongs to one goroutine. DigestOf, Admit and Charge of a
key with a lease allocate nothing, write to no disk and wait for nobody. A key's first call, and one that outruns its
lease, waits for the next commit; there are at most 40 commits per second, each serving all keys that need a lease.

# The ledger

The file is a bbolt database, mode 0600. Every value is sealed: a version byte (1), the CRC-32C
of version, key and payload (4 bytes, little endian), then the payload. Account ids are 8 bytes,
most significant first. Every bucket's sequence is the number of its rows, so that a row hidden
by a damaged page is noticed. The name of a bucket has no checksum: for a bucket that may be missing, a sealed row
in another bucket says that it exists.

	meta
	  "format"                      -> sealed 01                 layout of the buckets
	  "bucket days"                 -> sealed nothing            there is such a bucket

	accounts                                                     one row per key
	  key_2AqAjwMbpGS (8 bytes)     -> sealed status 01 (active), flags 00 (01: erased), rev 1,
	                                   limit 0 (the tier's), created and changed 1700000000,
	                                   tier "free", hint "mdx_...HbVz", digest 9f0dfb6f...
	                                   (32 bytes), old secrets 0 (each: digest, until)

	people                                                       gone once erased
	  key_2AqAjwMbpGS (8 bytes)     -> sealed {"name":"Ada","email":"ada@example.com","use_case":"Sums"}
	                                   and "match", the form in which the address is compared,
	                                   where that is not the address itself

	emails                                                       keys of an address
	  16 bytes of SHA-256 of "ada@example.com", key_2AqAjwMbpGS (8 bytes)
	                                -> sealed nothing

	usage                                                        a bucket per month
	  "#2026-03"                    -> sealed nothing            there is one of this month
	  "2026-03"
	    key_2AqAjwMbpGS (8 bytes)   -> sealed 412                calls charged and leased

	history                                                      months folded by Compact
	  key_2AqAjwMbpGS (8 bytes)     -> sealed 2026-01 1000, 2026-02 998

	days                                                         use per day, written once per minute
	  key_2AqAjwMbpGS (8 bytes)     -> sealed day, calls, 304s, repeated, paging; of the last 35 days

Webhooks add these buckets, which belong to package hooks; programs that do not know them leave them alone. Webhook
ids are 8 bytes like account ids; deliveries and releases are numbered from 1, most significant byte first. Values are
JSON, except records of messages and marks.

	hooks
	  account, webhook (16 bytes)   -> sealed {"url":"https://…","events":[…],"secrets":[…],…}

	outbox                                                       messages that wait
	  account, webhook, number (24) -> sealed {"message":"msg_…","event":"benchmark.created",…}

	sent                                                         finished deliveries: the newest 100 per webhook
	  account, webhook, number (24) -> as above, with all attempts

	releases                                                     for 30 days
	  number (8 bytes)              -> sealed {"version":"2026.11.22","digest":"…",…}

	records                                                      what messages of a release list
	  release, place (12 bytes)     -> sealed JSON of the record

	announced                                                    what the next release is compared with
	  "baseline"                    -> sealed {"version":…,"digest":…,"next":7}
	  "p"                           -> sealed marks: id, hash of the fields (8 bytes), withdrawn (1 byte). Earlier
	                                   versions had 256 rows by hash of the id, whose keys begin with "p"

Numbers inside other payloads are varints. Erasing a person frees the bytes but does not overwrite
them; they leave the file with the next Compact.
*/
package quota
