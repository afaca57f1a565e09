package service

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// TestForgetProgram: most pages of the program go, again and again, and it runs on.
func TestForgetProgram(t *testing.T) {
	resident := func() int {
		status, err := os.ReadFile("/proc/self/status")
		m := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
		if err != nil || m == nil {
			t.Skip("the system does not say which pages are resident")
		}
		kB, _ := strconv.Atoi(string(m[1]))
		return kB
	}
	before := resident()
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
		forgetProgram()
	}
	if after := resident(); after > before {
		t.Errorf("%d kB of files are resident, %d before", after, before)
	}
}
