package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var reported = Findings{
	{Path: "hardware/a,b.json", Line: 4, Col: 13, Field: "vendor", Text: "must be one of nvidia, amd, got \"100%\"\nx"},
	{Path: "benchmarks/2026.ndjson", Line: 7, Text: "not JSON"},
	{Path: "tools", Text: "the folder is missing"},
	{Path: "benchmarks/2026.ndjson", Line: 9, Col: 1, Field: "generation_tps", Text: "is near", Severity: Warning},
}

func TestReport(t *testing.T) {
	for form, want := range map[string]string{
		"text": "hardware/a,b.json:4:13: vendor: must be one of nvidia, amd, got \"100%\"\\u000ax\n" +
			"benchmarks/2026.ndjson:7: not JSON\n" +
			"tools: the folder is missing\n" +
			"benchmarks/2026.ndjson:9:1: warning: generation_tps: is near\n",
		"github": "::error file=hardware/a%2Cb.json,line=4,col=13::vendor: must be one of nvidia, amd, got \"100%25\"\\u000ax\n" +
			"::error file=benchmarks/2026.ndjson,line=7::not JSON\n" +
			"::error file=tools::the folder is missing\n" +
			"::warning file=benchmarks/2026.ndjson,line=9,col=1::generation_tps: is near\n",
	} {
		var out bytes.Buffer
		if err := reported.Report(&out, form); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("Report(%s) (-want +got):\n%s", form, diff)
		}
	}
}

func TestReportJSON(t *testing.T) {
	var out bytes.Buffer
	if err := reported.Report(&out, "json"); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Findings         []map[string]any
		Errors, Warnings int
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"path": "benchmarks/2026.ndjson", "line": 9.0, "col": 1.0, "field": "generation_tps", "text": "is near", "severity": "warning", "rule": "", "record": ""}
	if diff := cmp.Diff(want, got.Findings[3]); diff != "" || got.Errors != 3 || got.Warnings != 1 {
		t.Errorf("%d errors, %d warnings, last finding (-want +got):\n%s", got.Errors, got.Warnings, diff)
	}
	out.Reset()
	if err := (Findings{}).Report(&out, "json"); err != nil || out.String() != `{"findings":[],"errors":0,"warnings":0}`+"\n" {
		t.Errorf("Report of nothing = %s, %v", out.String(), err)
	}
}

func TestReportRefused(t *testing.T) {
	if err := reported.Report(&bytes.Buffer{}, "xml"); err == nil || !strings.Contains(err.Error(), `must be one of text, json, github, got "xml"`) {
		t.Errorf("Report(xml) = %v", err)
	}
	for _, form := range reportForms {
		if err := reported.Report(fullDisk{}, form); !errors.Is(err, errFull) {
			t.Errorf("Report(%s) to a full disk = %v", form, err)
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left on device")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestUnder(t *testing.T) {
	got := reported.Under("data")
	if got[2].Path != "data/tools" || reported[2].Path != "tools" {
		t.Errorf("Under gave %q and left %q", got[2].Path, reported[2].Path)
	}
}
