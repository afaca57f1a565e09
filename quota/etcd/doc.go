/*
Package etcd keeps the ledger of package quota in etcd, so that several servers share keys and quota. Store implements
quota.Store. Every key is below one prefix. Values are JSON; members that this version does not know are kept when a
record is changed, so old and new versions of the program can run side by side.

	ledger                      {"format":1,"id":"9f0d…"}            written once, at creation
	a/<account>                 {"rev":1,"status":"active","tier":"free",…}
	p/<account>                 {"name":"Ada","email":"ada@example.com","use_case":"Sums"}
	e/<address>/<account>       empty: the accounts of an e-mail address
	g/<address>                 empty: changed with every account of the address
	u/<month>/<account>         {"7c9e…":{"calls":412,"day":20530}}   calls per server
	n/<server>                  {"host":"a","started":"…"}           with an etcd lease

An account is its id in 16 hexadecimal digits, an address the hash quota.Person.AddressKey, a month 2026-03, a server the
random id of one process.

Counts: a server changes only its own number, the calls that it has answered and leased, in a transaction that compares
the revision of the whole value, and only as far as the sum stays within the limit. So the servers together never answer
more calls than the quota, and etcd never counts fewer than were answered. The leased calls of a server that was killed
stay counted, at most one lease per key. The numbers of servers that are gone for more than a day are folded into one.
A commit of leases is one reading and one transaction per 100 keys.

Changes of accounts are one transaction; the number of keys per e-mail address holds across servers. A change whose
response is lost is looked up, and made if it was not, for up to five seconds: otherwise a rotation that is reported as
failed could leave its owner without a key. Every server watches the accounts; one that hears nothing for three seconds
reads all of them again. If etcd is restored from a backup while servers run, they end (errEarlier).

A Store is safe for concurrent use. Its goroutines end with Close.
*/
package etcd
