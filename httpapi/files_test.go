package httpapi

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"modeldex/httpapi/connections"
	"modeldex/httpapi/export"
	"modeldex/httpapi/rowjson"
	"modeldex/quota"

	"github.com/parquet-go/parquet-go"
)

// fileViews are lists whose files must be what their JSON is. None has more rows than a page.
var fileViews = []string{
	"/api/v1/models?limit=200&family=llama",
	"/api/v1/models?limit=200&sort=-params_b",
	"/api/v1/models?limit=50&fields=name,architecture,kv_cache.num_kv_heads,modalities",
	"/api/v1/models?limit=50&fits=nvidia-rtx-4090&context=8192",
	"/api/v1/hardware?limit=200",
	"/api/v1/hardware?limit=100&runs=llama-3.1-8b-instruct&fields=name,vendor",
	"/api/v1/tools?limit=200",
	"/api/v1/benchmarks?limit=500",
	"/api/v1/benchmarks?limit=500&sort=generation_tps&fields=model,generation_tps,run_date",
	"/api/v1/benchmarks?limit=100&scenario=offline,server",
	"/api/v1/benchmarks/stats?limit=500&group_by=hardware,quantization&settings=all",
	"/api/v1/benchmarks/stats?limit=100&group_by=model&sort=-median",
}

// TestFilesAreTheList: NDJSON has the bytes of the list; CSV and Parquet have a column for every
// member and the same values in it.
func TestFilesAreTheList(t *testing.T) {
	s := shippedService(t)
	for _, path := range fileViews {
		rows := s.list(t, path).Data
		if len(rows) == 0 {
			t.Errorf("GET %s: no rows", path)
			continue
		}
		want := bytes.Join(rawRows(rows), []byte("\n"))
		if got := bytes.TrimSuffix(s.file(t, path, export.NDJSON), []byte("\n")); !bytes.Equal(got, want) {
			t.Errorf("GET %s: NDJSON has other rows than JSON", path)
		}
		table, err := csv.NewReader(bytes.NewReader(s.file(t, path, export.CSV))).ReadAll()
		if err != nil || len(table) != len(rows)+1 {
			t.Errorf("GET %s: CSV: %d lines, %v", path, len(table), err)
			continue
		}
		columns := parquetColumns(t, s.file(t, path, export.Parquet))
		for i, row := range rows {
			cells := map[string]string{}
			for j, name := range table[0] {
				cells[name] = table[i+1][j]
			}
			checkCells(t, path, "", row, cells, columns, i)
		}
		if len(columns) != len(table[0]) {
			t.Errorf("GET %s: Parquet has %d columns, CSV %d", path, len(columns), len(table[0]))
		}
	}
}

// checkCells compares the members of a row, nested ones with dotted names, with the cells of CSV and
// the columns of Parquet. Null members of objects need not have a column of their own.
func checkCells(t *testing.T, path, prefix string, object json.RawMessage, cells map[string]string, columns map[string][]string, i int) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		t.Fatal(err)
	}
	for name, value := range members {
		name = prefix + name
		cell, found := cells[name]
		if !found {
			if value[0] == '{' {
				checkCells(t, path, name+".", value, cells, columns, i)
			} else if string(value) != "null" {
				t.Errorf("GET %s: no column for %s", path, name)
			}
			continue
		}
		text := cellText(t, value)
		if unquoted := strings.TrimPrefix(cell, "'"); cell != text && unquoted != text {
			t.Errorf("GET %s: row %d: %s is %q in CSV, want %q", path, i, name, cell, text)
		}
		if got := columns[name]; len(got) <= i || value[0] != '[' && value[0] != '{' && !sameText(got[i], text) {
			t.Errorf("GET %s: row %d: %s is another value in Parquet, want %q", path, i, name, text)
		}
	}
}

// sameText compares numbers as numbers: Parquet has 64-bit floats.
func sameText(a, b string) bool {
	var x, y float64
	if json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil {
		return x == y
	}
	return a == b
}

// cellText is a JSON value as CSV has it: null is empty, texts have no quotes.
func cellText(t *testing.T, value json.RawMessage) string {
	t.Helper()
	switch value[0] {
	case 'n':
		return ""
	case '"':
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(text, "\r\n", "\n")
	default:
		return string(value)
	}
}

func rawRows(rows []json.RawMessage) [][]byte {
	out := make([][]byte, len(rows))
	for i, r := range rows {
		out[i] = r
	}
	return out
}

