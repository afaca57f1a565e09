package httpapi

import (
	"iter"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"modeldex/dataset/ask"
	"modeldex/dataset/resolve"
	"modeldex/httpapi/export"
	"modeldex/httpapi/pages"
	"modeldex/httpapi/query"
	"modeldex/index"

	"github.com/goccy/go-json/jsontext"
)

// askParams is a question.
type askParams struct {
	// A question, a title or a table row, in your own words: what runs, does it fit, how fast, which hardware, which is
	// better. At most 500 characters.
	Q string `query:"q,required,strict"`
}

var (
	askList = &resource{name: "ask", path: "ask", singular: "question", params: newAskParams()}
	askView = &resource{name: "ask", singular: "question", params: newAskParams()} // the box of pages
)

func newAskParams() []query.Param {
	params := query.Of[askParams]()
	query.Find(params, "q").Check = func(text string) (canonical, fault string) {
		if n := utf8.RuneCountInString(text); n > resolve.MaxQuestion {
			return "", "must be at most " + strconv.Itoa(resolve.MaxQuestion) + " characters long, got " + strconv.Itoa(n)
		}
		if strings.TrimSpace(text) == "" {
			return "", "must not be empty"
		}
		return text, ""
	}
	return params
}

// AskView is the answer to a question.
type AskView struct {
	// The question that was sent.
	Question string `json:"question" jsonschema:"example=can an RTX 3090 run gpt-oss-20b at 32k?"`
	// How the question was read.
	Reading ReadingView `json:"reading"`
	// URL of the API call that gives this answer; null if there is none.
	Call *string `json:"call" jsonschema:"nullable,format=uri-reference,example=/api/v1/fit?model=gpt-oss-20b&hardware=nvidia-rtx-3090&context=32768"`
	// Response body of that call; null if there is none or it was rejected.
	Answer jsontext.Value `json:"answer" jsonschema:"nullable"`
	// Why there is no answer, or which part of the question the answer ignores; otherwise null.
	Detail *string `json:"detail" jsonschema:"nullable,example=no model or hardware was found in the question"`
}

// ReadingView is how a question was read. What it does not say is null or empty.
type ReadingView struct {
	// Kind of question: whether a model fits, how fast it is, what runs on hardware, which hardware runs a model, or a
	// comparison.
	Intent string `json:"intent" jsonschema:"enum=fit,enum=speed,enum=runs,enum=which-hardware,enum=compare,example=fit"`
	// Models named in the question.
	Models []ReadNameView `json:"models"`
	// Hardware named in the question: to compare, or as parts of one machine.
	Hardware []ReadNameView `json:"hardware"`
	// The processor of the machine with the cards.
	Host *ReadNameView `json:"host" jsonschema:"nullable"`
	// Slug of the tool named in the question.
	Engine *string `json:"engine" jsonschema:"nullable,example=llama.cpp"`
	// Number of devices of one machine.
	Count *int `json:"count" jsonschema:"nullable,example=2"`
	// Memory of one device, or unified memory, in GB.
	MemoryGB *float64 `json:"memory_gb" jsonschema:"nullable,example=24"`
	// Main memory next to a card or of a processor, in GB.
	HostMemoryGB *float64 `json:"host_memory_gb" jsonschema:"nullable,example=64"`
	// Quantization, as written in the question.
	Quantization *string `json:"quantization" jsonschema:"nullable,example=Q4_K_M"`
	// Length of the context, in tokens.
	Context *int `json:"context" jsonschema:"nullable,example=32768"`
	// Maximum price. Other currencies count as US dollars.
	MaxPriceUSD *float64 `json:"max_price_usd" jsonschema:"nullable,example=2000"`
	// Minimum generation speed, in tokens per second.
	MinTPS *float64 `json:"min_tps" jsonschema:"nullable,example=20"`
	// Size of a model given only by size, in billions of parameters.
	SizeB *float64 `json:"size_b" jsonschema:"nullable,example=70"`
	// Words that were not used.
	Unused []string `json:"unused" jsonschema:"example=vulkan"`
}

// ReadNameView is a name in a question.
type ReadNameView struct {
	// Words from the question.
	Text string `json:"text" jsonschema:"example=3090"`
	// The record, or the likeliest one if several match; null if no record clearly matches.
	Slug *string `json:"slug" jsonschema:"nullable,example=nvidia-rtx-3090"`
	// Name of that record.
	Name *string `json:"name" jsonschema:"nullable,example=NVIDIA GeForce RTX 3090"`
	// parsed: every word was understood. likely: the likeliest of the candidates. near: the candidates are guesses.
	Confidence *string `json:"confidence" jsonschema:"nullable,enum=parsed,enum=likely,enum=near,example=parsed"`
	// Number of devices, if the question states it.
	Count *int `json:"count" jsonschema:"nullable,example=2"`
	// How the words were read.
	Reason string `json:"reason" jsonschema:"example=every word of the name was understood"`
	// Other possible records, best first.
	Candidates []resolve.Candidate `json:"candidates"`
}

