package mirror

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// The environment of a process that this test starts of itself, and kills.
const (
	originEnv = "MIRROR_TEST_ORIGIN"
	dirEnv    = "MIRROR_TEST_DIR"
)

func TestMain(m *testing.M) {
	if origin := os.Getenv(originEnv); origin != "" {
		os.Exit(mirrorForever(origin, os.Getenv(dirEnv)))
	}
	os.Exit(m.Run())
}

// mirrorForever brings the directory in step as often as it can.
func mirrorForever(origin, dir string) int {
	m, err := New(Config{Origin: origin, Dir: dir})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for n := 0; ; n++ {
		if _, err := m.Once(context.Background()); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(n)
	}
}

// TestKilled: a process that is killed at a random moment of a replacement leaves a complete
// dataset behind, and the next one goes on.
func TestKilled(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	var editions [2]map[string]string
	var origins [2]*origin
	for i := range editions {
		editions[i] = base(t, strconv.Itoa(i+1))
		origins[i] = &origin{t: t}
		origins[i].publish(regular(editions[i]), editions[i], digestOf(t, editions[i]))
	}
	// Every list is of the other edition, so that the mirror replaces the directory all the time.
	var lists atomic.Uint64
	server := httptest.NewServer(serveEvery(&lists, origins[:]))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "data")
	const kills = 12
	for range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), originEnv+"="+server.URL, dirEnv+"="+dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() || lines.Text() != "0" {
			t.Errorf("the mirror prints %q", lines.Text())
		}
		time.Sleep(time.Duration(rnd.IntN(20_000)) * time.Microsecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if got := contents(t, dir); !maps.Equal(got, editions[0]) && !maps.Equal(got, editions[1]) {
			t.Fatalf("after a kill the directory is neither edition: %d files", len(got))
		}
	}
	m, err := New(Config{Origin: server.URL, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Once(context.Background()); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(m.place.store, partPrefix+"*")); left != nil {
		t.Errorf("left behind: %q", left)
	}
}
