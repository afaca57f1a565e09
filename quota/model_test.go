package quota_test

import (
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"modeldex/quota"
	"modeldex/quota/quotatest"
)

var (
	modelSeed  = flag.Uint64("model.seed", 0, "seed of the model test; 0 draws one")
	modelSteps = flag.Int("model.steps", 1_500, "steps of the model test")
)

// model is the ledger as plain maps, and the rules in their simplest words.
type model struct {
	accounts []*modelAccount
	month    quota.Month
	newest   quota.Month // in which some call was leased
	held     []modelHeld
}

type modelAccount struct {
	id      quota.ID
	secrets []modelSecret // the last one is current
	status  quota.Status
	tier    string
	custom  uint64
	calls   map[quota.Month]uint64 // charged
	holds   map[quota.Month]uint64
}

type modelSecret struct {
	key   quotatest.Key
	until int64 // 0: current
}

type modelHeld struct {
	call  quota.Call
	acc   *modelAccount
	month quota.Month
	limit uint64
	cost  uint64
}

func (m *model) turn(now time.Time) {
	here := quota.MonthOf(now)
	if here > m.month || now.Before(m.month.Start().Add(-24*time.Hour)) {
		m.month = here
	}
}

// restart is a new process, which knows of the past what the ledger tells.
func (m *model) restart(now time.Time) {
	m.month = quota.MonthOf(now)
	if m.newest > m.month && !now.Before(m.newest.Start().Add(-24*time.Hour)) {
		m.month = m.newest
	}
}

func (a *modelAccount) limit() uint64 {
	if a.custom > 0 {
		return a.custom
	}
	return map[string]uint64{"free": 1_000, "pro": 100_000}[a.tier]
}

func (a *modelAccount) verdict(m *model, s modelSecret, now time.Time) quota.Verdict {
	switch {
	case a.status == quota.StatusSuspended:
		return quota.Suspended
	case a.status == quota.StatusRevoked:
		return quota.Revoked
	case s.until != 0 && (now.Unix() >= s.until || s.until-now.Unix() > int64((quota.MaxGrace+24*time.Hour)/time.Second)):
		return quota.Rotated
	case a.calls[m.month]+a.holds[m.month] >= a.limit():
		return quota.QuotaExhausted
	}
	return quota.Admitted
}

// modelRun drives kit and model with the same random acts.
type modelRun struct {
	t     *testing.T
	kit   *quotatest.Kit
	rnd   *rand.Rand
	model model
	step  int
}

// TestModel drives random issues, calls, refunds, rotations, revocations, tier changes, month
// turns, clock jumps, compactions and reopenings against plain maps.
//
//	go test ./quota -run TestModel -model.steps 100000 -model.seed 7
func TestModel(t *testing.T) {
	t.Parallel() // it waits, for the disk mostly
	seed := *modelSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-model.seed %d", seed)
	run := &modelRun{t: t, kit: quotatest.New(t, quota.Config{Tiers: wide(t)}), rnd: rand.New(rand.NewPCG(seed, 1))}
	run.model.restart(run.kit.Clock.Now())
	run.issue()
	acts := []struct {
		weight int
		act    func()
	}{
		{40, run.spend},
		{10, run.settleHeld},
		{4, run.issue},
		{4, run.rotate},
		{3, run.setStatus},
		{4, run.setTier},
		{1, run.erase},
		{6, run.pass},
		{1, run.jumpBack},
		{2, run.reopen},
		{5, run.compare},
	}
	total := 0
	for _, a := range acts {
		total += a.weight
	}
	steps := *modelSteps
	if testing.Short() {
		steps /= 10
	}
	for run.step = range steps {
		pick := run.rnd.IntN(total)
		for _, a := range acts {
			if pick -= a.weight; pick < 0 {
				a.act()
				break
			}
		}
		if t.Failed() {
			t.Fatalf("step %d of -model.seed %d", run.step, seed)
		}
	}
	run.reopen()
}

func (r *modelRun) account() *modelAccount {
	return r.model.accounts[r.rnd.IntN(len(r.model.accounts))]
}

func (r *modelRun) issue() {
	if len(r.model.accounts) > 12 { // room is made by those whose story has ended
		r.model.accounts = slices.DeleteFunc(r.model.accounts, func(a *modelAccount) bool {
			return a.status == quota.StatusRevoked && a.holds[r.model.month] == 0
		})
	}
	if len(r.model.accounts) > 24 {
		return
	}
	custom := uint64(r.rnd.IntN(200) + 1)
	key := r.kit.MustIssue("enterprise", custom)
	r.model.accounts = append(r.model.accounts, &modelAccount{
		id: key.ID, secrets: []modelSecret{{key: key}}, status: quota.StatusActive, tier: "enterprise", custom: custom,
		calls: map[quota.Month]uint64{}, holds: map[quota.Month]uint64{},
	})
}

