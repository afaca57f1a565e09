package snapshot

// The constants of the specification. A document with another value is rejected.
const (
	SchemaVersion  = "service-model-intelligence-snapshot-v1"
	scope          = "model-intelligence-priors"
	scoreSourced   = "sourced" // the confidence of every score: read from a source, not judged
	SchemaPath     = "/api/v1/schemas/" + SchemaVersion + ".json"
	schemaDialect  = "https://json-schema.org/draft/2020-12/schema"
	hashField      = "output_hash_sha256"
	maxScore       = 100.0
	generatorLabel = "modeldex snapshot build, rules v3"
)

// SourceID names one of the three upstream sources. The zero value is never valid.
type SourceID string

// The closed set of sources.
const (
	SourceA SourceID = "source_a"
	SourceB SourceID = "source_b"
	SourceC SourceID = "source_c"
)

// sourceIDs lists every source in the order of the document.
var sourceIDs = []SourceID{SourceA, SourceB, SourceC}

// Confidence says how reliable a composite is. The zero value is never valid.
type Confidence string

// The closed set of confidences.
const (
	High     Confidence = "high"
	Moderate Confidence = "moderate"
	Low      Confidence = "low"
)

// confidences lists every confidence, best first.
var confidences = []Confidence{High, Moderate, Low}

// The values of openness.
const (
	OpenWeights = "open"
	proprietary = "proprietary"
)

