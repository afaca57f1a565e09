// Package rows reads the benchmarks of a dataset for rivals.
package rows

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Row is one benchmark, with the fields of its line.
type Row struct {
	ID                  string          `json:"id"`
	Model               string          `json:"model"`
	ModelRaw            string          `json:"model_raw"`
	Quantization        *string         `json:"quantization"`
	Hardware            string          `json:"hardware"`
	HardwareRaw         string          `json:"hardware_raw"`
	HardwareCount       int64           `json:"hardware_count"`
	MemoryGB            *float64        `json:"memory_gb"`
	Tool                string          `json:"tool"`
	ToolVersion         *string         `json:"tool_version"`
	Backend             *string         `json:"backend"`
	NPrompt             *int64          `json:"n_prompt"`
	NGen                *int64          `json:"n_gen"`
	ContextDepth        *int64          `json:"context_depth"`
	BatchSize           *int64          `json:"batch_size"`
	Concurrency         *int64          `json:"concurrency"`
	NGPULayers          *int64          `json:"n_gpu_layers"`
	FlashAttention      *bool           `json:"flash_attention"`
	SpeculativeDecoding *bool           `json:"speculative_decoding"`
	Threads             *int64          `json:"threads"`
	PromptTPS           *float64        `json:"prompt_tps"`
	PromptTPSStddev     *float64        `json:"prompt_tps_stddev"`
	GenerationTPS       *float64        `json:"generation_tps"`
	GenerationTPSStddev *float64        `json:"generation_tps_stddev"`
	TTFTMs              *float64        `json:"ttft_ms"`
	ModelSizeGiB        *float64        `json:"model_size_gib"`
	PowerWatts          *float64        `json:"power_watts"`
	OS                  *string         `json:"os"`
	Source              string          `json:"source"`
	SourceURL           *string         `json:"source_url"`
	RunDate             *string         `json:"run_date"`
	DateBasis           *string         `json:"date_basis"`
	Notes               *string         `json:"notes"`
	Withdrawn           json.RawMessage `json:"withdrawn"`
	Reproduce           *string         `json:"reproduce"`
}

// Columns are the columns of a table of rows, in the order of Values.
var Columns = []string{
	"id", "model", "model_raw", "quantization", "hardware", "hardware_raw", "hardware_count", "memory_gb", "tool", "tool_version",
	"backend", "n_prompt", "n_gen", "context_depth", "batch_size", "concurrency", "n_gpu_layers", "flash_attention",
	"speculative_decoding", "threads", "prompt_tps", "prompt_tps_stddev", "generation_tps", "generation_tps_stddev", "ttft_ms",
	"model_size_gib", "power_watts", "os", "source", "source_url", "run_date", "date_basis", "notes", "reproduce",
}

// Places are pointers to the fields of a row, in the order of Columns: to scan into, and to
// take values from.
func (r *Row) Places() []any {
	return []any{
		&r.ID, &r.Model, &r.ModelRaw, &r.Quantization, &r.Hardware, &r.HardwareRaw, &r.HardwareCount, &r.MemoryGB, &r.Tool, &r.ToolVersion,
		&r.Backend, &r.NPrompt, &r.NGen, &r.ContextDepth, &r.BatchSize, &r.Concurrency, &r.NGPULayers, &r.FlashAttention,
		&r.SpeculativeDecoding, &r.Threads, &r.PromptTPS, &r.PromptTPSStddev, &r.GenerationTPS, &r.GenerationTPSStddev, &r.TTFTMs,
		&r.ModelSizeGiB, &r.PowerWatts, &r.OS, &r.Source, &r.SourceURL, &r.RunDate, &r.DateBasis, &r.Notes, &r.Reproduce,
	}
}

// Each reads the benchmarks of a dataset directory in the order of its files.
func Each(dir string, do func(r *Row) error) error {
	files, err := filepath.Glob(filepath.Join(dir, "benchmarks", "*.ndjson"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := eachOf(file, do); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func eachOf(file string, do func(r *Row) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r Row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		if err := do(&r); err != nil {
			return err
		}
	}
	return lines.Err()
}
