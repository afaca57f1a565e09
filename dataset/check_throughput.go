package dataset

// checkThroughput keeps the two kinds of measurements apart. A throughput result has a scenario and a total.
// Any other has at least one speed and no field that describes a load.
func (l *loader) checkThroughput(b *Benchmark, p place) {
	l.pair(p, "scenario", b.Scenario != nil, "total_tps", b.TotalTPS != nil)
	if !b.IsThroughput() {
		if b.PromptTPS == nil && b.GenerationTPS == nil {
			l.at(p, "generation_tps", "must be known where prompt_tps is null", "prompt_tps")
		}
		for _, f := range []struct {
			name  string
			known bool
		}{
			{"request_rate", b.RequestRate != nil},
			{"nodes", b.Nodes != nil},
			{"submitter", b.Submitter != nil},
			{"round", b.Round != nil},
			{"division", b.Division != nil},
			{"availability", b.Availability != nil},
			{"system", b.System != nil},
		} {
			if f.known {
				l.at(p, f.name, "must be null where scenario is null", "scenario")
			}
		}
		return
	}
	for _, f := range []struct {
		name  string
		known bool
	}{
		{"prompt_tps", b.PromptTPS != nil},
		{"generation_tps", b.GenerationTPS != nil},
		{"concurrency", b.Concurrency != nil},
		{"rate_basis", b.RateBasis != nil},
	} {
		if f.known {
			l.at(p, f.name, "must be null in a throughput result: total_tps is its speed", "scenario")
		}
	}
}
