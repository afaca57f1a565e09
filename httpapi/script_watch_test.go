package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// watch looks over all answers of a script together: counts fall by one a charged call, a tag
// stands for one body, no request id comes twice, and the log holds no secrets.
type watch struct {
	identities map[string]string // secret -> account, itself where that is unknown
	remaining  map[string]count  // account -> what its last answer said
	bodies     map[string][]byte // ETag -> body as sent
	ids        map[string]bool
	secrets    []string
}

type count struct {
	remaining, reset int64
	limit            string
}

func newWatch() *watch {
	return &watch{identities: map[string]string{}, remaining: map[string]count{}, bodies: map[string][]byte{}, ids: map[string]bool{}}
}

// secret names a text that must not be logged.
func (w *watch) secret(text string) { w.secrets = append(w.secrets, text) }

func (w *watch) see(a *answer) (faults []string) {
	id := a.header.Get("X-Request-Id")
	if w.ids[id] {
		faults = append(faults, "X-Request-Id "+id+" was used before")
	}
	w.ids[id] = true
	w.learn(a)
	return append(append(faults, w.count(a)...), w.body(a)...)
}

// learn takes the secrets an exchange holds.
func (w *watch) learn(a *answer) {
	var person struct{ Email string }
	if json.Unmarshal(a.asked.body, &person) == nil && len(person.Email) > 3 {
		w.secret(person.Email)
	}
	var issued struct {
		Data struct{ ID, Key string }
	}
	if json.Unmarshal(a.body, &issued) == nil && issued.Data.Key != "" {
		w.identities[issued.Data.Key] = issued.Data.ID
		w.secret(issued.Data.Key)
	}
}

// count holds X-RateLimit-Remaining to what the key's last answer said.
func (w *watch) count(a *answer) []string {
	_, secret, _ := strings.Cut(a.asked.header.Get("Authorization"), " ")
	secret = strings.TrimSpace(secret)
	rest, err := strconv.ParseInt(a.header.Get("X-RateLimit-Remaining"), 10, 64)
	if secret == "" || err != nil || a.status == http.StatusUnauthorized {
		return nil
	}
	who := w.identities[secret]
	if who == "" {
		who = secret
	}
	reset, _ := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64) // checked elsewhere
	was, known := w.remaining[who]
	w.remaining[who] = count{rest, reset, a.header.Get("X-RateLimit-Limit")}
	if !known || was.reset != reset || was.limit != w.remaining[who].limit { // a new month, another tier
		return nil
	}
	if strings.Contains(a.asked.path, "limit=all") {
		return nil // costs by its rows, which the scripts claim
	}
	want, word := was.remaining, "free"
	if a.isData() && (a.status == http.StatusOK || a.status == http.StatusNotFound) {
		want, word = was.remaining-1, "charged"
	}
	if a.status == http.StatusOK && strings.HasSuffix(a.asked.path, "/test") { // a message that was sent
		want, word = was.remaining-1, "charged"
	}
	if rest != want {
		return []string{fmt.Sprintf("X-RateLimit-Remaining is %d after a %s call, it was %d before", rest, word, was.remaining)}
	}
	return nil
}

// forget drops the counts: after a kill they may be lower than they were answered.
func (w *watch) forget() { w.remaining = map[string]count{} }

func (w *watch) body(a *answer) []string {
	tag := a.header.Get("ETag")
	if tag == "" || a.status != http.StatusOK || a.method == http.MethodHead {
		return nil
	}
	if was, seen := w.bodies[tag]; seen && !bytes.Equal(was, a.raw) {
		return []string{"ETag " + tag + " stood for another body before"}
	}
	w.bodies[tag] = a.raw
	return nil
}

// checkLog reads the log of the server: each line a JSON object, and nothing a caller wants
// kept from those who read logs.
func (w *watch) checkLog(log string) (faults []string) {
	for _, secret := range w.secrets {
		if strings.Contains(log, secret) {
			faults = append(faults, "holds "+secret)
		}
	}
	for line := range strings.Lines(log) {
		var entry struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Time == "" || entry.Level == "" || entry.Msg == "" {
			faults = append(faults, "a line is no JSON with time, level and msg: "+line)
		}
		if strings.Contains(line, "panic") || strings.Contains(line, "DATA RACE") {
			faults = append(faults, line)
		}
	}
	return faults
}
