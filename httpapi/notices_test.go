package httpapi

import (
	"math/rand/v2"
	"testing"

	jsonv2 "github.com/goccy/go-json/v2"
)

// TestNoticesLikeLibrary writes random notices, with members left out and texts that need escapes, and compares them with
// what the JSON library makes of them.
func TestNoticesLikeLibrary(t *testing.T) {
	const seed = 20261122
	r := rand.New(rand.NewPCG(seed, 0))
	texts := []string{"", "null_excluded", `"quoted" \\ back`, "<b>&amp;</b>", "line\nend\ttab", "\u2028\u2029\x00\x7f", "Grüße, 世界 \U0001F600", "generation_tps"}
	text := func() string { return texts[r.IntN(len(texts))] }
	maybe := func() *string {
		if r.IntN(2) == 0 {
			return nil
		}
		v := text()
		return &v
	}
	for round := range 3000 {
		notices := make([]Notice, 1+r.IntN(3))
		for i := range notices {
			n := Notice{Code: text(), Parameter: text(), Detail: text(), Value: maybe(), Slug: maybe()}
			for range r.IntN(4) {
				n.Suggestions = append(n.Suggestions, text())
			}
			if r.IntN(2) == 0 {
				count := r.IntN(100_000) - 10
				n.Count = &count
			}
			for range r.IntN(3) {
				n.Settings = append(n.Settings, SettingCount{text(), text(), r.IntN(100_000)})
			}
			notices[i] = n
		}
		want, err := jsonv2.Marshal(notices)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendNotices(nil, notices); string(got) != string(want) {
			t.Fatalf("seed %d, round %d: got\n%s\nwant\n%s", seed, round, got, want)
		}
	}
	if got := appendNotices(nil, nil); string(got) != "[]" {
		t.Errorf("no notices are %s, want []", got)
	}
}