func namesIn(list []resolve.Named) []ReadNameView {
	out := make([]ReadNameView, len(list))
	for i := range list {
		n := &list[i]
		out[i] = ReadNameView{
			Text: n.Input, Slug: known(string(n.Slug)), Name: known(n.Name), Confidence: known(string(n.Confidence)), Count: known(n.Count),
			Reason: n.Reason, Candidates: append([]resolve.Candidate{}, n.Candidates...),
		}
	}
	return out
}

func readingView(q *resolve.Question) ReadingView {
	v := ReadingView{
		Intent: string(q.Intent), Models: namesIn(q.Models), Hardware: namesIn(q.Hardware), Count: known(q.Count), MemoryGB: known(q.MemoryGB),
		HostMemoryGB: known(q.HostMemoryGB), Quantization: known(q.Quantization), Context: known(q.Context), MaxPriceUSD: known(q.MaxPriceUSD),
		MinTPS: known(q.MinTPS), SizeB: known(q.SizeB), Unused: append([]string{}, q.Unused...),
	}
	if q.Host != nil {
		v.Host = &namesIn([]resolve.Named{*q.Host})[0]
	}
	if q.Tool != nil {
		v.Engine = known(string(q.Tool.Slug))
	}
	return v
}

// showAsk answers a question: how it was read, the call it means, and the response to that.
func showAsk(s *Server, req *request) (*response, *failure) {
	v := query.Read(askList.params, req.ctx.QueryArgs().All())
	if f := failureOf(&v.Faults); f != nil {
		return nil, f
	}
	var asked askParams
	v.Into(&asked)
	return s.cached(req, v.Address(askPath), func() ([]byte, string) { return withMeta(req.gen, answerTo(req.gen, asked.Q)), "" }), nil
}

// answerTo reads a question and answers the call that it means.
func answerTo(gen *index.Generation, text string) *AskView {
	q := gen.Names.Read(text)
	out := &AskView{Question: text, Reading: readingView(q), Answer: jsontext.Value("null")}
	c := callOf(gen, q)
	if out.Detail = known(c.Left); c.resource == nil {
		return out
	}
	body, address, why := c.answer(gen)
	if out.Call = &address; why != "" {
		out.Detail = &why
		return out
	}
	out.Answer = body
	return out
}

// A call is the structured request that a question means, and the resource that answers it; nil where there is none.
type call struct {
	ask.Call
	resource *resource
}

// callOf is the call that a question means.
func callOf(gen *index.Generation, q *resolve.Question) call {
	c := call{Call: ask.Meant(q, gen.Fit.HasSize)}
	c.resource = map[ask.Of]*resource{ask.Fit: fitList, ask.Models: models, ask.Hardware: hardware, ask.Memory: fitView}[c.Of]
	return c
}

// answer makes the body of the response to the call, and the canonical address; why says why there is none.
func (c *call) answer(gen *index.Generation) (body []byte, address, why string) {
	r := reader{Values: query.Read(c.resource.params, pairs(c.Params)), gen: gen}
	address = "/api/v1/" + c.resource.path + "?" + c.Params.Encode()
	switch c.resource {
	case fitList:
		answer := r.fit(r.fitQuery())
		if r.Code == "" {
			return withMeta(gen, answer, r.notices...), r.Address(fitPath), ""
		}
	case fitView: // a machine of which only the memory is known
		q := &pages.FitQuery{Query: r.pair()}
		if r.Code == "" {
			r.findFit(q)
		}
		if address = "/fit.json?" + r.Canonical(); r.Code == "" {
			return fitData(gen, q, nil), address, ""
		}
	default:
		q, f := c.resource.parse(r.Values, gen, export.JSON)
		if f != nil {
			return nil, address, f.detail
		}
		body, _ = c.resource.body(gen, q)
		return body, q.canonical, ""
	}
	return nil, address, r.Faults.Text()
}

// pairs are parameters as a query string has them.
func pairs(params url.Values) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for name, values := range params {
			for _, value := range values {
				if !yield([]byte(name), []byte(value)) {
					return
				}
			}
		}
	}
}
