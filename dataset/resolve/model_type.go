package resolve

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

// mayBeType reports whether a text ends like a type, which is quicker to see than to read.
func mayBeType(text string) bool {
	for _, end := range []string{" - medium", " - small", " - large", "bpw", "ternary", " moe", "(guessed)"} {
		if strings.HasSuffix(text, end) {
			return true
		}
	}
	_, ok := classify(text[strings.LastIndexByte(text, ' ')+1:])
	return ok && strings.Contains(text, " ")
}

// byType reads the type of a model as llama-bench prints it, "qwen3moe 30B.A3B Q4_K - Medium". It
// names an architecture and a size, not a release, so that it is hardly ever an answer.
func (n *modelNames) byType(text string) (Answer, bool) {
	if !mayBeType(text) {
		return Answer{}, false
	}
	rest, quant := TypeQuantization(text)
	architecture, size, ok := strings.Cut(rest, " ")
	if quant == "" || !ok || strings.ContainsAny(rest, "/:") || strings.HasSuffix(text, strings.ToLower(quant)) && strings.Contains(quant, "_K_") {
		return Answer{}, false
	}
	sizes := modelWords(size)
	if !onlySize(sizes) {
		return Answer{}, false
	}
	a := Answer{Quantization: quant, Format: "gguf", ParamsB: params(sizes)}
	family := modelWords(strings.TrimSuffix(architecture, "moe"))
	text = strings.Join(append(family, sizes...), " ") + " "
	recs := beginning(n.phrases, text)
	if only := n.same(n.phrases, text); only >= 0 && len(recs) == 1 && ownArchitecture[architecture] {
		a.Slug, a.Name, a.Confidence, a.Reason = n.recs[only].slug, n.recs[only].name, Parsed, "the only release of this architecture and size"
		return a, true
	}
	if built := n.builtAs(architecture, sizes); len(built) > 0 {
		recs = slices.DeleteFunc(recs, func(rec int32) bool { return !slices.Contains(built, rec) }) // those named so go first
		for _, rec := range built {
			recs = appendOnce(recs, rec)
		}
		recs = recs[:min(MaxCandidates, len(recs))]
	} else {
		for _, p := range n.phrases { // "qwen3 coder 30b a3b": the size need not follow the family
			if len(recs) < MaxCandidates && strings.HasPrefix(p.text, strings.Join(family, " ")+" ") && strings.Contains(p.text, " "+strings.Join(sizes, " ")+" ") {
				recs = appendOnce(recs, p.rec)
			}
		}
	}
	a.Ambiguous, a.Reason = true, "the type names an architecture and a size, not a release"
	a.Candidates = n.list(recs, "has this architecture and size")
	return a, true
}

// builtAs are the records with an architecture of llama.cpp whose parameters are about those of a size that llama-bench
// prints: those of the same name first, then the nearest, then the shortest name. llama.cpp prints rounded sizes and leaves embeddings out of small ones: "0.6B" is 0.75.
func (n *modelNames) builtAs(architecture string, sizes []string) (recs []int32) {
	about := func(params, printed, below float64) bool {
		return printed == 0 || params > printed*below && params < printed*1.27
	}
	printed, actives := params(sizes), 0.0
	for _, w := range sizes {
		if active(w) {
			actives = params([]string{w[1:]})
		}
	}
	for i := range n.recs {
		if m := &n.recs[i]; m.architecture == architecture && about(m.params, printed, 0.9) && about(m.actives, actives, 0.8) {
			recs = append(recs, int32(i))
		}
	}
	maker := strings.TrimRight(strings.TrimSuffix(architecture, "moe"), "0123456789")
	rank := func(rec int32) (other int, off float64, length int) {
		m := &n.recs[rec]
		if !strings.HasPrefix(string(m.slug), maker) {
			other = 1
		}
		return other, math.Round(100 * math.Abs(m.params/printed-1)), len(m.slug)
	}
	slices.SortStableFunc(recs, func(a, b int32) int {
		x, far, long := rank(a)
		y, farther, longer := rank(b)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(far, farther), cmp.Compare(long, longer))
	})
	return recs
}

// typeWords finds the storage type at the end of a model type that llama-bench prints, with its size in words
// or bits. Examples: "Q4_K - Medium", "IQ2_XXS - 2.0625 bpw", "MXFP4 MoE", "mostly Q4_0", "Q8_0 (guessed)".
var typeWords = regexp.MustCompile(`(?i)\b((?:I|T)?Q[0-9]_[0-9A-Z_]+(?: mix)?|BF16|F16|F32|MXFP4|NVFP4)` +
	`(?: - (Small|Medium|Large)| - [0-9.]+ bpw(?: ternary)?| MoE)?(?: \(guessed\))?$`)

// TypeQuantization reads the storage type at the end of the type of a model as llama-bench prints
// it ("llama 8B Q4_K - Medium" is Q4_K_M). rest is what precedes it. The quantization is
// empty if there is none.
func TypeQuantization(printed string) (rest, quantization string) {
	at := typeWords.FindStringSubmatchIndex(printed)
	if at == nil {
		return printed, ""
	}
	name := strings.ToUpper(printed[at[2]:at[3]])
	if at[4] >= 0 {
		name += "_" + typeSizes[strings.ToLower(printed[at[4]:at[5]])]
	}
	if usual := usualTypes[name]; usual != "" {
		name = usual
	}
	rest = strings.TrimSpace(printed[:at[0]])
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, " mostly"), " all")
	return rest, name
}
