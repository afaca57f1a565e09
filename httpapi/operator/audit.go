package operator

import (
	"context"
	"log/slog"

	"modeldex/quota"
)

// Audit writes a line to the log for each change of a key and each copy of the ledger. A line has ids and tiers, and
// never a name, an e-mail address or a secret.
type Audit struct {
	Log *slog.Logger
	// By says how the change was asked for, such as "admin socket".
	By string
}

// Keys returns keys whose changes are logged.
func (a Audit) Keys(keys Keys) Keys { return auditedKeys{keys, a} }

// Ledger returns a ledger whose copies are logged.
func (a Audit) Ledger(ledger Ledger) Ledger { return auditedLedger{ledger, a} }

type auditedKeys struct {
	Keys
	audit Audit
}

func (k auditedKeys) log(what string, id quota.ID, err error) {
	if err == nil {
		k.audit.Log.Info(what, "id", id.String(), "by", k.audit.By)
	}
}

// Issue implements Keys.
func (k auditedKeys) Issue(ctx context.Context, req quota.IssueRequest) (quota.IssuedKey, quota.Refusal, error) {
	issued, refusal, err := k.Keys.Issue(ctx, req)
	if a := &issued.Account; err == nil && refusal.Reason == 0 {
		k.audit.Log.Info("key issued", "id", a.ID.String(), "tier", a.Tier, "limit", a.Limit, "by", k.audit.By)
	}
	return issued, refusal, err
}

// Suspend implements Keys.
func (k auditedKeys) Suspend(ctx context.Context, id quota.ID) (quota.Account, error) {
	account, err := k.Keys.Suspend(ctx, id)
	k.log("key suspended", id, err)
	return account, err
}

// Resume implements Keys.
func (k auditedKeys) Resume(ctx context.Context, id quota.ID) (quota.Account, error) {
	account, err := k.Keys.Resume(ctx, id)
	k.log("key resumed", id, err)
	return account, err
}

// Revoke implements Keys.
func (k auditedKeys) Revoke(ctx context.Context, id quota.ID) (quota.Account, error) {
	account, err := k.Keys.Revoke(ctx, id)
	k.log("key revoked", id, err)
	return account, err
}

// Erase implements Keys.
func (k auditedKeys) Erase(ctx context.Context, id quota.ID) (quota.Account, error) {
	account, err := k.Keys.Erase(ctx, id)
	k.log("key erased", id, err)
	return account, err
}

// SetTier implements Keys.
func (k auditedKeys) SetTier(ctx context.Context, id quota.ID, tier string, limit uint64) (quota.Account, error) {
	var before quota.Account
	if found, err := k.Find(ctx, id.String()); err == nil && len(found) == 1 {
		before = found[0]
	}
	account, err := k.Keys.SetTier(ctx, id, tier, limit)
	if err == nil {
		k.audit.Log.Info("tier of key set", "id", id.String(), "old_tier", before.Tier, "old_limit", before.Limit, "tier", account.Tier, "limit", account.Limit, "by", k.audit.By)
	}
	return account, err
}

type auditedLedger struct {
	Ledger
	audit Audit
}

// BackupFile implements Ledger.
func (l auditedLedger) BackupFile(ctx context.Context, path string) (int64, error) {
	n, err := l.Ledger.BackupFile(ctx, path)
	if err == nil {
		l.audit.Log.Info("ledger backed up", "path", path, "bytes", n, "by", l.audit.By)
	}
	return n, err
}