func (s *service) file(t *testing.T, path string, f export.Format) []byte {
	t.Helper()
	a := s.ask(t, "GET", path+"&format="+f.String())
	if a.status != http.StatusOK {
		t.Fatalf("GET %s as %s: status %d: %s", path, f, a.status, a.body)
	}
	return a.body
}

// parquetColumns reads the values of each column as texts, empty for null, lists as their first value.
func parquetColumns(t *testing.T, file []byte) map[string][]string {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buffer := make([]parquet.Row, group.NumRows())
		n, _ := rows.ReadRows(buffer) // fewer rows than said fail below
		if int64(n) != group.NumRows() {
			t.Fatalf("%d rows were read of %d", n, group.NumRows())
		}
		for _, row := range buffer {
			row.Range(func(i int, values []parquet.Value) bool {
				text := ""
				if v := values[0]; !v.IsNull() {
					text = v.String()
				}
				name := f.Schema().Fields()[i].Name()
				out[name] = append(out[name], text)
				return true
			})
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestCompleteIsAllPages: limit=all has the rows of all pages, in their order, and costs one call per started 500.
func TestCompleteIsAllPages(t *testing.T) {
	s := shippedService(t)
	s.pay(t)
	for _, path := range []string{"/api/v1/hardware?vendor=amd", "/api/v1/benchmarks?tool=llama.cpp&sort=-generation_tps", "/api/v1/models?q=qwen&fields=name"} {
		first, after := s.ask(t, "GET", path), ""
		complete := s.ask(t, "GET", path+"&format=ndjson&limit=all")
		var rows []string
		for next := path + "&limit=200&format=ndjson"; next != ""; next = after {
			page := s.ask(t, "GET", next)
			rows = append(rows, strings.Split(strings.TrimSuffix(string(page.body), "\n"), "\n")...)
			after = linkOf(page.header.Get("Link"))
		}
		if got := strings.Split(strings.TrimSuffix(string(complete.body), "\n"), "\n"); !slices.Equal(got, rows) {
			t.Errorf("GET %s: %d rows with limit=all, %d on all pages", path, len(got), len(rows))
		}
		cost := remainingOf(t, first) - remainingOf(t, complete)
		if want := int64(len(rows)+499) / 500; cost != want {
			t.Errorf("GET %s: %d rows cost %d calls, want %d", path, len(rows), cost, want)
		}
	}
}

func linkOf(header string) string {
	address, _, _ := strings.Cut(strings.TrimPrefix(header, "<"), ">")
	return address
}

func remainingOf(t *testing.T, a *answer) (n int64) {
	t.Helper()
	if _, err := fmt.Sscan(a.header.Get("X-RateLimit-Remaining"), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// duckDB is the folder in which npm has installed @duckdb/node-api. MODELDEX_REQUIRE_DUCKDB=1 makes
// it a failure that there is none.
func duckDB(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MODELDEX_DUCKDB")
	if dir == "" {
		if os.Getenv("MODELDEX_REQUIRE_DUCKDB") == "1" {
			t.Fatal("MODELDEX_DUCKDB names no folder with @duckdb/node-api, and MODELDEX_REQUIRE_DUCKDB=1")
		}
		t.Skip("MODELDEX_DUCKDB names no folder with @duckdb/node-api, so DuckDB does not read the files")
	}
	return dir
}

// TestDuckDB: DuckDB reads every file, and counts, sums and medians are those of the API.
func TestDuckDB(t *testing.T) {
	dir := duckDB(t)
	shipped := mustShipped(t)
	s := newService(t, shipped.live)
	s.pay(t)
	files := t.TempDir()
	keep := func(name string, body []byte) {
		if err := os.WriteFile(filepath.Join(files, name), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []export.Format{export.CSV, export.NDJSON, export.Parquet} {
		keep("list."+f.String(), s.ask(t, "GET", "/api/v1/benchmarks?settings=single_stream&limit=all&format="+f.String()).body)
		keep("models."+f.String(), s.ask(t, "GET", "/api/v1/models?limit=all&format="+f.String()).body)
		keep("groups."+f.String(), s.ask(t, "GET", "/api/v1/benchmarks/stats?group_by=hardware&limit=500&format="+f.String()).body)
	}
	sources, err := os.ReadFile("../data/sources.json")
	if err != nil {
		t.Fatal(err)
	}
	keep("sources.json", sources)
	cfg := s.cfg
	cfg.Files = os.DirFS("../data")
	dump, err := export.Build(context.Background(), dumpSources(&cfg, shipped.live.Current()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range dump.Files {
		body := make([]byte, f.Size)
		if _, err := f.Section(0, f.Size).Read(body); err != nil {
			t.Fatal(err)
		}
		keep("dump-"+f.Name, body)
	}
	script, err := filepath.Abs("testdata/duckdb.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", script, dir, files)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("asking DuckDB: %v\n%s", err, out)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	compareDuckDB(t, s, got)
}

// compareDuckDB holds what DuckDB says of the files to what the API says.
func compareDuckDB(t *testing.T, s *service, got map[string]json.RawMessage) {
	t.Helper()
	type groups map[string]struct {
		N        int
		Min, Max float64
		Median   float64
	}
	want := groups{}
	for _, raw := range s.list(t, "/api/v1/benchmarks/stats?group_by=hardware&limit=500").Data {
		var g struct {
			Group            struct{ Hardware string }
			N                int
			Min, Max, Median float64
		}
		if err := json.Unmarshal(raw, &g); err != nil {
			t.Fatal(err)
		}
		want[g.Group.Hardware] = groups{"": {g.N, g.Min, g.Max, g.Median}}[""]
	}
	gen := s.cfg.Live.Current()
	for _, f := range []string{"csv", "ndjson", "parquet"} {
		var have groups
		if err := json.Unmarshal(got["groups of list."+f], &have); err != nil {
			t.Fatalf("groups of list.%s: %v", f, err)
		}
		if len(have) != len(want) {
			t.Errorf("list.%s has %d groups, the API %d", f, len(have), len(want))
		}
		for name, g := range want {
			if h := have[name]; h.N != g.N || h.Min != g.Min || h.Max != g.Max || rowjson.Sure(strconv.ParseFloat(strconv.FormatFloat(h.Median, 'g', 12, 64), 64)) != g.Median {
				t.Errorf("list.%s: %s has %+v, the API %+v", f, name, h, g)
			}
		}
		for name, count := range map[string]int{
			"models." + f: gen.Models.Len(), "groups." + f: len(want),
			"dump benchmarks " + f: gen.Benchmarks.Len(),
			"dump models " + f:     gen.Models.Len(), "dump hardware " + f: gen.Hardware.Len(), "dump tools " + f: gen.Tools.Len(),
		} {
			if have := string(got["count of "+name]); have != fmt.Sprint(count) {
				t.Errorf("%s: DuckDB counts %s rows, the API has %d", name, have, count)
			}
		}
	}
	sum := 0.0
	for ord := range uint32(gen.Models.Len()) {
		if v := gen.Models.Number("params_b", ord); v == v {
			sum += v
		}
	}
	for _, f := range []string{"csv", "ndjson", "parquet"} {
		var have float64
		if err := json.Unmarshal(got["sum of models."+f], &have); err != nil || have < sum*(1-1e-9) || have > sum*(1+1e-9) {
			t.Errorf("models.%s: DuckDB sums params_b to %v (%v), the API has %v", f, have, err, sum)
		}
	}
}

// TestRecipes runs the recipes of httpapi/export/README.md as far as their tools are here: jq as it is
// printed, the SQL with DuckDB, and the columns that Grafana is told to take.
func TestRecipes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("export/README.md")
	if err != nil {
		t.Fatal(err)
	}
	shipped := mustShipped(t)
	s := newService(t, shipped.live)
	s.pay(t)
	addr := s.listenTCP(t)
	t.Run("jq", func(t *testing.T) {
		for _, program := range []string{"curl", "jq", "sh"} {
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("%s is not installed, so the recipe is not run", program)
			}
		}
		recipe := strings.ReplaceAll(between(t, string(text), "A page in `jq`", "```sh\n", "```"), "127.0.0.1:8080", addr)
		cmd := exec.Command("sh", "-c", recipe)
		cmd.Env = append(os.Environ(), "KEY="+s.secret)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "llama-3.1-70b-instruct\t") {
			t.Errorf("the recipe printed %v\n%s", err, out)
		}
	})
	t.Run("grafana", func(t *testing.T) {
		path := strings.TrimSpace(strings.TrimPrefix(between(t, string(text), "Grafana, with", "```\n", "```"), "http://127.0.0.1:8080"))
		table, err := csv.NewReader(bytes.NewReader(s.ask(t, "GET", path).body)).ReadAll()
		if err != nil || len(table) < 2 || !slices.Contains(table[0], "group.hardware") || !slices.Contains(table[0], "median") {
			t.Errorf("GET %s: %d lines, %v", path, len(table), err)
		}
	})
	t.Run("duckdb", func(t *testing.T) {
		dir := duckDB(t)
		sql := between(t, string(text), "latest/benchmarks.parquet", `duckdb -c "`, `"`)
		file := filepath.Join(t.TempDir(), "benchmarks.parquet")
		gen := shipped.live.Current()
		if err := os.WriteFile(file, fileOf(gen, export.Parquet, benchmarks.columns(), allRowsOf(gen.Benchmarks, gen.Benchmarks.Row)), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node", "-e", `const {createRequire} = require('node:module');
			const {DuckDBInstance} = createRequire(process.argv[1] + '/')('@duckdb/node-api');
			DuckDBInstance.create(':memory:').then((i) => i.connect()).then((db) => db.runAndReadAll(process.argv[2])).then((r) => console.log(JSON.stringify(r.getRowsJson())))`,
			dir, strings.ReplaceAll(sql, "benchmarks.parquet", file))
		out, err := cmd.CombinedOutput()
		var rows [][]any
		if err != nil || json.Unmarshal(out, &rows) != nil || len(rows) != 10 {
			t.Errorf("the recipe gave %v\n%s", err, out)
		}
	})
}

// between is the text between two marks, behind a third.
func between(t *testing.T, text, behind, from, to string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, behind)
	_, rest, begins := strings.Cut(rest, from)
	out, _, ends := strings.Cut(rest, to)
	if !found || !begins || !ends {
		t.Fatalf("the page has nothing behind %q between %q and %q", behind, from, to)
	}
	return out
}

// TestCompleteNeedsItsCalls: a complete result that the key cannot pay for is 429 and costs nothing; one it can pay for costs a call
// per started 500 rows.
func TestCompleteNeedsItsCalls(t *testing.T) {
	s := shippedService(t)
	s.pay(t)
	digest, _ := quota.ParseKey(s.secret, s.keeper.KeyPrefix())
	account, _, err := s.keeper.Self(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	rows := *s.list(t, "/api/v1/benchmarks?limit=1").Meta.Total
	cost := (rows + rowsPerCall - 1) / rowsPerCall
	if _, err := s.keeper.SetTier(t.Context(), account.ID, "pro", uint64(cost+2)); err != nil {
		t.Fatal(err)
	}
	const complete = "/api/v1/benchmarks?format=parquet&limit=all&fields=model"
	for _, tt := range []struct {
		status, left int
	}{{200, 1}, {429, 1}, {429, 1}} {
		a := s.ask(t, "HEAD", complete, "Accept-Encoding", "gzip")
		if left := a.header.Get("X-RateLimit-Remaining"); a.status != tt.status || left != strconv.Itoa(tt.left) {
			t.Fatalf("%s of %d rows: status %d, %s calls left, want %d, %d", complete, rows, a.status, left, tt.status, tt.left)
		}
		if coding := a.header.Get("Content-Encoding"); coding != "" {
			t.Errorf("Parquet, which is compressed inside, is sent as %s", coding)
		}
	}
	a := s.ask(t, "GET", complete)
	want := fmt.Sprintf("This result has %d rows and costs %d calls; 1 is left this month. You were not charged.", rows, cost)
	if a.code() != "quota_exhausted" || a.header.Get("Retry-After") == "" || !bytes.Contains(a.body, []byte(want)) {
		t.Errorf("status %d, Retry-After %q: %s, want %q", a.status, a.header.Get("Retry-After"), a.body, want)
	}
}

// TestNoPlace: a key that is sent as many complete results as it may be is told another thing than one that finds the server full.
func TestNoPlace(t *testing.T) {
	s := &Server{streams: connections.Streams{PerKey: 2}}
	if f := s.noPlace(connections.ManyOfOne); f.code != burstExceeded || f.retryAfter != 5 || !strings.HasPrefix(f.detail, "This key is already receiving 2 complete results") {
		t.Errorf("for a key: %+v", f)
	}
	if f := s.noPlace(connections.AllInUse); f.code != serverBusy || f.retryAfter != 5 {
		t.Errorf("for all keys: %+v", f)
	}
}
