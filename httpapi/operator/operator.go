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
