package llamabench

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/resolve"
)

// row is one test as it was printed, in whatever form.
type row struct {
	line int
	run  // what rows of one run share

	prompt, gen int64 // tokens; both above 0 in a combined test
	speed       float64
	stddev      *float64

	bad string // why the row cannot be read, empty where it can
}

// run is everything of a row but its test. Two rows with equal runs are one run.
type run struct {
	block     int    // of Markdown: rows of different tables are different runs
	file      string // base name of the model file, empty where not printed
	kind      string // type as printed: "llama 8B Q4_K - Medium"
	gib       float64
	params    float64 // billions, as printed; 0 where not
	processor string
	devices   string // names as printed, joined by ", "
	chosen    string // of the devices, as printed: "CUDA0/CUDA1"; empty for all
	split     string // split mode: layer, row, none
	main      int64  // device that works with split mode none
	shares    string // of the weights on each device, as printed: "1.00/0.00"; empty where not
	backend   string // as printed: "MTL,BLAS"
	build     string // "b7361 (a81a56957)"
	depth     int64
	batch     known
	layers    known
	threads   known
	flash     known // 0 or 1
	date      dataset.Date
	notes     string
	offload   bool // some weights are kept in main memory
}

// known is a number that may not have been printed; it compares with ==.
type known struct {
	n  int64
	ok bool
}

func (k known) ptr() *int64 {
	if !k.ok {
		return nil
	}
	return &k.n
}

// name is what the row measured, for reports.
func (r *row) name() string {
	test := fmt.Sprintf("pp%d+tg%d", r.prompt, r.gen)
	switch {
	case r.gen == 0:
		test = fmt.Sprintf("pp%d", r.prompt)
	case r.prompt == 0:
		test = fmt.Sprintf("tg%d", r.gen)
	}
	return cmp.Or(r.file, r.kind) + " " + test
}

// quantPattern finds the storage type at the end of a file name.
var quantPattern = regexp.MustCompile(`(?i)[-_.]((?:UD-)?(?:I?Q[0-9]_[0-9A-Z_]+|BF16|FP?16|FP?32|MXFP4(?:_MOE)?|NVFP4|T?Q[0-9]_0))$`)

// shard is the part number of a file in pieces.
var shard = regexp.MustCompile(`-[0-9]{5}-of-[0-9]{5}$`)

// stem cuts a model file name into the name of the model and the storage type it ends in.
func stem(file string) (model, quant string) {
	model = shard.ReplaceAllString(strings.TrimSuffix(path.Base(strings.ReplaceAll(file, `\`, "/")), ".gguf"), "")
	if m := quantPattern.FindStringSubmatch(model); m != nil {
		return strings.TrimSuffix(model, m[0]), m[1]
	}
	return model, ""
}

// quantization is the storage type of the weights. The name of the file says more than the type
// printed where it names a dynamic mix (UD-).
func (r *run) quantization() *string {
	_, ofFile := stem(r.file)
	if strings.HasPrefix(strings.ToUpper(ofFile), "UD-") {
		q := strings.ToUpper(ofFile)
		return &q
	}
	name := strings.ToUpper(ofFile)
	if _, printed := resolve.TypeQuantization(r.kind); printed != "" {
		name = printed
	}
	return text(name)
}