// spend makes some calls with one secret, current or old, and charges, releases or holds them.
func (r *modelRun) spend() {
	a := r.account()
	s := a.secrets[r.rnd.IntN(len(a.secrets))]
	for range r.rnd.IntN(20) + 1 {
		r.kit.Clock.Advance(time.Millisecond)
		now := r.kit.Clock.Now()
		r.model.turn(now)
		month := r.model.month
		want := a.verdict(&r.model, s, now)
		call := r.kit.Admit(s.key.Digest)
		if call.Verdict != want {
			r.t.Errorf("Admit(%s) = %v, want %v", a.id, call.Verdict, want)
			return
		}
		r.checkStanding(a, month, call.Standing())
		if want == quota.Admitted {
			a.holds[month]++
			r.model.newest = max(r.model.newest, month)
			h := modelHeld{call, a, month, a.limit(), 1}
			if r.rnd.IntN(6) == 0 {
				r.extend(&h)
			}
			if r.rnd.IntN(8) == 0 && len(r.model.held) < 20 {
				r.model.held = append(r.model.held, h)
			} else {
				r.end(h)
			}
		}
	}
}

// extend makes a call cost several, if so many are left.
func (r *modelRun) extend(h *modelHeld) {
	cost := 1 + uint64(r.rnd.IntN(60))
	want := quota.Admitted
	if h.acc.calls[h.month]+h.acc.holds[h.month]+cost-1 > h.limit {
		want = quota.QuotaExhausted
	}
	if got := h.call.Extend(cost); got != want {
		r.t.Errorf("Extend(%d) of %s = %v, want %v", cost, h.acc.id, got, want)
	}
	if want == quota.Admitted {
		h.acc.holds[h.month] += cost - 1
		h.cost = cost
	}
}

// end charges or releases a held call.
func (r *modelRun) end(h modelHeld) {
	h.acc.holds[h.month] -= h.cost
	got := h.call.Release
	if r.rnd.IntN(3) > 0 {
		h.acc.calls[h.month] += h.cost
		got = h.call.Charge
	}
	if got, want := got().Remaining, h.limit-min(h.acc.calls[h.month], h.limit); got != want {
		r.t.Errorf("Remaining of %s in %v = %d, want %d", h.acc.id, h.month, got, want)
	}
}

func (r *modelRun) checkStanding(a *modelAccount, month quota.Month, got quota.Standing) {
	want := quota.Standing{Tier: a.tier, Limit: a.limit(), Reset: month.End().Unix()}
	want.Remaining = want.Limit - min(a.calls[month], want.Limit)
	got.Burst, got.BurstRemaining, got.BurstReset, got.RetryAfter = want.Burst, 0, 0, 0
	if got != want {
		r.t.Errorf("standing of %s = %+v, want %+v", a.id, got, want)
	}
}

func (r *modelRun) settleHeld() {
	if n := len(r.model.held); n > 0 {
		i := r.rnd.IntN(n)
		r.end(r.model.held[i])
		r.model.held = slices.Delete(r.model.held, i, i+1)
	}
}

func (r *modelRun) rotate() {
	a := r.account()
	i := r.rnd.IntN(len(a.secrets))
	now := r.kit.Clock.Now()
	r.model.turn(now)
	want := a.verdict(&r.model, a.secrets[i], now)
	if want == quota.QuotaExhausted {
		want = quota.Admitted // the acts of an owner are not counted
	}
	if want == quota.Admitted && i < len(a.secrets)-1 {
		want = quota.Rotated
	}
	grace := time.Duration(r.rnd.IntN(3)) * 12 * time.Hour
	issued, v, err := r.kit.Rotate(ctx, a.secrets[i].key.Digest, grace)
	if err != nil || v != want {
		r.t.Errorf("Rotate(%s) = %v, %v, want %v", a.id, v, err, want)
		return
	}
	if v != quota.Admitted {
		return
	}
	a.secrets[i].until = now.Add(grace).Unix()
	if grace == 0 {
		a.secrets[i].until = 1 // over, also if the clock jumps back
	}
	a.secrets = append(a.secrets, modelSecret{key: r.kit.KeyOf(issued)})
	if len(a.secrets) > quota.MaxOldSecrets+1 {
		a.secrets = a.secrets[1:]
	}
}

