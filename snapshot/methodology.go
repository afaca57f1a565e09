package snapshot

import (
	"fmt"
	"strings"

	jsonv2 "github.com/goccy/go-json/v2"
)

// matchingText is normalization.model_matching.
func matchingText() string {
	return "1. The alias table maps a raw name of a source to a model key; each of its lines says whether the key is the name in slug form or a person joined them. " +
		"2. A name the table lacks loses the settings in brackets at its end and is brought to lower case with '-' for every run of other characters than letters, digits and . / : +; if that is a key of the table, or a name, Hugging Face id or alias of one model of the directory, it is joined to it. " +
		"3. Any other name is a model of its own under its slug form and is printed by the build. " +
		"4. Where a model is in the directory, by its key or by exactly one reading of its names, its slug is the model key. Settings of one model such as a reasoning effort, quantized forms, and base and instruction-tuned forms are models of their own. " +
		"5. Of several names of one model in one source the newest release is published, then the name with the fewest settings; the others are listed in limitations. Nothing is averaged over names or releases."
}

// compositeText is normalization.composite: the rules of this document in words and numbers.
func (b *builder) compositeText() (string, error) {
	var s strings.Builder
	s.WriteString("All sources are brought to one scale through the models they share. Over the models of the fit the scale has mean 50 and standard deviation 15. ")
	for _, t := range b.tables {
		t.describe(&s)
	}
	s.WriteString("Line: a cell is one category of a metric in one release (split) of a source, its value the mean of its tasks; its place on the scale is x = level + slope * value. A score has the same line: normalized_0_100 = level + slope * value, held inside 0..100 and rounded to 4 decimals, null for a score that does not enter. ")
	s.WriteString("Estimate of a source: X = sum(x / e^2) / sum(1 / e^2) over its cells, where e^2 = noise^2 + (slope * s)^2 and s is the standard error of the value: (upper - lower) / (2 z) where the source gives bounds, over n tasks sqrt(sum s^2) / n, else 0. A category that does not separate models has a large noise and so a small weight. ")
	s.WriteString("Component: weight = 1 / (1 / sum(1 / e^2) + specific^2 + drift^2), rounded to 6 decimals, where drift is that of the release the model was read in, the precision of X as a measure of what the sources share; normalized_0_100 = mean + share * (X - mean), share = W / (W + 1 / deviation^2), W the sum of the weights of the model, held inside 0..100 and rounded to 4 decimals: what is known little of is drawn to the mean. ")
	s.WriteString("Composite: score_0_100 = sum(weight * normalized_0_100) / sum(weight), rounded to 4 decimals. Its 95 percent interval is score_0_100 -+ z / sqrt(W + 1 / deviation^2). ")
	c := b.in.Config.Confidence
	fmt.Fprintf(&s, "Confidence: high when the interval is at most %v points to a side, moderate when at most %v, else low. ", c.High, c.Moderate)
	s.WriteString("Base models have scores but no composite: no source that links the scale has any. ")
	s.WriteString("Fit: level, slope and noise of each cell and the specific deviation of each source maximize the likelihood of value = a + b * (ability + specific of the source) + error, by expectation and maximization from a fixed start for a fixed number of rounds, over all releases; no cell counts as more exact than the median cell of its source. Drift: the root of the sum, over the releases from this one to the newest, of the mean squared difference of X between the models that a release and the next newer one share. ")
	s.WriteString("It is the linear model of test equating (Levine 1955; Angoff 1971; Kolen and Brennan, Test Equating, Scaling, and Linking, 2014, chapter 4) with one testlet for each source (Bradlow, Wainer and Wang, Psychometrika 64, 1999); the Epoch Capabilities Index links benchmarks alike, with a logistic curve (https://epoch.ai/data/eci-documentation/methodology). ")
	numbers, err := jsonv2.Marshal(b.rules, jsonv2.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("rules: %w", err)
	}
	return s.String() + rulesMark + string(numbers), nil
}

func (t *table) describe(s *strings.Builder) {
	c := t.cfg.Component
	fmt.Fprintf(s, "%s enters with %s: metric %s", t.cfg.SourceID, c.Label, strings.Join(c.Metrics, ", "))
	if len(c.Categories) > 0 {
		fmt.Fprintf(s, ", categories %s", strings.Join(c.Categories, ", "))
	}
	for _, m := range t.cfg.Metrics {
		if m.Evidence != "" {
			fmt.Fprintf(s, " (%s: %s)", m.Metric, m.Evidence)
		}
	}
	s.WriteString(". ")
}
