package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"modeldex/quota"
)

// secretForm is what keys look like, under any prefix.
var secretForm = regexp.MustCompile(`^[0-9A-Za-z_]+_[0-9A-Za-z]{36}$`)

// Find returns the accounts that text means by id, hint or e-mail address, at least one. A text
// that is a key itself is an error: others can read it in the list of processes.
func Find(ctx context.Context, keys Keys, text string) ([]quota.Account, error) {
	if secretForm.MatchString(text) {
		return nil, errors.New("this is the key itself, and other users can see it in the process list: rotate it, and name it by id, hint or e-mail address")
	}
	accounts, err := keys.Find(ctx, text)
	if err == nil && len(accounts) == 0 {
		err = fmt.Errorf("no key has the id, hint or e-mail address %q", text)
	}
	return accounts, err
}

// FindOne returns the one account that text means; several are an error.
func FindOne(ctx context.Context, keys Keys, text string) (quota.Account, error) {
	accounts, err := Find(ctx, keys, text)
	switch {
	case err != nil:
		return quota.Account{}, err
	case len(accounts) > 1:
		return quota.Account{}, fmt.Errorf("%d keys have the hint or e-mail address %q; name one by its id", len(accounts), text)
	}
	return accounts[0], nil
}

// RefusalError says in one line why no key was issued.
func RefusalError(r quota.Refusal) error {
	faults := make([]string, len(r.Faults))
	for i, f := range r.Faults {
		faults[i] = f.Field + " " + f.Detail
	}
	return fmt.Errorf("no key issued: %s", strings.Join(faults, "; "))
}

// WriteTable writes accounts as a table for people, one row per account. Names are the text of
// the account's owner: they are quoted, so that nothing in one looks like a row or another column.
func WriteTable(w io.Writer, accounts []quota.Account) error {
	table := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tHINT\tSTATUS\tTIER\tUSED\tLIMIT\tNAME\tEMAIL\tCREATED")
	for _, a := range accounts {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\n", a.ID, a.Hint, a.Status, a.Tier, a.Used, a.Limit, strconv.Quote(a.Name), quoteUnlessPlain(a.Email), a.CreatedAt.Format(time.DateOnly))
	}
	return table.Flush()
}

// quoteUnlessPlain quotes a text that has a character which a terminal would not show as itself.
func quoteUnlessPlain(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == '"' }) {
		return strconv.Quote(s)
	}
	return s
}
