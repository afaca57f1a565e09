package snapshot

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	before, _ := mustBuild(t, smallInputs())
	after, _ := mustBuild(t, smallInputs(func(in *Inputs) {
		in.Aliases[1].Form = baseForm                            // beta
		in.Captures[SourceA].Rows[2].ModelRaw = "somebody"       // nobody-knows
		*in.Captures[SourceC].Rows[0].Value = 51                 // alpha
		in.Aliases[2].Names[0] = aliasName{"bench", "x", "", ""} // gamma
		in.Aliases[2].ModelKey, in.Aliases[2].DisplayName = "x", "x"
	}))
	d := Diff(mustRead(t, before), mustRead(t, after))
	find := func(key string) change {
		i := slices.IndexFunc(d.Changes, func(c change) bool { return c.ModelKey == key })
		if i < 0 {
			t.Fatalf("no change of %s in %+v", key, d.Changes)
		}
		return d.Changes[i]
	}
	for key, kind := range map[string]string{"alpha-7b-instruct": "moved", "beta": "unscored", "nobody-knows": "removed", "somebody": "new"} {
		if c := find(key); c.Kind != kind {
			t.Errorf("change of %s = %+v, want %s", key, c, kind)
		}
	}
	if c := find("alpha-7b-instruct"); c.By == nil || *c.By != round4(*c.After-*c.Before) {
		t.Errorf("alpha moved by %v from %v to %v", c.By, *c.Before, *c.After)
	}
	var out bytes.Buffer
	if _, err := d.WriteTo(&out); err != nil || !strings.Contains(out.String(), "new somebody: none to ") {
		t.Errorf("WriteTo = %v:\n%s", err, out.String())
	}
	if same := Diff(mustRead(t, before), mustRead(t, before)); len(same.Changes) != 0 || same.Rules {
		t.Errorf("Diff of one document = %+v, want nothing", same)
	}
}

func TestSpearman(t *testing.T) {
	tests := []struct {
		name string
		a, b []float64
		want float64
	}{
		{"same order", []float64{1, 2, 3, 4}, []float64{10, 20, 30, 400}, 1},
		{"turned", []float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, -1},
		{"ties share a rank", []float64{1, 2, 2, 3}, []float64{1, 3, 2, 4}, 0.9486832980505138},
	}
	for _, tt := range tests {
		if got := spearman(tt.a, tt.b); got < tt.want-1e-12 || got > tt.want+1e-12 {
			t.Errorf("%s: spearman = %v, want %v", tt.name, got, tt.want)
		}
	}
}
