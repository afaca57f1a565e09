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
	{"model-memory", "Memory against context of a model, by size, with lines at common memory sizes.", "model", "model", 1, 1, of(Maker.ModelMemory)},
	{"model-speeds", "Measured speed of a model by hardware, one dot for each run.", "model", "model", 1, 1, of(Maker.ModelSpeeds)},
	{"hardware-roof", "Runs on a piece of hardware under the roof of its memory bandwidth.", "hardware", "hardware", 1, 1, of(Maker.HardwareRoof)},
	{"hardware-frontier", "Intelligence against speed of the models that run on a piece of hardware.", "hardware", "hardware", 1, 1, of(Maker.HardwareFrontier)},
	{"hardware-neighbours", "Price and bandwidth of a piece of hardware among its neighbours.", "hardware", "hardware", 1, 1, of(Maker.HardwareNeighbours)},
	{"compare", "The same measurements on several pieces of hardware.", "hardware", "hardware", 2, MostCompared, Maker.CompareHardware},
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
