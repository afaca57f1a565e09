package quota_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"modeldex/quota"
)

var crashKills = flag.Int("crash.kills", 6, "how often the crash test kills its child")

const (
	crashEnv     = "QUOTA_CRASH_LEDGER"
	crashCallers = 4 // goroutines a key
)

// crashLimits are the quotas of the child's keys. One call is a hundredth of the first.
var crashLimits = []uint64{100, 2_000, 50_000, 1_000_000_000}

// TestMain turns the test binary into the crash test's child when asked to.
func TestMain(m *testing.M) {
	if path := os.Getenv(crashEnv); path != "" {
		if err := crashChild(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// crashChild spends from every active key, issues and revokes, and prints each thing after it
// was granted, one line a write, until it is killed.
func crashChild(path string) error {
	ledger, err := quota.Open(path, quota.Options{})
	if err != nil {
		return err
	}
	burst := quota.Burst{Rate: 1_000_000, PerSeconds: 1, Depth: 1_000_000}
	tiers, err := quota.NewTiers(quota.Tier{Name: "free", CallsPerMonth: 1_000, Burst: burst})
	if err != nil {
		return err
	}
	keeper, err := quota.NewKeeper(context.Background(), ledger, quota.Config{Tiers: tiers})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for _, line := range strings.Fields(os.Getenv(crashEnv + "_KEYS")) {
		var digest quota.Digest
		if _, err := hex.Decode(digest[:], []byte(line)); err != nil {
			return err
		}
		for range crashCallers {
			go crashSpend(keeper, digest)
		}
	}
	for i := 0; ; i++ {
		issued, refusal, err := keeper.Issue(context.Background(), quota.IssueRequest{Name: "c", Email: "c@example.com", UseCase: "c"})
		if err != nil || refusal.Reason != 0 {
			return fmt.Errorf("issuing: %+v, %w", refusal, err)
		}
		fmt.Printf("issued %s\n", issued.Account.ID)
		if i%2 == 0 {
			if _, err := keeper.SetStatus(context.Background(), issued.Account.ID, quota.StatusRevoked); err != nil {
				return err
			}
			fmt.Printf("revoked %s\n", issued.Account.ID)
		}
		time.Sleep(time.Millisecond)
	}
}

func crashSpend(keeper *quota.Keeper, digest quota.Digest) {
	for i := 0; ; i++ {
		call := keeper.Admit(digest)
		switch {
		case call.Verdict != quota.Admitted:
			time.Sleep(5 * time.Millisecond)
		case i%7 == 0:
			call.Release()
		default:
			call.Charge()
			fmt.Printf("spent %s\n", call.ID())
		}
	}
}

// crashRound is what one life of the child was heard to say.
type crashRound struct {
	spent           map[string]uint64
	issued, revoked []string
	err             string
}

// TestCrash kills a spending process at random moments and compares what it was heard to grant
// with what the ledger says: never fewer calls, at most one lease and the calls in flight more.
//
//	go test ./quota -run TestCrash -crash.kills 200
func TestCrash(t *testing.T) {
	t.Parallel() // it waits, for the disk mostly
	kills := *crashKills
	if testing.Short() {
		kills = min(kills, 2)
	}
	path := filepath.Join(t.TempDir(), "modeldex.db")
	ids, digests := crashKeys(t, path)
	before := make(map[string]uint64)
	issued, revoked := map[string]bool{}, map[string]bool{}
	total := uint64(0)
	// A machine that is busy may kill the child before it said anything: such rounds are more than kills,
	// and leave it more time.
	heard := func() bool { return total > 0 && len(issued) > 0 && len(revoked) > 0 }
	for round := 0; round < kills || !heard(); round++ {
		said := crashOnce(t, path, digests, 300*time.Millisecond*time.Duration(1+max(0, round-kills)))
		for _, id := range said.issued {
			issued[id] = true
		}
		for _, id := range said.revoked {
			revoked[id] = true
		}
		ledger, err := quota.Open(path, quota.Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for i, id := range ids {
			now := countOf(t, ledger, id)
			grown, spent := now-before[id.String()], said.spent[id.String()]
			lease := max(1, min(crashLimits[i]/100, spent+crashCallers))
			if grown < spent || grown > spent+lease+crashCallers || now > crashLimits[i] {
				t.Errorf("round %d: %s of %d calls grew by %d to %d, %d were granted, a lease is %d",
					round, id, crashLimits[i], grown, now, spent, lease)
			}
			before[id.String()] = now
			total += spent
		}
		checkAcknowledged(t, ledger, issued, revoked)
		if err := ledger.Close(); err != nil {
			t.Fatal(err)
		}
	}
	report, err := quota.Check(path)
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("Check() = %+v, %v, want no findings", report, err)
	}
	t.Logf("%d kills: %d calls, %d keys issued, %d revoked", kills, total, len(issued), len(revoked))
}

// crashKeys makes one key for each limit.
func crashKeys(t *testing.T, path string) (ids []quota.ID, digests []string) {
	t.Helper()
	ledger, err := quota.Open(path, quota.Options{})
	if err != nil {
		t.Fatal(err)
	}
	keeper, err := quota.NewKeeper(context.Background(), ledger, quota.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range crashLimits {
		issued, _, err := keeper.Issue(ctx, quota.IssueRequest{Name: "c", Email: "c@example.com", UseCase: "c", Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		digest, _ := quota.ParseKey(issued.Secret.Reveal(), keeper.KeyPrefix())
		ids, digests = append(ids, issued.Account.ID), append(digests, digest.String())
	}
	if err := keeper.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := ledger.Close(); err != nil {
		t.Fatal(err)
	}
	return ids, digests
}

// crashOnce runs the child, kills it at a random moment within most and returns what it said.
func crashOnce(t *testing.T, path string, digests []string, most time.Duration) crashRound {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+path, crashEnv+"_KEYS="+strings.Join(digests, " "))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		_ = cmd.Wait()
		t.Fatalf("child says %q, %v: %s", line, err, stderr.String())
	}
	var reading sync.WaitGroup
	var said crashRound
	reading.Go(func() { said = hear(lines) })
	time.Sleep(rand.N(most))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	reading.Wait()
	_ = cmd.Wait() // killed, as it should be
	if stderr.Len() > 0 || said.err != "" {
		t.Fatalf("child: %s %s", stderr.String(), said.err)
	}
	return said
}

func hear(lines *bufio.Reader) crashRound {
	said := crashRound{spent: map[string]uint64{}}
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return said // a line cut short was not heard
		}
		verb, id, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case err != nil || !ok:
			said.err = fmt.Sprintf("%q, %v", line, err)
			return said
		case verb == "spent":
			said.spent[id]++
		case verb == "issued":
			said.issued = append(said.issued, id)
		case verb == "revoked":
			said.revoked = append(said.revoked, id)
		}
	}
}

func countOf(t *testing.T, ledger *quota.Ledger, id quota.ID) (calls uint64) {
	t.Helper()
	lines, err := ledger.Usage(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		calls += line.Calls
	}
	return calls
}

// checkAcknowledged holds that no key acknowledged is lost and no revocation undone.
func checkAcknowledged(t *testing.T, ledger *quota.Ledger, issued, revoked map[string]bool) {
	t.Helper()
	for text := range issued {
		id, _ := quota.ParseID(text)
		r, _, err := ledger.Get(ctx, id)
		if err != nil {
			t.Errorf("%s was acknowledged and is lost: %v", text, err)
		} else if revoked[text] && r.Status != quota.StatusRevoked {
			t.Errorf("%s was revoked and is %v", text, r.Status)
		}
	}
}
