package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"modeldex/quota"
)

// secretPrefix is what signing secrets begin with, by the Standard Webhooks specification
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md), as
// are the names of the headers and the form of a signature.
const secretPrefix = "whsec_"

// secretLen is the length of a signing secret in bytes; the specification asks for 24 to 64.
const secretLen = 32

// maxSecrets is how many secrets sign at a time: the current one and those in their grace.
const maxSecrets = 3

func newSecret() []byte {
	b := make([]byte, secretLen)
	_, _ = rand.Read(b) // never fails, says its documentation
	return b
}

// formatSecret is the form in which an owner gets a secret.
func formatSecret(secret []byte) string {
	return secretPrefix + base64.StdEncoding.EncodeToString(secret)
}

// signatures is the value of webhook-signature: one for each secret that signs at now, separated by
// spaces.
func signatures(secrets []quota.HookSecret, id string, now int64, b *body) string {
	var out []string
	for _, s := range secrets {
		if s.Until != 0 && now >= s.Until {
			continue
		}
		mac := hmac.New(sha256.New, s.Secret)
		mac.Write([]byte(id + "." + strconv.FormatInt(now, 10) + "."))
		mac.Write(b.head)
		mac.Write(b.records)
		mac.Write(b.tail)
		out = append(out, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(out, " ")
}

// rotated puts a new secret before the others; the one that was current goes on until then.
func rotated(old []quota.HookSecret, secret []byte, now, until int64) []quota.HookSecret {
	out := []quota.HookSecret{{Secret: secret}}
	for _, s := range old {
		if s.Until == 0 {
			s.Until = until
		}
		if s.Until > now && len(out) < maxSecrets {
			out = append(out, s)
		}
	}
	return out
}
