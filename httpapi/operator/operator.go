// Package operator is the administration of a running server, seen from both sides: the handler
// that the server puts on its admin listener, and the client that the verbs use.
//
// One process at a time may open the ledger file. While a server runs, that process is the server,
// and a verb such as `keys list` speaks to its admin socket; otherwise the verb opens the file
// itself. Place.With hides the difference: the caller gets a Keys either way.
//
// The socket is a file of mode 0600 beside the ledger, so access to it is access to the ledger.
package operator

import (
	"context"

	"modeldex/quota"
)

// Keys is what an operator does to keys: a *quota.Keeper where this process has the ledger open, a
// Client where a running server has it open.
type Keys interface {
	Issue(ctx context.Context, req quota.IssueRequest) (quota.IssuedKey, quota.Refusal, error)
	List(ctx context.Context, f quota.Filter, limit int) ([]quota.Account, error)
	Find(ctx context.Context, text string) ([]quota.Account, error)
	Usage(ctx context.Context, id quota.ID) ([]quota.MonthCalls, error)
	SetStatus(ctx context.Context, id quota.ID, to quota.Status) (quota.Account, error)
	Erase(ctx context.Context, id quota.ID) (quota.Account, error)
	SetTier(ctx context.Context, id quota.ID, tier string, limit uint64) (quota.Account, error)
}

// Ledger is what an operator does to the ledger: a quota.Portable, or a Client as above.
type Ledger interface {
	Check(ctx context.Context) (quota.Report, error)
	BackupFile(ctx context.Context, path string) (int64, error)
}

// A verb is an act of the admin listener: the path at which it is posted, what it takes and what it returns, as both
// sides write and read them.
type verb[In, Out any] string

const (
	issueKey  verb[quota.IssueRequest, issued]   = "/keys"
	listKeys  verb[listing, []quota.Account]     = "/keys/list"
	findKeys  verb[string, []quota.Account]      = "/keys/find"
	keyUsage  verb[quota.ID, []quota.MonthCalls] = "/keys/usage"
	setStatus verb[changed, quota.Account]       = "/keys/status"
	eraseKey  verb[changed, quota.Account]       = "/keys/erase"
	setTier   verb[changed, quota.Account]       = "/keys/tier"
	address   verb[struct{}, string]             = "/ledger/address"
	check     verb[struct{}, quota.Report]       = "/ledger/check"
	backup    verb[string, int64]                = "/ledger/backup"
	jsonType                                     = "application/json"
)

type issued struct {
	Secret  string         `json:"secret"`
	Account *quota.Account `json:"account"` // nil when nothing was issued
	Reason  quota.Reason   `json:"reason"`  // with Faults, why
	Faults  []quota.Fault  `json:"faults"`
}

type listing struct {
	quota.Filter
	Limit int `json:"limit"`
}

// changed is what is to be changed of an account, by verb.
type changed struct {
	ID     quota.ID     `json:"id"`
	Status quota.Status `json:"status,omitzero"`
	Tier   string       `json:"tier"`
	Limit  uint64       `json:"limit"`
}