// Document is the published model-intelligence snapshot: priors from upstream evaluations, none of them measured by the publisher.
type Document struct {
	// Names the form of the document.
	SchemaVersion string `json:"schema_version"`
	// Address of this JSON Schema at the publisher.
	SchemaURL string `json:"schema_url"`
	// SHA-256 of the RFC 8785 canonical JSON of the document with this field set to the empty string.
	OutputHash string `json:"output_hash_sha256" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// When the document was made, as given to the builder; the same inputs and the same time give the same bytes.
	GeneratedAt string `json:"generated_at" jsonschema:"format=date-time"`
	// The program and the version of its rules.
	GeneratedBy string `json:"generated_by"`
	// What the document is about.
	Scope string `json:"scope"`
	// Licence of the document as a whole.
	License string `json:"license"`
	// Whom to name when using it.
	Attribution string `json:"attribution"`
	// Always true: no number here was measured by the publisher.
	NotLocalMeasurement bool `json:"not_local_measurement"`
	// What the numbers can and cannot tell about a model run locally.
	FrameworkNote string `json:"framework_note"`
	// The upstream sources, in the order of their identifiers.
	Sources []Source `json:"sources"`
	// The rules by which names were joined and numbers brought to one scale.
	Normalization Normalization `json:"normalization"`
	// The models, in the order of their keys.
	Models []Model `json:"models"`
	// Counts and inputs.
	Meta Meta `json:"meta"`
}

// Normalization holds the rules in words.
type Normalization struct {
	// How raw names became model keys.
	ModelMatching string `json:"model_matching"`
	// How scores were normalized and composites and their confidence made.
	Composite string `json:"composite"`
	// The claim about local execution: none.
	LocalExecutionClaim string `json:"local_execution_claim"`
}

// Meta holds counts of the document and names what it was made from.
type Meta struct {
	// Number of entries in models.
	ModelCount int64 `json:"model_count" jsonschema:"minimum=0"`
	// Number of scores over all models.
	ScoreCount int64 `json:"score_count" jsonschema:"minimum=0"`
	// Number of entries in sources.
	SourceCount int64 `json:"source_count" jsonschema:"minimum=0"`
	// Number of models by confidence of their composite.
	ConfidenceCounts ConfidenceCounts `json:"confidence_counts"`
	// The inputs, each with a digest that does not depend on the order of its lines.
	GeneratedFrom []string `json:"generated_from"`
}

// ConfidenceCounts counts models by confidence.
type ConfidenceCounts struct {
	// Models with high confidence.
	High int64 `json:"high" jsonschema:"minimum=0"`
	// Models with moderate confidence.
	Moderate int64 `json:"moderate" jsonschema:"minimum=0"`
	// Models with low confidence.
	Low int64 `json:"low" jsonschema:"minimum=0"`
}

func (n *ConfidenceCounts) add(c Confidence) {
	switch c {
	case High:
		n.High++
	case Moderate:
		n.Moderate++
	case Low:
		n.Low++
	}
}

// Source is one upstream evaluation source as captured.
type Source struct {
	// The identifier used throughout the document.
	SourceID SourceID `json:"source_id"`
	// The name for readers.
	Label string `json:"label"`
	// Address of the captured table.
	SourceURL string `json:"source_url"`
	// The data set or repository.
	Dataset string `json:"dataset"`
	// The configuration (board) of the data set.
	Config string `json:"config"`
	// The split or splits that were read, newest first, separated by commas.
	Split string `json:"split"`
	// The licence, and what is known about it.
	LicenseNote string `json:"license_note"`
	// Number of table rows captured.
	FetchedRows int64 `json:"fetched_rows" jsonschema:"minimum=0"`
	// Number of table rows the source says it has; a lower bound where the source was only partly indexed.
	TotalRowsReported int64 `json:"total_rows_reported" jsonschema:"minimum=0"`
	// What was left out of the capture or of the document.
	SamplingNote string `json:"sampling_note,omitempty"`
	// Date of the captured version.
	CapturedAt string `json:"captured_at" jsonschema:"format=date-time"`
}

// Model is one model with its composite and the scores behind it.
type Model struct {
	// The key of the model: its slug in the directory where it has one.
	ModelKey string `json:"model_key"`
	// The name for readers.
	DisplayName string `json:"display_name"`
	// Who makes the model.
	Provider *string `json:"provider" jsonschema:"nullable"`
	// Whether the weights are open or proprietary.
	Openness *string `json:"openness" jsonschema:"nullable"`
	// Licence of the model.
	License *string `json:"license" jsonschema:"nullable"`
	// Other names of the model, as the sources spell them.
	Aliases []string `json:"aliases"`
	// What the model takes in; empty where unknown.
	Modalities []string `json:"modalities"`
	// Parameters in billions.
	ParameterBillions *float64 `json:"parameter_billions" jsonschema:"nullable"`
	// Context window in tokens.
	ContextWindow *float64 `json:"context_window" jsonschema:"nullable"`
	// The sources that have scores for the model.
	SourceIDs []SourceID `json:"source_ids"`
	// The weighted mean over sources.
	Composite Composite `json:"composite"`
	// The numbers of the sources.
	Scores []Score `json:"scores"`
}

// Composite is the weighted mean of one component for each source.
type Composite struct {
	// The weighted mean, more is better; null where no source gives a component.
	Score *float64 `json:"score_0_100" jsonschema:"nullable,minimum=0,maximum=100"`
	// How reliable the composite is, by the rule in normalization.composite.
	Confidence Confidence `json:"confidence"`
	// The components, at most one for each source.
	Components []Component `json:"components"`
	// From which rows each component was made.
	DerivedFrom []string `json:"derived_from"`
	// What is missing or doubtful.
	Limitations []string `json:"limitations"`
}

// Component is what one source adds to a composite.
type Component struct {
	// The source.
	SourceID SourceID `json:"source_id"`
	// What the number is.
	Metric string `json:"metric"`
	// What the source says of the model on the common scale, drawn to the mean of all models by the share that is not known.
	Normalized float64 `json:"normalized_0_100" jsonschema:"minimum=0,maximum=100"`
	// Its precision, 1 / variance in points of the scale: its weight in the mean.
	Weight float64 `json:"weight" jsonschema:"minimum=0"`
}

// Score is one number of a source, exactly as captured, with its place on the common scale.
type Score struct {
	// The source.
	SourceID SourceID `json:"source_id"`
	// The metric as the source names it.
	Metric string `json:"metric"`
	// The number of the source.
	Value float64 `json:"value"`
	// The place of the number on the common scale, by the rules in normalization.composite; null where it does not enter the composite.
	Normalized *float64 `json:"normalized_0_100" jsonschema:"nullable,minimum=0,maximum=100"`
	// The scale of value.
	Scale string `json:"scale"`
	// Always sourced: read from the source, not judged.
	Confidence string `json:"confidence"`
	// Address of the captured table.
	SourceURL string `json:"source_url"`
	// The data set or repository.
	SourceDataset string `json:"source_dataset"`
	// The configuration (board) of the data set.
	SourceConfig string `json:"source_config"`
	// The split (release) that has the number.
	SourceSplit string `json:"source_split"`
	// Number of captured table rows of that config and split.
	SourceRowCount int64 `json:"source_row_count" jsonschema:"minimum=0"`
	// Date of the captured version.
	CapturedAt string `json:"captured_at" jsonschema:"format=date-time"`
	// Row, raw name and date of the number in the source.
	EvidenceNote string `json:"evidence_note"`
	// Rank given by the source.
	Rank *float64 `json:"rank,omitempty" jsonschema:"nullable"`
	// Lower bound given by the source, on the scale of value.
	Lower *float64 `json:"lower,omitempty" jsonschema:"nullable"`
	// Upper bound given by the source, on the scale of value.
	Upper *float64 `json:"upper,omitempty" jsonschema:"nullable"`
	// Category of the source.
	Category *string `json:"category,omitempty" jsonschema:"nullable"`
	// Task of the source.
	Task *string `json:"task,omitempty" jsonschema:"nullable"`
}
