// Package verbs has the commands for a server, its keys and its ledger: `modeldex serve`, `mcp`, `keys` and `ledger`.
// See modeldex/dataset/verbs for how commands are written.
package verbs
