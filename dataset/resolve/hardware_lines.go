package resolve

import (
	"regexp"
	"strings"
)

// logLines are lines of logs with the name of a device in them, and a text that each of them has: most names have none.
var logLines = []struct {
	has  string
	name *regexp.Regexp
}{
	// llama.cpp: "using device CUDA0 (NVIDIA GeForce RTX 3090) (0000:c1:00.0) - 23552 MiB free"
	{" device ", regexp.MustCompile(`\b(?:using|registered) device [a-z]+[0-9]* \((.+?)\)(?: \([^()]*\))?(?: - [0-9]+ mib free)?$`)},
	{"ggml_vulkan: using ", regexp.MustCompile(`^ggml_vulkan: using ([^|]+)`)},
	{":gpu:", regexp.MustCompile(`\[(?:level_zero|opencl|cuda|hip):gpu:[0-9]+\] ?\| ?([^|]+)\|`)}, // the table of SYCL
	{`name="`, regexp.MustCompile(`\bname="([^"]+)"`)},                                            // Ollama
	{"| ", regexp.MustCompile(`^\| ?[0-9]+ (.+?) (?:on|off) ?\|`)},                                // the table of nvidia-smi
}

// oryon is how Windows names the processors of Qualcomm: "Snapdragon(R) X Elite - X1E78100 - Qualcomm(R) Oryon(TM) CPU".
var oryon = regexp.MustCompile(`^(snapdragon x2? [a-z ]*?) ?- (x[12][ep]?)([0-9]{2})([0-9]{3}) - qualcomm oryon cpu$`)

// writtenOut is the name of hardware in a line of a log, or for a number of its maker. It is text itself where there is
// neither.
func writtenOut(text string) string {
	for _, line := range logLines {
		if strings.Contains(text, line.has) {
			if at := line.name.FindStringSubmatch(text); at != nil {
				return strings.TrimSpace(at[1])
			}
		}
	}
	if strings.HasSuffix(text, "oryon cpu") {
		return oryon.ReplaceAllString(text, "$1 $2-$3-$4")
	}
	return nameMac(coreCounts.ReplaceAllString(text, "$1"))
}

// coreCounts finds the cores of an Apple chip behind its name, "apple m4 max 12p+4e".
var coreCounts = regexp.MustCompile(`^(apple m[0-9]+(?: (?:pro|max|ultra))?) [0-9]+p\+[0-9]+e$`)
