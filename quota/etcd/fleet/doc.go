// Package fleet tests a fleet as an operator runs it: three members of etcd, three servers and
// HAProxy, all real processes on this machine. A load of calls on many keys goes on while
// processes are killed, stopped and cut off. Everything is counted from outside.
//
// The tests need the programs etcd and haproxy; without them they are skipped, unless
// MODELDEX_REQUIRE_ETCD=1 and MODELDEX_REQUIRE_PROXIES=1. The long form, with 1,000 keys and every
// fault several times:
//
//	go test ./quota/etcd/fleet -count=1 -v -timeout 30m -fleet.keys 1000 -fleet.rounds 3 -fleet.outage 10s
//
// The partition of a server from etcd uses a network namespace, which needs root.
package fleet
