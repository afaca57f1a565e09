package verbs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"modeldex/dataset/record"
	"modeldex/dataset/verbs"
	"modeldex/httpapi/operator"
	"modeldex/quota"
)

// KeysIssue issues a key.
type KeysIssue struct {
	Operator
	Name    *string `required:"" help:"Short description of what the key is for." placeholder:"TEXT"`
	Email   *string `required:"" help:"E-mail address of the owner." placeholder:"ADDRESS"`
	UseCase *string `required:"" help:"What the key will be used for." placeholder:"TEXT"`
	Tier    string  `default:"free" help:"Tier of the key."`
	Limit   uint64  `help:"Calls per month for this key, instead of the number in its tier." placeholder:"CALLS"`
}

func (c *KeysIssue) request() quota.IssueRequest {
	return quota.IssueRequest{Name: *c.Name, Email: *c.Email, UseCase: *c.UseCase, Tier: c.Tier, Limit: c.Limit, Unlimited: true}
}

// Validate checks the values before any work. Kong reports missing flags.
func (c *KeysIssue) Validate() error {
	err := errors.Join(c.Operator.Validate(), notEmpty("--name", c.Name, ""), notEmpty("--email", c.Email, ""), notEmpty("--use-case", c.UseCase, ""))
	if err != nil || c.Name == nil || c.Email == nil || c.UseCase == nil {
		return err
	}
	if faults := quota.ValidateIssue(c.request()); len(faults) > 0 {
		return operator.RefusalError(quota.Refusal{Reason: quota.InvalidRequest, Faults: faults})
	}
	return nil
}

// Run prints the key alone on standard output, so that a script can keep it. The ledger is created if it is missing.
func (c *KeysIssue) Run(env *verbs.Env) error {
	return c.place().With(context.Background(), quota.Options{}, func(ctx context.Context, keys operator.Keys) error {
		issued, refusal, err := keys.Issue(ctx, c.request())
		if err != nil {
			return ofTier("--tier", err)
		}
		if refusal.Reason != 0 {
			return operator.RefusalError(refusal)
		}
		if c.JSON() {
			return env.PrintJSON(struct {
				Key string `json:"key"`
				quota.Account
			}{issued.Secret.Reveal(), issued.Account})
		}
		fmt.Fprintln(env.Stdout, issued.Secret.Reveal())
		fmt.Fprintf(env.Stderr, "key %s, tier %s, %s per month; save it, it is shown only once\n", issued.Account.ID, issued.Account.Tier, record.Counted(issued.Account.Limit, "call"))
		return nil
	})
}

// ofTier names the flag or argument of a tier that does not exist.
func ofTier(name string, err error) error {
	if e, ok := errors.AsType[*quota.UnknownTierError](err); ok {
		return fmt.Errorf("%s: %s", name, e.Rule)
	}
	return err
}

// KeysList lists keys, oldest first.
type KeysList struct {
	Operator
	Status string `help:"Only keys with this status: active, suspended or revoked." placeholder:"STATUS" enum:"active,suspended,revoked," default:""`
	Tier   string `help:"Only keys in this tier." placeholder:"NAME"`
	Email  string `help:"Only keys with this e-mail address." placeholder:"ADDRESS"`
	Limit  int    `help:"Maximum number of keys to list; 0 lists all." placeholder:"N"`
}

// Validate checks what can be checked before any work.
func (c *KeysList) Validate() error {
	err := c.Operator.Validate()
	if c.Limit < 0 {
		err = errors.Join(err, fmt.Errorf("--limit: must be at least 0, got %d", c.Limit))
	}
	return err
}

// Run lists keys.
func (c *KeysList) Run(env *verbs.Env) error {
	filter := quota.Filter{Email: c.Email, Tier: c.Tier}
	if c.Status != "" {
		if err := filter.Status.UnmarshalText([]byte(c.Status)); err != nil {
			return err
		}
	}
	return c.with(func(ctx context.Context, keys operator.Keys) error {
		accounts, err := keys.List(ctx, filter, c.Limit)
		if err != nil {
			return ofTier("--tier", err)
		}
		return c.print(env, accounts...)
	})
}