func (r *modelRun) setStatus() {
	a := r.account()
	to := quota.Statuses[r.rnd.IntN(len(quota.Statuses))]
	if to == quota.StatusRevoked && r.rnd.IntN(5) > 0 {
		return // or nobody would be left
	}
	act := map[quota.Status]func() error{
		quota.StatusActive:    func() error { _, err := r.kit.SetStatus(ctx, a.id, quota.StatusActive); return err },
		quota.StatusSuspended: func() error { _, err := r.kit.SetStatus(ctx, a.id, quota.StatusSuspended); return err },
		quota.StatusRevoked:   func() error { _, err := r.kit.SetStatus(ctx, a.id, quota.StatusRevoked); return err },
	}[to]
	var want error
	if a.status == quota.StatusRevoked && to != quota.StatusRevoked {
		want = quota.ErrFinal
	} else {
		a.status = to
	}
	if err := act(); !errors.Is(err, want) {
		r.t.Errorf("setting %s to %v: %v, want %v", a.id, to, err, want)
	}
}

func (r *modelRun) setTier() {
	a := r.account()
	tier, custom := "free", uint64(0)
	if r.rnd.IntN(4) > 0 {
		tier, custom = "enterprise", uint64(r.rnd.IntN(300)+1)
	}
	_, err := r.kit.SetTier(ctx, a.id, tier, custom)
	if a.status == quota.StatusRevoked {
		if !errors.Is(err, quota.ErrFinal) {
			r.t.Errorf("SetTier(%s) = %v, want ErrFinal", a.id, err)
		}
		return
	}
	if err != nil {
		r.t.Errorf("SetTier(%s) = %v", a.id, err)
	}
	a.tier, a.custom = tier, custom
}

func (r *modelRun) erase() {
	a := r.account()
	if r.rnd.IntN(3) > 0 {
		return
	}
	if _, err := r.kit.Erase(ctx, a.id); err != nil {
		r.t.Errorf("Erase(%s) = %v", a.id, err)
	}
	a.status = quota.StatusRevoked
}

// pass and jumpBack have the keeper look at the clock: whether a month was seen decides whether a clock that
// jumps back leads out of it.
func (r *modelRun) pass() {
	steps := []time.Duration{time.Second, time.Minute, 5 * time.Hour, 3 * 24 * time.Hour, 20 * 24 * time.Hour}
	r.kit.Clock.Advance(steps[r.rnd.IntN(len(steps))])
	r.compare()
}

func (r *modelRun) jumpBack() {
	back := []time.Duration{time.Minute, 10 * time.Hour, 30 * 24 * time.Hour}
	r.kit.Clock.Jump(r.kit.Clock.Now().Add(-back[r.rnd.IntN(len(back))]))
	r.compare()
}

// reopen stops cleanly, sometimes compacts, and starts again: every count must be exact.
func (r *modelRun) reopen() {
	for len(r.model.held) > 0 {
		r.settleHeld()
	}
	r.model.turn(r.kit.Clock.Now())
	r.kit.Stop()
	if r.rnd.IntN(3) == 0 {
		if _, _, err := quota.Compact(r.kit.Path); err != nil {
			r.t.Fatal(err)
		}
	}
	r.kit.Start()
	r.model.restart(r.kit.Clock.Now())
	for _, a := range r.model.accounts {
		r.compareOne(a)
	}
}

func (r *modelRun) compare() { r.compareOne(r.account()) }

func (r *modelRun) compareOne(a *modelAccount) {
	got, err := r.kit.Usage(ctx, a.id)
	if err != nil {
		r.t.Error(err)
		return
	}
	months := 0
	for _, n := range a.calls {
		if n > 0 {
			months++
		}
	}
	if len(got) != months {
		r.t.Errorf("Usage(%s) = %v, want %v", a.id, got, a.calls)
	}
	for _, line := range got {
		if line.Calls != a.calls[line.Month] {
			r.t.Errorf("Usage(%s) in %v = %d, want %d", a.id, line.Month, line.Calls, a.calls[line.Month])
		}
	}
	r.model.turn(r.kit.Clock.Now())
	view, err := r.kit.Show(ctx, a.id)
	if err != nil || view.Status != a.status || view.Tier != a.tier || view.Limit != a.limit() || view.Used != a.calls[r.model.month] {
		r.t.Errorf("Show(%s) = %+v, %v, want %v in %s with %d of %d", a.id, view, err, a.status, a.tier, a.calls[r.model.month], a.limit())
	}
}
