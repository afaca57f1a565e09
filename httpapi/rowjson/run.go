package rowjson

import (
	"fmt"
	"strconv"

	"modeldex/dataset"

	jsonv2 "github.com/goccy/go-json/v2"
)

// ReadRun reads some members of the row of a run into b, which is empty. Their names are in the order of rows. Pages
// and figures have hundreds of runs: Pick and a decoder behind it take almost twice as long and allocate more (see
// BenchmarkReadRun).
func ReadRun(b *dataset.Benchmark, row []byte, names []string) {
	for name, value := range Members(row) {
		if string(name[1:len(name)-1]) != names[0] {
			continue
		}
		if value[0] != 'n' { // null
			readMember(b, names[0], value)
		}
		if names = names[1:]; len(names) == 0 {
			return
		}
	}
	panic(fmt.Sprintf("the row of a run has no %s, or not in this order: %s", names[0], row)) // rows are made by this program
}

func readMember(b *dataset.Benchmark, name string, value []byte) {
	switch name {
	case "id":
		b.ID = dataset.Slug(Unquote(value))
	case "model":
		b.Model = dataset.Slug(Unquote(value))
	case "quantization":
		b.Quantization = new(Unquote(value))
	case "hardware":
		b.Hardware = dataset.Slug(Unquote(value))
	case "hardware_count":
		b.HardwareCount = countIn(value)
	case "tool":
		b.Tool = dataset.Slug(Unquote(value))
	case "tool_version":
		b.ToolVersion = new(Unquote(value))
	case "backend":
		b.Backend = new(Unquote(value))
	case "n_prompt":
		b.NPrompt = new(countIn(value))
	case "context_depth":
		b.ContextDepth = new(countIn(value))
	case "concurrency":
		b.Concurrency = new(countIn(value))
	case "flash_attention":
		b.FlashAttention = new(value[0] == 't')
	case "speculative_decoding":
		b.SpeculativeDecoding = new(value[0] == 't')
	case "prompt_tps":
		b.PromptTPS = new(numberIn(value))
	case "generation_tps":
		b.GenerationTPS = new(numberIn(value))
	case "rate_basis":
		b.RateBasis = new(dataset.RateBasis(Unquote(value)))
	case "partial_offload":
		b.PartialOffload = new(value[0] == 't')
	case "scenario":
		b.Scenario = new(dataset.Scenario(Unquote(value)))
	case "total_tps":
		b.TotalTPS = new(numberIn(value))
	case "source":
		b.Source = dataset.Source(Unquote(value))
	case "source_url":
		b.SourceURL = new(dataset.URL(Unquote(value)))
	case "run_date":
		b.RunDate = new(dataset.Date(Unquote(value)))
	case "withdrawn":
		b.Withdrawn = new(dataset.Withdrawal)
		must(jsonv2.Unmarshal(value, b.Withdrawn))
	default:
		panic("no reader of " + name)
	}
}

// countIn is the whole number of a JSON value that is one.
func countIn(value []byte) int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	must(err)
	return n
}

// numberIn is the number of a JSON value that is one.
func numberIn(value []byte) float64 {
	v, err := strconv.ParseFloat(string(value), 64)
	must(err)
	return v
}

// must ends the program for a value that it did not make.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
