/*
Package etcd keeps the ledger of package quota in etcd, so that several servers share keys and
quota. Store implements quota.Store.

# What the servers share

Every key of the ledger is below one prefix. Values are JSON; members that this version does not
know are kept when a record is changed, so old and new versions of the program can run side by
side.

	ledger                      {"format":1,"id":"9f0d…"}            written once, at creation
	a/<account>                 {"rev":1,"status":"active","tier":"free",…}
	p/<account>                 {"name":"Ada","email":"ada@example.com","use_case":"Sums"}
	e/<address>/<account>       empty: the accounts of an e-mail address
	g/<address>                 empty: changed with every account of the address
	u/<month>/<account>         {"7c9e…":{"calls":412,"day":20530}}   calls per server
	d/<account>                 [{"day":20530,"calls":412,…}]        use per day, of all servers
	n/<server>                  {"host":"a","started":"…"}           with an etcd lease

An account is its id in 16 hexadecimal digits, so accounts are in order of creation; an address is
the hash quota.Person.AddressKey of an e-mail address; a month is written 2026-03; a server is the random
id of one process.

# Counting

The calls of an account in a month are one etcd value with a number per server: the calls which
that server has answered plus those it has leased. A server changes its own number only, in a
transaction that compares the revision of the whole value, and only as far as the sum of all
numbers stays within the limit. So the servers together never lease, and never answer, more calls
than the quota; and because calls are leased before they are answered, etcd never counts fewer
than were answered.

A server that stops cleanly gives back what it has leased and not answered. When a server is killed,
that knowledge is lost: its leased calls stay counted, at most one lease per key (see package
quota). No other server can know how many of them were answered, so no other server may give them back. The
numbers of servers that are gone for more than a day are folded into one.

# Changes of accounts

Creating and changing an account is one transaction; the number of keys per e-mail address holds
across servers. If the response to a change is lost, the store reads whether the change was made, and makes it if it was not,
for up to five seconds: otherwise a rotation that is reported as failed could leave its owner without a key. Every server watches the accounts, so a revocation, suspension or change of tier
takes effect on all of them as soon as etcd reports it: within milliseconds on a healthy network. A
watch that hears nothing from etcd for three seconds, not even the progress it asks for twice a
second, is reported as broken; the keeper then reads all accounts again and starts a new watch. If etcd is restored
from a backup while servers run, its revisions are older than before: the servers end (errEarlier), because
they would not see the changes that follow.

# Cost

A commit of leases is one etcd transaction per 100 keys, without reading first: the revision is
remembered from the last commit. Only when two servers lease calls of the same key at the same
time does one of them try again, in halves of the transaction. The number of transactions per second
depends on quota.Config.CommitEvery and the number of servers and of active keys, not on the number
of calls.

A Store is safe for concurrent use. Its goroutines (one that keeps the server's registration alive,
and those of the etcd client) end with Close.
*/
package etcd
