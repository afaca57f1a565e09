package record

import "testing"

func TestConditionOf(t *testing.T) {
	for _, tt := range []struct {
		text string
		want PriceCondition
		ok   bool
	}{
		{"new", "new", true},
		{"used, asked on eBay", "used", true},
		{"not stated, one shop's listing", "not stated", true},
		{"mixed", "mixed", true},
		{"", "", false},
		{"New", "New", false},
		{"newest", "newest", false},
		{"mean of 5 used", "mean of 5 used", false},
	} {
		if got, ok := ConditionOf(tt.text); got != tt.want || ok != tt.ok {
			t.Errorf("ConditionOf(%q) = %q, %v, want %q, %v", tt.text, got, ok, tt.want, tt.ok)
		}
	}
}
