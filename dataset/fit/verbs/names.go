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

// names finds records by what people call them, and says on standard error how it read a name that is none of a record.
type names struct {
	*resolve.Resolver
	env *verbs.Env
	set *dataset.Set
}

func newNames(env *verbs.Env, set *dataset.Set) names { return names{resolve.New(set), env, set} }

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

func (n names) model(name dataset.Slug) (dataset.Slug, error) {
	a, err := n.find(resolve.Model, string(name))
	if err == nil {
		n.sayRead(&a, string(a.Slug))
	}
	return a.Slug, err
}

// machine finds the hardware of a query, of which there may be several names, and that of its host. Flags count before
// what a name says.
func (n names) machine(name string, q *fit.Query) error {
	known := fit.SplitNames(name, func(name string) bool { return n.Resolve(resolve.Hardware, name).Slug != "" })
	var devices []fit.Unit
	for _, name := range known {
		u, count, err := n.unit(name, q.MemoryGB, q.Count)
		if err != nil {
			return err
		}
		if len(known) == 1 {
			q.Count, count = cmp.Or(q.Count, count), 1
		}
		devices = append(devices, slices.Repeat([]fit.Unit{u}, max(count, 1))...)
	}
	q.Use(devices)
	if q.Host == "" {
		return nil
	}
	u, _, err := n.unit(string(q.Host), q.SystemMemoryGB, 0)
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	q.Host, q.SystemMemoryGB = u.Hardware, cmp.Or(q.SystemMemoryGB, u.MemoryGB)
	return nil
}

// unit finds hardware, with the memory and the number that its name says where no flag does.
func (n names) unit(name string, memoryGB float64, count int) (u fit.Unit, named int, err error) {
	a, err := n.find(resolve.Hardware, name)
	if err != nil {
		return u, 0, err
	}
	var own float64
	if i := slices.IndexFunc(n.set.Hardware, func(h dataset.Hardware) bool { return h.Slug == a.Slug }); n.set.Hardware[i].VRAMGB != nil {
		own = *n.set.Hardware[i].VRAMGB
	}
	u.Hardware = a.Slug
	if u.MemoryGB, named = a.Machine(own); memoryGB != 0 {
		u.MemoryGB = 0
	}
	if count != 0 {
		named = 0
	}
	n.sayRead(&a, machineText(u, named))
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

func (n names) sayRead(a *resolve.Answer, as string) {
	switch {
	case a.Open():
		fmt.Fprintf(n.env.Stderr, "%q was %s; it may also be %s\n", a.Input, a.Reason, strings.Join(a.Others(), " or "))
	case a.Confidence == resolve.Likely:
		fmt.Fprintf(n.env.Stderr, "%q was %s\n", a.Input, a.Reason)
	case a.Confidence == resolve.Parsed:
		fmt.Fprintf(n.env.Stderr, "%q was read as %s: %s\n", a.Input, as, a.Reason)
	}
}
