package quota

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// normalEmail is the form in which addresses are stored and shown: that in which they were given, in lower case.
func normalEmail(email string) string { return strings.ToLower(email) }

// matchEmail is the form in which addresses are compared: Unicode's compatibility form and full case folding (NFKC,
// Unicode 3.13), and the domain as IDNA writes it. Mail to two addresses with one such form reaches, at nearly every
// provider, one mailbox. With plusTags everything from the first + of the local part is left out, which many providers
// deliver to the same mailbox, but not all.
func matchEmail(email string, plusTags bool) string {
	at := strings.LastIndexByte(email, '@')
	if at < 0 {
		return normalEmail(email)
	}
	local, domain := foldText(email[:at]), foldText(email[at+1:])
	if before, _, tagged := strings.Cut(local, "+"); plusTags && tagged && before != "" {
		local = before
	}
	if ascii, err := idna.New(idna.MapForLookup(), idna.Transitional(false)).ToASCII(domain); err == nil {
		domain = ascii
	}
	return local + "@" + domain
}

// foldText folds twice: folding case can leave a text that is no longer in the compatibility form.
func foldText(s string) string {
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
}

func newPerson(req IssueRequest, plusTags bool) Person {
	p := Person{Name: req.Name, Email: normalEmail(req.Email), UseCase: req.UseCase}
	if match := matchEmail(req.Email, plusTags); match != p.Email {
		p.Match = match
	}
	return p
}

const emailHashLen = 16

// emailKey is the prefix of the keys that list the accounts of one form of an address. It is hashed
// so that the file has it in clear only once, beside the other things that erasing removes.
func emailKey(form string) []byte {
	sum := sha256.Sum256([]byte(form))
	return sum[:emailHashLen:emailHashLen]
}

// AddressKey is the hash under which a store lists the accounts of p's address: 16 bytes, the same
// for all spellings of one address.
func (p Person) AddressKey() []byte {
	if p.Match != "" {
		return emailKey(p.Match)
	}
	return emailKey(normalEmail(p.Email))
}

// CountedKeys are the hashes of the lists whose accounts count for p's address: its own, and that of ledgers that
// compared addresses by letter case alone.
func (p Person) CountedKeys() [][]byte {
	return distinct(p.AddressKey(), emailKey(normalEmail(p.Email)))
}

// AddressKeys are the hashes of the lists that may have accounts of an address, and of others; see SameAddress. Ledgers
// that knew only lower case, and those with plus tags or without, list it under different forms.
func AddressKeys(email string) [][]byte {
	return distinct(emailKey(matchEmail(email, false)), emailKey(normalEmail(email)), emailKey(matchEmail(email, true)))
}

func distinct(keys ...[]byte) [][]byte {
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}

// SameAddress reports whether mail systems take two addresses for one; plus tags tell them apart.
func SameAddress(a, b string) bool { return matchEmail(a, false) == matchEmail(b, false) }
