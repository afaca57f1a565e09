// Command pocketbase is PocketBase with one public collection of benchmarks, indexed by what is
// filtered and sorted by.
package main

import (
	"flag"
	"fmt"
	"log"
	"slices"
	"strings"

	"modeldex/bench/rivals/rows"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

func main() {
	addr, data, dir := flag.String("addr", "", "address"), flag.String("data", "", "dataset"), flag.String("dir", "", "where the database goes")
	flag.Parse()
	if err := serve(*addr, *data, *dir); err != nil {
		log.Fatal(err)
	}
}

func serve(addr, data, dir string) error {
	app := pocketbase.NewWithConfig(pocketbase.Config{DefaultDataDir: dir, HideStartBanner: true})
	if err := app.Bootstrap(); err != nil {
		return err
	}
	if err := app.RunAllMigrations(); err != nil {
		return err
	}
	app.Settings().Logs.MaxDays = 0 // no log of requests in its second database
	if err := app.Save(app.Settings()); err != nil {
		return err
	}
	if err := fill(app, data); err != nil {
		return err
	}
	return apis.Serve(app, apis.ServeConfig{HttpAddr: addr, ShowStartBanner: false})
}

var (
	numbers = []string{
		"hardware_count", "memory_gb", "n_prompt", "n_gen", "context_depth", "batch_size", "concurrency", "n_gpu_layers", "threads", "prompt_tps",
		"prompt_tps_stddev", "generation_tps", "generation_tps_stddev", "ttft_ms", "model_size_gib", "power_watts",
	}
	switches = []string{"flash_attention", "speculative_decoding"}
)

// fill makes the collection and writes its rows past the checks, which would take minutes.
func fill(app core.App, data string) error {
	collection := core.NewBaseCollection("benchmarks")
	collection.ListRule, collection.ViewRule = types.Pointer(""), types.Pointer("") // anyone may read
	for _, name := range rows.Columns[1:] {
		switch {
		case slices.Contains(numbers, name):
			collection.Fields.Add(&core.NumberField{Name: name})
		case slices.Contains(switches, name):
			collection.Fields.Add(&core.BoolField{Name: name})
		default:
			collection.Fields.Add(&core.TextField{Name: name, Max: 10_000})
		}
	}
	for i, on := range []string{
		"backend, quantization, run_date DESC, id", "backend, quantization, generation_tps", "model", "hardware", "tool", "quantization", "run_date DESC, id",
	} {
		collection.AddIndex(fmt.Sprintf("by%d", i), false, on, "")
	}
	if err := app.Save(collection); err != nil {
		return err
	}
	return app.RunInTransaction(func(tx core.App) error {
		return rows.Each(data, func(r *rows.Row) error {
			params := dbx.Params{}
			for i, place := range r.Places() {
				params[rows.Columns[i]] = valueOf(place)
			}
			params["id"] = strings.ReplaceAll(r.ID, "-", "") // ids hold letters and digits only
			_, err := tx.DB().Insert("benchmarks", params).Execute()
			return err
		})
	})
}

// valueOf is what a place holds; PocketBase keeps an unknown text or number as its zero.
func valueOf(place any) any {
	switch p := place.(type) {
	case *string:
		return *p
	case *int64:
		return *p
	case **string:
		return orZero(*p)
	case **int64:
		return orZero(*p)
	case **float64:
		return orZero(*p)
	case **bool:
		return orZero(*p)
	}
	panic(fmt.Sprintf("%T is no place of a row", place)) // Places changed
}

func orZero[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
