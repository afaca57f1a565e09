package verbs

import "strings"

var removed = map[string]string{
	"export":        "download whole tables from a server's /api/v1/dumps, or put a cache in front of modeldex serve",
	"import facts":  "write one file per record in models, hardware and tools of the dataset, and run modeldex check",
	"import pciids": "copy the ids from pci.ids into pci_ids of the hardware record",
	"mirror":        pull,
	"snapshot plot": "see the scores with their intervals on the model pages",

	"--follow":          pull,
	"--follow-every":    pull,
	"--origin-key-file": pull,
	"--keep":            "serve an older dataset from a git worktree, as packaging/README.md shows",
	"--dumps-dir":       "set TMPDIR, where dumps are temporary files",
	"--branch":          "append the printed lines to the file of their year on your own branch",
	"--previous":        "modeldex check finds records missing since a recorded release, and modeldex diff lists them",
	"--to":              "check out the release and run modeldex changes record there",

	"MODELDEX_FOLLOW":          pull,
	"MODELDEX_FOLLOW_EVERY":    pull,
	"MODELDEX_ORIGIN_KEY":      pull,
	"MODELDEX_ORIGIN_KEY_FILE": pull,
	"MODELDEX_KEEP":            "serve an older dataset from a git worktree, as packaging/README.md shows",
	"MODELDEX_DUMPS_DIR":       "set TMPDIR, where dumps are temporary files",
}

const pull = "update a git checkout next to the running server, as packaging/README.md shows"

// Replacement is the sentence that answers a command line with a removed verb or flag, empty for any other.
func Replacement(args []string) string {
	for n := 1; n <= min(2, len(args)); n++ {
		if verb := strings.Join(args[:n], " "); removed[verb] != "" {
			return "modeldex " + RemovedName(verb)
		}
	}
	for _, arg := range args {
		if arg == "--" {
			break
		}
		if flag, _, _ := strings.Cut(arg, "="); strings.HasPrefix(flag, "--") && removed[flag] != "" {
			return RemovedName(flag)
		}
	}
	return ""
}

// RemovedName says what to use instead of a verb, flag or environment variable; empty if it was not removed.
func RemovedName(name string) string {
	if removed[name] == "" {
		return ""
	}
	return name + " was removed: " + removed[name]
}
