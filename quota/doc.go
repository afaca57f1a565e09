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
	keeper, err := quota.NewKeeper(ledger, quota.Config{KeysPerEmail: 5})
	...
	digest, ok := quota.ParseKey(bearer, keeper.KeyPrefix()) // no look-up, no allocation
	call := keeper.Admit(digest)
	defer call.Release() // free, unless it was charged before
	if call.Verdict != quota.Admitted {
		refuse(call.Verdict, call.Standing())
		return
	}
	answer(...)
	standing := call.Charge() // for answers that cost a call
	...
	err = keeper.Close(ctx) // settles exactly
	err = ledger.Close()

Close waits for every admitted call: one that is neither charged nor released keeps it waiting
until its context ends.

# What it promises

Calls charged and calls held together never pass the quota, nor what the ledger holds. The
number of calls left falls by exactly one a charged call, also over parallel callers, and never
rises within a month, but by an act of an operator. After a clean Close the ledger is exact.
After a crash at any instant it shows no fewer calls than were charged, and at most one lease
more for each key, beside the calls that were being answered: the key's own traffic of one
second (a call that ends free is traffic while it is answered), at most one hundredth of its
quota, at least one call. Calls that wait for a lease together are all leased for; those that
then end free may leave more than a hundredth, until the next sweep takes it back, a second
later (up to 16 with more than 4,096 keys calling). Issuing, rotating, revoking and every other change of an account is on
the disk before it is acknowledged, and in effect.

When the ledger cannot be written, calls go on from what is leased. Those without a lease are
refused as LedgerUnavailable with a time to come back, and go on by themselves once the ledger
can be written.

# Months

A month is left for the next when the clock reaches its end. It is left for an earlier one only
when the clock has fallen more than a day behind its beginning, for then it was wrong before;
that earlier month goes on from what the ledger counts for it, so no clock mints calls. A call
admitted in one month and charged in the next counts in the first.

# What it does not do

It knows no HTTP, reads no environment and does not log: what nobody waits for goes to
Config.OnError. It does not slow down strangers who guess at keys, and it does not know who may
administer them.

# Concurrency and cost

Everything is safe for concurrent use, except a Call, which belongs to one goroutine. ParseKey,
Admit and Charge of a key with a lease take no lock and allocate nothing; together they cost
about 0.4 microseconds, of which the two hashes of ParseKey are half. A key's first call, and
one that outruns its lease, waits for the next commit; there are at most 40 commits a second,
each serving all keys that want a lease. An account costs 130 bytes of memory, and some 200
more while it calls.

# The ledger

The file is a bbolt database, mode 0600. Every value is sealed: a version byte (1), the CRC-32C
of version, key and payload (4 bytes, little endian), then the payload. Account ids are 8 bytes,
most significant first. Every bucket's sequence is the number of its rows, so that a row hidden
by a damaged page is noticed.

	meta
	  "format"                      -> sealed 01                 layout of the buckets

	accounts                                                     one row a key
	  key_2AqAjwMbpGS (8 bytes)     -> sealed status 01 (active), flags 00 (01: erased), rev 1,
	                                   limit 0 (the tier's), created and changed 1700000000,
	                                   tier "free", hint "mdx_...HbVz", digest 9f0dfb6f...
	                                   (32 bytes), old secrets 0 (each: digest, until)

	people                                                       gone once erased
	  key_2AqAjwMbpGS (8 bytes)     -> sealed {"name":"Ada","email":"ada@example.com","use_case":"Sums"}

	emails                                                       keys of one address
	  16 bytes of SHA-256 of "ada@example.com", key_2AqAjwMbpGS (8 bytes)
	                                -> sealed nothing

	usage                                                        a bucket a month
	  "2026-03"
	    key_2AqAjwMbpGS (8 bytes)   -> sealed 412                calls charged and leased

	history                                                      months folded by Compact
	  key_2AqAjwMbpGS (8 bytes)     -> sealed 2026-01 1000, 2026-02 998

Numbers inside payloads are varints. Erasing a person frees the bytes but does not overwrite
them; they leave the file with the next Compact.
*/
package quota
