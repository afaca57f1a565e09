package fit

import "testing"

// Costs of an engine on the shipped data. Run with
//
//	go test ./dataset/fit -run - -bench . -benchmem

// Making an engine, as each load of the dataset does.
func BenchmarkNew(b *testing.B) {
	set := shippedSet(b)
	b.ReportAllocs()
	for b.Loop() {
		New(set)
	}
}

// One answer with all sizes, speeds and longest contexts.
func BenchmarkFit(b *testing.B) {
	e := shippedEngine(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, fault := e.Fit(Query{Model: "llama-3.1-8b", Hardware: "nvidia-rtx-4090"}); fault != nil {
			b.Fatal(fault)
		}
	}
}

// The best size of every model on one card with its speed, as a list with fits= needs.
func BenchmarkBestOfOneCard(b *testing.B) {
	e := shippedEngine(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, fault := e.Models(Query{Hardware: "nvidia-rtx-4090", Context: 32768, MinTPS: 20}); fault != nil {
			b.Fatal(fault)
		}
	}
}

// The same on the machine with most measurements.
func BenchmarkBestOfOneMachine(b *testing.B) {
	e := shippedEngine(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, fault := e.Models(Query{Hardware: "amd-ryzen-ai-max-395"}); fault != nil {
			b.Fatal(fault)
		}
	}
}

// All hardware that runs one model, as a list with runs= needs.
func BenchmarkBestOfOneModel(b *testing.B) {
	e := shippedEngine(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, fault := e.Hardware(Query{Model: "llama-3.3-70b-instruct", Quantization: "Q4_K_M", Context: 8192, Count: 2, MinTPS: 10}); fault != nil {
			b.Fatal(fault)
		}
	}
}

// The same with a least speed, on eight devices: nearly all of some 17,000 sizes are too slow.
func BenchmarkFastHardwareOfOneModel(b *testing.B) {
	e := shippedEngine(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, fault := e.Hardware(Query{Model: "llama-3.1-8b-instruct", Count: 8, MinTPS: 100}); fault != nil {
			b.Fatal(fault)
		}
	}
}

// The models that one device runs fast: most sizes are too slow.
func BenchmarkFastModelsOfOneMachine(b *testing.B) {
	e := shippedEngine(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, fault := e.Models(Query{Hardware: "nvidia-h200-sxm-141gb", MinTPS: 300}); fault != nil {
			b.Fatal(fault)
		}
	}
}

// The best size of one pair, of which a request may ask for a hundred.
func BenchmarkBestOfOnePair(b *testing.B) {
	e := shippedEngine(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, fault := e.Fit(Query{Model: "llama-3.3-70b-instruct", Hardware: "nvidia-rtx-4090", BestOnly: true}); fault != nil {
			b.Fatal(fault)
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	set := shippedSet(b)
	for b.Loop() {
		Evaluate(set)
	}
}