// notEmpty checks a required argument or flag. Kong reports a missing one (nil).
func notEmpty(name string, value *string, advice string) error {
	if value == nil || strings.TrimSpace(*value) != "" {
		return nil
	}
	return fmt.Errorf("%s: must not be empty%s", name, advice)
}

const nameKey = "; name a key by id, hint or e-mail address"

// KeysShow shows keys.
type KeysShow struct {
	Operator
	Key *string `arg:"" help:"Id, hint or e-mail address."`
}

// Validate rejects an empty name of a key.
func (c *KeysShow) Validate() error {
	return errors.Join(c.Operator.Validate(), notEmpty("<key>", c.Key, nameKey))
}

// Run shows keys and the calls of their months.
func (c *KeysShow) Run(env *verbs.Env) error {
	return c.with(func(ctx context.Context, keys operator.Keys) error {
		accounts, err := operator.Find(ctx, keys, *c.Key)
		if err != nil {
			return err
		}
		if err := c.print(env, accounts...); err != nil || c.JSON() {
			return err
		}
		for _, a := range accounts {
			usage, err := keys.Usage(ctx, a.ID)
			if err != nil {
				return err
			}
			for _, m := range usage {
				fmt.Fprintf(env.Stdout, "%s  %s  %s\n", a.ID, m.Month, record.Counted(m.Calls, "call"))
			}
		}
		return nil
	})
}

// keyChange are the flags of verbs that change one key.
type keyChange struct {
	Operator
	Key *string `arg:"" help:"Id, hint or e-mail address; it must match exactly one key."`
}

// Validate rejects an empty name of a key.
func (c *keyChange) Validate() error {
	return errors.Join(c.Operator.Validate(), notEmpty("<key>", c.Key, nameKey))
}

// change does what a verb says to the one key that was named, prints the result, and says on standard error what
// happened; a server that did it has that in its log too.
func (c *keyChange) change(env *verbs.Env, act func(keys operator.Keys, ctx context.Context, id quota.ID) (quota.Account, error), said func(before, after *quota.Account) string) error {
	return c.with(func(ctx context.Context, keys operator.Keys) error {
		before, err := operator.FindOne(ctx, keys, *c.Key)
		if err != nil {
			return err
		}
		after, err := act(keys, ctx, before.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Stderr, "key %s %s\n", after.ID, said(&before, &after))
		return c.print(env, after)
	})
}

// KeysChange suspends, resumes, revokes or erases a key.
type KeysChange struct {
	keyChange
	To string `hidden:"" default:"${change}"`
}

// Run changes the key.
func (c *KeysChange) Run(env *verbs.Env) error {
	status := map[string]quota.Status{"suspended": quota.StatusSuspended, "resumed": quota.StatusActive, "revoked": quota.StatusRevoked}
	return c.change(env, func(keys operator.Keys, ctx context.Context, id quota.ID) (quota.Account, error) {
		if to, known := status[c.To]; known {
			return keys.SetStatus(ctx, id, to)
		}
		return keys.Erase(ctx, id)
	}, func(_, _ *quota.Account) string { return c.To })
}

// KeysTier moves a key to another tier.
type KeysTier struct {
	keyChange
	Tier  string `arg:"" help:"Tier of the key."`
	Limit uint64 `help:"Calls per month for this key, instead of the number in its tier." placeholder:"CALLS"`
}

// Run moves the key.
func (c *KeysTier) Run(env *verbs.Env) error {
	err := c.change(env, func(keys operator.Keys, ctx context.Context, id quota.ID) (quota.Account, error) {
		return keys.SetTier(ctx, id, c.Tier, c.Limit)
	}, func(before, after *quota.Account) string {
		return fmt.Sprintf("moved from tier %s, %s per month, to %s, %s per month", before.Tier, record.Counted(before.Limit, "call"), after.Tier, record.Counted(after.Limit, "call"))
	})
	return ofTier("<tier>", err)
}
