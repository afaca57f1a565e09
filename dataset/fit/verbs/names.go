package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/resolve"
	"modeldex/dataset/verbs"
)

// names finds records by what people call them.
type names struct {
	*resolve.Resolver
	set *dataset.Set
}

func newNames(set *dataset.Set) names { return names{resolve.New(set), set} }

// find finds the one record that a name means. A name that fits several is an error that lists them.
func (n names) find(kind resolve.Kind, name string) (resolve.Answer, error) {
	a := n.Resolve(kind, name)
	if a.Slug != "" {
		return a, nil
	}
	var near []string
	for _, c := range a.Candidates {
		near = append(near, string(c.Slug))
	}
	why := fmt.Sprintf("%s: %q %s", kind, name, a.WhyNot())
	switch {
	case len(near) == 0 || strings.HasSuffix(why, near[0]):
		return a, errors.New(why)
	case a.Ambiguous:
		return a, fmt.Errorf("%s; choose one of %s", why, strings.Join(near, ", "))
	}
	return a, fmt.Errorf("%s; did you mean %s", why, strings.Join(near, " or "))
}

// model finds a model and says how its name was read.
func (n names) model(env *verbs.Env, name string) (dataset.Slug, error) {
	a, err := n.find(resolve.Model, name)
	if err == nil {
		sayRead(env, &a, string(a.Slug))
	}
	return a.Slug, err
}

// A machine is hardware by name, with what its name says beside the record and the flags do not: 0 for nothing.
type machine struct {
	slug     dataset.Slug
	memoryGB float64
	count    int
}

// machine finds the hardware of a query and says how its name was read. What the flags say counts, and not the name.
func (n names) machine(env *verbs.Env, name string, flags *fit.Query) (machine, error) {
	a, err := n.find(resolve.Hardware, name)
	if err != nil {
		return machine{}, err
	}
	var own float64
	if i := slices.IndexFunc(n.set.Hardware, func(h dataset.Hardware) bool { return h.Slug == a.Slug }); n.set.Hardware[i].VRAMGB != nil {
		own = *n.set.Hardware[i].VRAMGB
	}
	m := machine{slug: a.Slug}
	m.memoryGB, m.count = a.Machine(own)
	if flags.MemoryGB != 0 {
		m.memoryGB = 0
	}
	if flags.Count != 0 {
		m.count = 0
	}
	sayRead(env, &a, m.String())
	return m, nil
}

// String is the machine as a text for people.
func (m machine) String() string {
	out := string(m.slug)
	if m.count > 0 {
		out = fmt.Sprintf("%d x %s", m.count, out)
	}
	if m.memoryGB > 0 {
		out += fmt.Sprintf(" with %v GB of memory", m.memoryGB)
	}
	return out
}

// ask is the query for a machine.
func (m machine) ask(q fit.Query) fit.Query {
	q.Hardware, q.MemoryGB, q.Count = m.slug, cmp.Or(q.MemoryGB, m.memoryGB), cmp.Or(q.Count, m.count)
	return q
}

// sayRead says how a name was read that is not one of the record's own.
func sayRead(env *verbs.Env, a *resolve.Answer, as string) {
	switch {
	case a.Open():
		fmt.Fprintf(env.Stderr, "%q was %s; it may be %s as well\n", a.Input, a.Reason, strings.Join(a.Others(), " or "))
	case a.Confidence == resolve.Likely:
		fmt.Fprintf(env.Stderr, "%q was %s\n", a.Input, a.Reason)
	case a.Confidence == resolve.Parsed:
		fmt.Fprintf(env.Stderr, "%q was read as %s: %s\n", a.Input, as, a.Reason)
	}
}
