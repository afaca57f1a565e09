// Package verbs has the verbs about a server, its keys and its ledger: `modeldex serve`, `export`, `keys`
// and `ledger`. See modeldex/dataset/verbs for how verbs are written.
package verbs
