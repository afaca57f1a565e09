package dataset

import (
	"errors"
	"fmt"
	"io/fs"

	jsonv2 "github.com/goccy/go-json/v2"

	"modeldex/dataset/record"
)

// acceptedFile lists warnings that a person looked at and found right. Only Check reads it.
const acceptedFile = "accepted.json"

type acceptance struct {
	Rule   string `json:"rule"`   // see Rules
	Record Slug   `json:"record"` // slug, or id of a benchmark
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// accepted leaves out the warnings that the dataset accepts. An entry without its warning is a finding, so that the
// list does not grow old.
func (found Findings) accepted(files fs.FS) Findings {
	list, broken := acceptances(files)
	if broken != nil {
		return append(found, *broken)
	}
	out := found[:0:0]
	used := map[acceptance]bool{}
	for _, f := range found {
		key := acceptance{Rule: f.Rule, Record: f.Record, Field: f.Field}
		if _, ok := list[key]; ok && f.Severity == Warning {
			used[key] = true
			continue
		}
		out = append(out, f)
	}
	for key := range list {
		if !used[key] {
			out = append(out, Finding{
				Path: acceptedFile, Field: string(key.Record), Severity: Warning, Rule: "accepted",
				Text: fmt.Sprintf("accepts a warning of %s about %s that there is not: remove the entry", key.Rule, key.Field),
			})
		}
	}
	out.sort()
	return out
}

// acceptances reads the list, by entry without its reason. A warning says what is wrong with it.
func acceptances(files fs.FS) (map[acceptance]string, *Finding) {
	b, err := fs.ReadFile(files, acceptedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		broken := unreadable(acceptedFile, err)
		broken.Severity = Warning
		return nil, &broken
	}
	var entries []acceptance
	if err := jsonv2.Unmarshal(b, &entries, jsonv2.RejectUnknownMembers(true)); err != nil {
		p := record.Explain(b, err)
		return nil, &Finding{Path: acceptedFile, Field: p.Field, Text: p.Text, Severity: Warning}
	}
	out := map[acceptance]string{}
	for i, a := range entries {
		if a.Reason == "" {
			return nil, &Finding{Path: acceptedFile, Field: fmt.Sprintf("%d.reason", i), Text: "must say why the warning is accepted", Severity: Warning}
		}
		out[acceptance{a.Rule, a.Record, a.Field, ""}] = a.Reason
	}
	return out, nil
}
