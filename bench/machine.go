//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Machine is where figures come from.
type Machine struct {
	CPU    string    `json:"cpu"`
	Cores  int       `json:"cores"`
	Memory string    `json:"memory"`
	Kernel string    `json:"kernel"`
	Go     string    `json:"go"`
	Commit string    `json:"commit"` // with "+" where files differ from it
	Date   time.Time `json:"date"`
	Load   string    `json:"load"` // of the last minute, before the run
}

func describeMachine(root string) Machine {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), Date: time.Now().UTC().Truncate(time.Second)}
	m.CPU = fileField("/proc/cpuinfo", "model name")
	m.Memory = fileField("/proc/meminfo", "MemTotal")
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	m.Kernel = strings.TrimSpace(string(kernel))
	load, _ := os.ReadFile("/proc/loadavg")
	m.Load, _, _ = strings.Cut(string(load), " ")
	m.Commit = output(root, "git", "rev-parse", "--short=12", "HEAD")
	if output(root, "git", "status", "--porcelain", "--", ".", ":!bench/results") != "" {
		m.Commit += "+"
	}
	return m
}

func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s, Linux %s, %s, commit %s, %s, load before %s",
		m.CPU, m.Cores, m.Memory, m.Kernel, m.Go, m.Commit, m.Date.Format(time.RFC3339), m.Load)
}

// fileField is the value of the first "name : value" line.
func fileField(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close() // only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// output is what a program prints, empty where it fails.
func output(dir, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// processorTime is what processes have used on all cores, the kernel's work for them included.
func processorTime(pids []int) (time.Duration, error) {
	const tick = time.Second / 100 // USER_HZ, the same on all Linux machines Go runs on
	var total time.Duration
	for _, pid := range pids {
		b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil {
			return 0, err
		}
		// The name, in parentheses, may hold anything; utime and stime are fields 14 and 15.
		_, rest, _ := strings.Cut(string(b), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 13 {
			return 0, fmt.Errorf("/proc/%d/stat: has %d fields", pid, len(fields))
		}
		for _, f := range fields[11:13] {
			n, err := strconv.Atoi(f)
			if err != nil {
				return 0, err
			}
			total += time.Duration(n) * tick
		}
	}
	return total, nil
}

// children are the processes started by one.
func children(pid int) []int {
	var out []int
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, f := range strings.Fields(string(b)) {
		if n, err := strconv.Atoi(f); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// memory reads a figure such as VmRSS of a process, in bytes; 0 if there is none.
func memory(pid int, name string) int64 {
	kb, _ := strconv.ParseInt(strings.TrimSuffix(fileField(fmt.Sprintf("/proc/%d/status", pid), name), " kB"), 10, 64)
	return kb << 10
}
