package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/resolve"
	"modeldex/dataset/verbs"
)

// Settings are the flags of a query.
type Settings struct {
	verbs.Dataset
	verbs.Format
	Context      tokens `help:"Context to reserve memory for, in tokens, such as 65536 or 64k; default 8192, or the model's limit if that is lower. The speed with that many tokens in the cache is shown too." placeholder:"TOKENS"`
	PromptTokens tokens `help:"Length of the prompt in tokens, for the time to the first token." placeholder:"TOKENS"`
	AnswerTokens tokens `help:"Length of the answer in tokens, for the time to the last token; needs --prompt-tokens." placeholder:"TOKENS"`
	fit.Query
}

// tokens is a number of tokens: 65536 or 64k.
type tokens int64

// UnmarshalText reads the value of a flag.
func (n *tokens) UnmarshalText(text []byte) error {
	digits, thousands := strings.CutSuffix(strings.ToLower(string(text)), "k")
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || thousands && v > math.MaxInt64>>10 {
		return fmt.Errorf("must be a number of tokens such as 65536 or 64k, got %q", text)
	}
	if *n = tokens(v); thousands {
		*n <<= 10
	}
	return nil
}

// A session answers a command from a dataset. It finds records by name, and reports on standard error how it read a name.
type session struct {
	*Settings
	*resolve.Resolver
	env    *verbs.Env
	set    *dataset.Set
	src    verbs.Source
	engine *fit.Engine
}

// with loads the dataset and answers from it.
func (s *Settings) with(env *verbs.Env, answer func(*session) error) error {
	set, src, err := s.Load(env)
	if err != nil {
		return err
	}
	q := &s.Query
	q.Context, q.PromptTokens, q.AnswerTokens, q.Today = int64(s.Context), int64(s.PromptTokens), int64(s.AnswerTokens), time.Now()
	return answer(&session{s, resolve.New(set), env, set, src, fit.New(set)})
}

// find finds the one record that a name means. A name that fits several is an error that lists them.
func (d *session) find(kind resolve.Kind, name string) (resolve.Answer, error) {
	a := d.Resolve(kind, name)
	if a.Slug != "" {
		return a, nil
	}
	var near []string
	for _, c := range a.Candidates {
		near = append(near, string(c.Slug))
	}
	why := fmt.Sprintf("%s: %q %s", kind, name, a.WhyNot())
	if len(near) > 0 && !strings.HasSuffix(why, near[0]+"?") {
		why += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return a, errors.New(why)
}

func (d *session) model(name string) (dataset.Slug, error) {
	a, err := d.find(resolve.Model, name)
	if err == nil {
		d.sayRead(&a, string(a.Slug))
	}
	return a.Slug, err
}

// machine finds the hardware of a query, which may have several names, and its host. Flags take precedence over names.
func (d *session) machine(name string, q *fit.Query) error {
	names := fit.SplitNames(name, func(name string) bool { return d.Resolve(resolve.Hardware, name).Slug != "" })
	var devices []fit.Unit
	for _, name := range names {
		u, count, err := d.unit(name, q.MemoryGB, q.Count)
		if err != nil {
			return err
		}
		if len(names) == 1 {
			q.Count, count = cmp.Or(q.Count, count), 1
		}
		devices = append(devices, slices.Repeat([]fit.Unit{u}, max(count, 1))...)
	}
	q.Use(devices)
	if q.Host == "" {
		return nil
	}
	u, _, err := d.unit(string(q.Host), q.SystemMemoryGB, 0)
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	q.Host, q.SystemMemoryGB = u.Hardware, cmp.Or(q.SystemMemoryGB, u.MemoryGB)
	return nil
}

// unit finds hardware, with the memory and the number that its name says where no flag does.
func (d *session) unit(name string, memoryGB float64, count int) (u fit.Unit, named int, err error) {
	a, err := d.find(resolve.Hardware, name)
	if err != nil {
		return u, 0, err
	}
	u.Hardware = a.Slug
	if u.MemoryGB, named = a.Machine(0); memoryGB != 0 {
		u.MemoryGB = 0
	}
	if count != 0 {
		named = 0
	}
	d.sayRead(&a, machineText(u, named))
	return u, named, nil
}

// machineText is hardware with the number of devices and their memory, where they are given.
func machineText(u fit.Unit, count int) string {
	out := string(u.Hardware)
	if count > 1 {
		out = fmt.Sprintf("%d x %s", count, out)
	}
	if u.MemoryGB > 0 {
		out += fmt.Sprintf(" with %v GB of memory", u.MemoryGB)
	}
	return out
}

func (d *session) sayRead(a *resolve.Answer, as string) {
	switch {
	case a.Open():
		fmt.Fprintf(d.env.Stderr, "%q was %s; it may also be %s\n", a.Input, a.Reason, strings.Join(a.Others(), " or "))
	case a.Confidence == resolve.Likely:
		fmt.Fprintf(d.env.Stderr, "%q was %s\n", a.Input, a.Reason)
	case a.Confidence == resolve.Parsed:
		fmt.Fprintf(d.env.Stderr, "%q was read as %s: %s\n", a.Input, as, a.Reason)
	}
}
