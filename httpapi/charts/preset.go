package charts

// Preset is a figure that can be had by its name, at /charts/{name}.svg.
type Preset struct {
	Name string
	// Param is the parameter that names the records, and Least and Most how many it takes.
	Param       string
	Least, Most int
	// Draw makes the figure of the records with the given slugs, Least to Most of them.
	Draw func(m Maker, slugs []string) *Figure
}

func of(draw func(m Maker, slug string) *Figure) func(m Maker, slugs []string) *Figure {
	return func(m Maker, slugs []string) *Figure { return draw(m, slugs[0]) }
}

// Presets lists the presets.
var Presets = []Preset{
	{"model-speeds", "model", 1, 1, of(Maker.ModelSpeeds)},
	{"hardware-frontier", "hardware", 1, 1, of(Maker.HardwareFrontier)},
	{"compare", "hardware", 2, MostCompared, Maker.CompareHardware},
	{"compare-models", "models", 2, MostCompared, Maker.CompareModels},
}
