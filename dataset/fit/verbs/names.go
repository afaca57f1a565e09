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

// machine finds the hardware of a query, of which there may be several names, and that of its host, and says how the
// names were read. What flags say counts, and not the name.
func (n names) machine(env *verbs.Env, name string, q *fit.Query) error {
	known := fit.SplitNames(name, func(name string) bool { return n.Resolve(resolve.Hardware, name).Slug != "" })
	for i, name := range known {
		slug, memoryGB, count, err := n.unit(env, name, q)
		switch {
		case err != nil:
			return err
		case len(known) == 1:
			q.Hardware, q.MemoryGB, q.Count = slug, cmp.Or(q.MemoryGB, memoryGB), cmp.Or(q.Count, count)
			continue
		case i == 0:
			q.Hardware, q.MemoryGB = slug, cmp.Or(q.MemoryGB, memoryGB)
			count--
		}
		for range max(count, min(i, 1)) {
			q.Beside = append(q.Beside, fit.Unit{Hardware: slug, MemoryGB: memoryGB})
		}
	}
	if q.Host != "" {
		slug, memoryGB, _, err := n.unit(env, string(q.Host), &fit.Query{MemoryGB: q.SystemMemoryGB})
		if err != nil {
			return fmt.Errorf("host: %w", err)
		}
		q.Host, q.SystemMemoryGB = slug, cmp.Or(q.SystemMemoryGB, memoryGB)
	}
	return nil
}

// unit finds hardware, with what its name says beside the record and the flags do not: 0 for nothing.
func (n names) unit(env *verbs.Env, name string, flags *fit.Query) (slug dataset.Slug, memoryGB float64, count int, err error) {
	a, err := n.find(resolve.Hardware, name)
	if err != nil {
		return "", 0, 0, err
	}
	var own float64
	if i := slices.IndexFunc(n.set.Hardware, func(h dataset.Hardware) bool { return h.Slug == a.Slug }); n.set.Hardware[i].VRAMGB != nil {
		own = *n.set.Hardware[i].VRAMGB
	}
	memoryGB, count = a.Machine(own)
	if flags.MemoryGB != 0 {
		memoryGB = 0
	}
	if flags.Count != 0 {
		count = 0
	}
	sayRead(env, &a, machineText(a.Slug, count, memoryGB))
	return a.Slug, memoryGB, count, nil
}

// machineText is hardware with the number of devices and their memory, where they are given.
func machineText(slug dataset.Slug, count int, memoryGB float64) string {
	out := string(slug)
	if count > 1 {
		out = fmt.Sprintf("%d x %s", count, out)
	}
	if memoryGB > 0 {
		out += fmt.Sprintf(" with %v GB of memory", memoryGB)
	}
	return out
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
