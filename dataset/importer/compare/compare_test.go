package compare

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"modeldex/dataset"
)

const draws = 40 // measurements of each source

// least is the share of a source's draws whose figures must be found: pages that print a speed
// only as part of another (milliseconds a token) are read through their notes.
const least = 0.9

var cited = regexp.MustCompile(`^https://github\.com/([^/]+)/([^/]+)/(?:blob|tree)/([0-9a-f]{40})/(.+)$`)

func TestAgainstSources(t *testing.T) {
	dir := os.Getenv("MODELDEX_SOURCES_DIR")
	if dir == "" {
		t.Skip("MODELDEX_SOURCES_DIR names no folder with copies of the sources")
	}
	set, err := dataset.Load(context.Background(), os.DirFS("../../../data"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	bySource, others := map[string][]dataset.Benchmark{}, map[string]int{}
	for _, b := range set.Benchmarks.All() {
		switch {
		case b.SourceKey == nil || b.SourceURL == nil:
		case cited.MatchString(string(*b.SourceURL)):
			bySource[*b.SourceKey] = append(bySource[*b.SourceKey], b)
		default: // a thread or a page, which no copy of a repository has
			others[*b.SourceKey]++
		}
	}
	compared, absent := 0, []string(nil)
	files := map[string][]float64{}
	for _, key := range slices.Sorted(maps.Keys(bySource)) {
		rows := bySource[key]
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		found, read, missing := 0, 0, []string(nil)
		for _, b := range rows[:min(draws, len(rows))] {
			numbers, ok := numbersOf(files, dir, string(*b.SourceURL))
			if !ok {
				continue
			}
			if read++; isAmong(&b, numbers) {
				found++
			} else {
				missing = append(missing, string(b.ID))
			}
		}
		switch {
		case read == 0:
			absent = append(absent, fmt.Sprintf("%s (%d)", key, len(rows)))
			continue
		case float64(found) < least*float64(read):
			t.Errorf("%s: the figures of %d of %d measurements are in the cited file; not of %v", key, found, read, missing)
		default:
			t.Logf("%s: %d of %d %v", key, found, read, missing)
		}
		compared++
	}
	t.Logf("%d sources compared", compared)
	t.Logf("no copy, or none of the commit: %s", strings.Join(absent, ", "))
	for _, key := range slices.Sorted(maps.Keys(others)) {
		t.Logf("not files of a repository: %s (%d)", key, others[key])
	}
}

var number = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?`)

// numbersOf returns the numbers of a cited file in order; false where it cannot be read.
func numbersOf(files map[string][]float64, dir, page string) ([]float64, bool) {
	if n, ok := files[page]; ok {
		return n, n != nil
	}
	m := cited.FindStringSubmatch(page)
	var text []byte
	for _, repo := range []string{filepath.Join(dir, m[1]+"+"+m[2], "repo"), filepath.Join(dir, m[1], m[2])} {
		for _, at := range []string{m[3], "HEAD"} { // a snapshot without its history holds the newest state
			path, _, _ := strings.Cut(m[4], "#")
			if plain, err := url.PathUnescape(path); err == nil {
				path = plain
			}
			out, err := exec.Command("git", "-C", repo, "show", at+":"+path).Output()
			if err == nil && len(text) == 0 {
				text = out
				if beside, ok := strings.CutSuffix(path, "_pp.csv"); ok { // prompt speeds; those of generation are in the file beside it
					more, _ := exec.Command("git", "-C", repo, "show", at+":"+beside+"_tg.csv").Output()
					text = append(append(text, '\n'), more...)
				}
				if names := strings.Split(string(out), "\n"); strings.HasPrefix(names[0], "tree ") { // a folder: all its files
					text = nil
					for _, name := range names[2:] {
						part, _ := exec.Command("git", "-C", repo, "show", at+":"+path+"/"+name).Output()
						text = append(append(text, part...), '\n')
					}
				}
			}
		}
	}
	var list []float64
	for _, s := range number.FindAllString(string(text), -1) {
		parts := strings.Split(s, ",") // of thousands in a text, of columns in a table
		for _, s := range append(parts, strings.Join(parts, "")) {
			if v, err := strconv.ParseFloat(s, 64); err == nil {
				list = append(list, v)
			}
		}
	}
	slices.Sort(list)
	files[page] = list
	return list, list != nil
}

// isAmong reports whether the figures of a measurement are among the numbers of its source: each
// speed as printed, or else the figures its notes quote.
func isAmong(b *dataset.Benchmark, numbers []float64) bool {
	all := true
	for _, v := range []*float64{b.PromptTPS, b.GenerationTPS, b.TotalTPS} {
		all = all && (v == nil || has(numbers, *v) || strings.Contains(text(b.Notes), "ms") && near(numbers, 1000 / *v)) // milliseconds a token
	}
	if all || b.Notes == nil {
		return all
	}
	quoted, hits := 0, 0
	for _, s := range number.FindAllString(*b.Notes, -1) {
		if v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64); err == nil && v != math.Trunc(v) {
			if quoted++; has(numbers, v) {
				hits++
			}
		}
	}
	return quoted > 0 && hits > 0
}

// has looks for a number, to the digits a source rounds to.
func has(numbers []float64, v float64) bool {
	i, _ := slices.BinarySearch(numbers, v-math.Max(5e-5, v*1e-4))
	return i < len(numbers) && numbers[i] <= v+math.Max(5e-5, v*1e-4)
}

// near looks for whole milliseconds a token, of which a rate was worked out.
func near(numbers []float64, v float64) bool {
	return has(numbers, math.Round(v)) || has(numbers, math.Round(v*10)/10) || has(numbers, math.Round(v*100)/100)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
