package verbs

import (
	"modeldex/dataset"
	"modeldex/dataset/importer/llamabench"
	"modeldex/dataset/importer/outputs"
)

// ImportOutput turns outputs of a program other than llama-bench into benchmark lines. Format is set by the verb.
type ImportOutput struct {
	Dataset
	Format       string   `hidden:"" default:"${format}"`
	Files        []string `arg:"" help:"Output of the program, with the lines around it; - reads standard input."`
	Model        string   `required:"" help:"Model that was measured, by any name; a name such as Qwen3-8B-Q4_K_M.gguf gives the quantization too." placeholder:"NAME"`
	Hardware     string   `required:"" help:"Hardware it ran on, by any name; \"2x RTX 3090\" says the number as well." placeholder:"NAME"`
	Quantization string   `help:"Quantization of the weights, if the model's name does not give it." placeholder:"NAME"`
	ToolVersion  string   `help:"Version of the program." placeholder:"VERSION"`
	Source       string   `help:"Who measured: owner, community or official." enum:"owner,community,official" default:"community"`
	SourceURL    string   `help:"Page where the output was published; required unless --source is owner." placeholder:"URL"`
	RunDate      string   `help:"Day of the run." placeholder:"YYYY-MM-DD"`
	Explain      bool     `help:"Also explain on standard error where each field of each line comes from."`
}

func (c *ImportOutput) options() outputs.Options {
	return outputs.Options{Options: llamabench.Options{
		Source: dataset.Source(c.Source), SourceURL: dataset.URL(c.SourceURL), RunDate: dataset.Date(c.RunDate), Model: c.Model, Hardware: c.Hardware,
	}, Quantization: c.Quantization, ToolVersion: c.ToolVersion}
}

// Validate checks the flags that need no records.
func (c *ImportOutput) Validate() error { return ofFlags(c.options().Validate()) }

// Run prints benchmark lines ready to append, and on standard error what could not be mapped.
func (c *ImportOutput) Run(env *Env) error {
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	im, err := outputs.New(c.Format, set, c.options())
	if err != nil {
		return ofFlags(err)
	}
	return importFiles(env, set, im, c.Files, c.Explain)
}
