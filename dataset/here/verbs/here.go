// Package verbs has the verb `modeldex here`, which names the hardware of this machine and lists what it
// runs. It is not part of package here because that list needs package fit.
package verbs

import (
	"fmt"
	"strings"

	fit "modeldex/dataset/fit/verbs"
	"modeldex/dataset/here"
	"modeldex/dataset/resolve"
	"modeldex/dataset/verbs"
)

// Here names the hardware of this machine and lists what it runs.
type Here struct {
	fit.Settings
	Limit       int  `help:"Maximum number of models to list, best first; 0 for all." default:"20"`
	DevicesOnly bool `help:"Print only the hardware, no models."`
}

// Run prints what was found and which models run on it. It only reads and sends nothing.
func (c *Here) Run(env *verbs.Env) error { return c.run(env, here.This()) }

func (c *Here) run(env *verbs.Env, machine here.Machine) error {
	set, _, err := c.Load(env)
	if err != nil {
		return err
	}
	report := here.Inspect(machine, resolve.New(set))
	if c.JSON() {
		return env.PrintJSON(report)
	}
	for _, d := range report.Devices {
		slug := d.Slug
		if slug == "" {
			slug = "unknown"
		}
		fmt.Fprintf(env.Stdout, "%-28s %s (%s)\n", slug, d.Text, d.Source)
		if d.Slug == "" {
			fmt.Fprintf(env.Stdout, "%-28s %s\n", "", d.Reason)
		}
		if len(d.Candidates) > 0 {
			fmt.Fprintf(env.Stdout, "%-28s may be %s\n", "", strings.Join(d.Candidates, ", "))
		}
	}
	if report.MemoryGB > 0 {
		fmt.Fprintf(env.Stdout, "%-28s %v GB\n", "main memory", report.MemoryGB)
	}
	switch {
	case report.Main == "":
		fmt.Fprintln(env.Stdout, "the directory has no hardware of this machine")
		return nil
	case c.DevicesOnly:
		return nil
	}
	fmt.Fprintf(env.Stdout, "\nwhat %s runs:\n", report.Main)
	return (&fit.Runs{Hardware: report.Main, Settings: c.Settings, Limit: c.Limit}).Run(env)
}
