// Command sqlite is what many would write first: benchmarks in SQLite with an index for every
// filter, behind net/http and encoding/json. It has no keys, no quota and no cache.
package main

import (
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"modeldex/bench/rivals/rows"

	_ "modernc.org/sqlite"
)

func main() {
	addr, data, dir := flag.String("addr", "", "address"), flag.String("data", "", "dataset"), flag.String("dir", "", "where the database goes")
	flag.Parse()
	if err := serve(*addr, *data, *dir); err != nil {
		log.Fatal(err)
	}
}

func serve(addr, data, dir string) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rows.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(off)&_pragma=mmap_size(4294967296)&_pragma=cache_size(-200000)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	if err := fill(db, data); err != nil {
		return err
	}
	h, err := newHandler(db)
	if err != nil {
		return err
	}
	http.Handle("GET /benchmarks", h)
	return http.ListenAndServe(addr, nil)
}

// fill makes the table and its indexes: one for the two filters asked for together, in the
// order of the answer, and one for every other filter and order.
func fill(db *sql.DB, data string) error {
	types := map[string]string{"hardware_count": "INTEGER", "memory_gb": "REAL", "prompt_tps": "REAL", "generation_tps": "REAL"}
	var columns, marks []string
	for _, c := range rows.Columns {
		columns, marks = append(columns, c+" "+types[c]), append(marks, "?")
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if _, err := tx.Exec("CREATE TABLE benchmarks (" + strings.Join(columns, ",") + ", PRIMARY KEY (id)) WITHOUT ROWID"); err != nil {
		return err
	}
	insert, err := tx.Prepare("INSERT INTO benchmarks VALUES (" + strings.Join(marks, ",") + ")")
	if err != nil {
		return err
	}
	err = rows.Each(data, func(r *rows.Row) error {
		_, err := insert.Exec(r.Places()...)
		return err
	})
	if err != nil {
		return err
	}
	for i, on := range []string{
		"backend, quantization, run_date DESC, id", "backend, quantization, generation_tps", "backend, run_date DESC, id", "backend, generation_tps DESC",
		"model, run_date DESC, id", "hardware, run_date DESC, id", "tool, run_date DESC, id", "quantization, run_date DESC, id", "run_date DESC, id",
	} {
		if _, err := tx.Exec(fmt.Sprintf("CREATE INDEX by%d ON benchmarks (%s)", i, on)); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = db.Exec("ANALYZE")
	return err
}

type handler struct {
	// By how many conditions: two filters, two filters and a threshold.
	page, count [2]*sql.Stmt
}

const (
	two   = " FROM benchmarks WHERE backend = ? AND quantization = ?"
	three = two + " AND generation_tps >= ?"
	order = " ORDER BY run_date DESC, id LIMIT 100"
)

func newHandler(db *sql.DB) (*handler, error) {
	h := &handler{}
	for i, where := range []string{two, three} {
		var err error
		if h.page[i], err = db.Prepare("SELECT " + strings.Join(rows.Columns, ",") + where + order); err != nil {
			return nil, err
		}
		if h.count[i], err = db.Prepare("SELECT COUNT(*)" + where); err != nil {
			return nil, err
		}
	}
	return h, nil
}

type answer struct {
	Data []rows.Row `json:"data"`
	Meta struct {
		Total int `json:"total"`
		Count int `json:"count"`
		Limit int `json:"limit"`
	} `json:"meta"`
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, err := h.answer(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	b, err := json.Marshal(a)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b) // the caller may be gone
}

func (h *handler) answer(q url.Values) (*answer, error) {
	args, which := []any{q.Get("backend"), q.Get("quantization")}, 0
	if text := q.Get("min_tps"); text != "" {
		least, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		args, which = append(args, least), 1
	}
	a := &answer{Data: make([]rows.Row, 0, 100)}
	if err := h.count[which].QueryRow(args...).Scan(&a.Meta.Total); err != nil {
		return nil, err
	}
	found, err := h.page[which].Query(args...)
	if err != nil {
		return nil, err
	}
	defer found.Close() // Err says what went wrong
	for found.Next() {
		var row rows.Row
		if err := found.Scan(row.Places()...); err != nil {
			return nil, err
		}
		a.Data = append(a.Data, row)
	}
	a.Meta.Count, a.Meta.Limit = len(a.Data), 100
	return a, found.Err()
}
