package charts

import "modeldex/index"

// Preset is a figure that can be had by its name, at /charts/{name}.svg.
type Preset struct {
	Name string
	// Doc says what it shows, in one sentence.
	Doc string
	// Kind is the kind of record it is about: "model" or "hardware".
	Kind string
	// Param is the parameter that names the records, and Least and Most how many it takes.
	Param       string
	Least, Most int

	draw func(m Maker, slugs []string) *Figure
}

func of(draw func(m Maker, slug string) *Figure) func(m Maker, slugs []string) *Figure {
	return func(m Maker, slugs []string) *Figure { return draw(m, slugs[0]) }
}

// Presets lists the presets.
var Presets = []Preset{
	{"model-speeds", "Measured speed of a model by hardware, one dot for each run.", "model", "model", 1, 1, of(Maker.ModelSpeeds)},
	{"hardware-frontier", "Capability against speed of the models that run on a machine.", "hardware", "hardware", 1, 1, of(Maker.HardwareFrontier)},
	{"compare", "The same measurements on several machines.", "hardware", "hardware", 2, MostCompared, Maker.CompareHardware},
	{"compare-models", "The same measurements of several models.", "model", "models", 2, MostCompared, Maker.CompareModels},
}

// FindPreset finds a preset by name, nil for none.
func FindPreset(name string) *Preset {
	for i := range Presets {
		if Presets[i].Name == name {
			return &Presets[i]
		}
	}
	return nil
}

// Figure makes the figure of the records with the given slugs, Least to Most of them.
func (p *Preset) Figure(gen *index.Generation, slugs []string) *Figure {
	return p.draw(For(gen), slugs)
}
