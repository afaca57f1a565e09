// Command sqlite is what many would write first: benchmarks in SQLite with an index for the filters, behind net/http.
// It has no keys, no quota and no cache. The lines are stored as they are, so that nothing has to be encoded.
//
//	sqlite ADDRESS FOLDER_OF_NDJSON
package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"
)

func main() {
	if err := serve(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func serve(addr, folder string) error {
	dir, err := os.MkdirTemp("", "sqlite")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rows.db")+
		"?_pragma=journal_mode(wal)&_pragma=synchronous(off)&_pragma=mmap_size(4294967296)&_pragma=cache_size(-200000)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	if err := fill(db, folder); err != nil {
		return err
	}
	const where = " FROM benchmarks WHERE backend = ? AND quantization = ? AND tps >= ?"
	page, err := db.Prepare("SELECT line" + where + " ORDER BY run_date DESC, id LIMIT 100")
	if err != nil {
		return err
	}
	count, err := db.Prepare("SELECT COUNT(*)" + where)
	if err != nil {
		return err
	}
	http.HandleFunc("GET /benchmarks", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		least := q.Get("min_tps")
		if least == "" {
			least = "-1" // unknown speeds are stored as 0
		}
		body, err := list(page, count, q.Get("backend"), q.Get("quantization"), least)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body) // the caller may be gone
	})
	return http.ListenAndServe(addr, nil)
}

func list(page, count *sql.Stmt, args ...any) ([]byte, error) {
	var total int
	if err := count.QueryRow(args...).Scan(&total); err != nil {
		return nil, err
	}
	rows, err := page.Query(args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // Err says what went wrong
	var lines [][]byte
	for rows.Next() {
		var line []byte
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return fmt.Appendf(nil, `{"data":[%s],"meta":{"total":%d}}`, bytes.Join(lines, []byte{','}), total), rows.Err()
}

// fill stores the lines with the columns that are asked for.
func fill(db *sql.DB, folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.ndjson"))
	if err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if _, err := tx.Exec("CREATE TABLE benchmarks (id TEXT, backend TEXT, quantization TEXT, run_date TEXT, tps REAL, line BLOB)"); err != nil {
		return err
	}
	for _, name := range files {
		if err := fillFrom(tx, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if _, err := tx.Exec("CREATE INDEX filters ON benchmarks (backend, quantization, run_date DESC, id)"); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = db.Exec("ANALYZE")
	return err
}

func fillFrom(tx *sql.Tx, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var b struct {
			ID           string  `json:"id"`
			Backend      string  `json:"backend"`
			Quantization string  `json:"quantization"`
			RunDate      string  `json:"run_date"`
			TPS          float64 `json:"generation_tps"`
		}
		if err := json.Unmarshal(lines.Bytes(), &b); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO benchmarks VALUES (?,?,?,?,?,?)", b.ID, b.Backend, b.Quantization, b.RunDate, b.TPS, lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}
