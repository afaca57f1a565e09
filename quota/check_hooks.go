package quota

import (
	"encoding/binary"
	"fmt"
)

// checkHooks checks the buckets of webhooks, after the accounts.
func (c *checker) checkHooks() {
	tx := hookTxOf(c.tx)
	if !tx.made() {
		for _, name := range hookBuckets {
			if c.tx.Bucket(name) != nil {
				c.report.Add("%s: bucket is there without %s", name, announcedBucket)
			}
		}
		return
	}
	for _, name := range hookBuckets {
		if c.tx.Bucket(name) == nil {
			c.report.Add("%s: bucket is missing", name)
			return
		}
	}
	hooks, queued, logged := map[HookKey]Hook{}, map[HookKey]int{}, map[HookKey]int{}
	c.each(hooksBucket, func(k, v []byte) error {
		h, err := readHook(k, v)
		if err != nil {
			return err
		}
		c.report.Webhooks++
		hooks[h.Key] = h
		return c.known(h.Key.Account.key())
	})
	c.deliveries(outboxBucket, hooks, queued, true)
	c.deliveries(sentBucket, hooks, logged, false)
	for k, h := range hooks {
		if h.Queued != queued[k] || h.Logged != logged[k] {
			c.report.Add("hooks: webhook %s counts %d waiting and %d finished deliveries, there are %d and %d", k.Hook, h.Queued, h.Logged, queued[k], logged[k])
		}
	}
	c.releases(tx)
	c.each(announcedBucket, func(k, v []byte) error {
		if string(k) == string(baselineKey) {
			return readJSON("baseline", k, v, new(Baseline))
		}
		marks, err := readMarks(k, v)
		for _, m := range marks {
			if len(k) != 2 || byte(MarkPart(m.ID)) != k[1] {
				return fmt.Errorf("benchmark %s is in the wrong part", m.ID)
			}
		}
		return err
	})
}

// deliveries checks one bucket of deliveries and counts them.
func (c *checker) deliveries(name []byte, hooks map[HookKey]Hook, count map[HookKey]int, pending bool) {
	c.each(name, func(k, v []byte) error {
		d, err := readDelivery(k, v)
		if err != nil {
			return err
		}
		count[d.Key]++
		h, ok := hooks[d.Key]
		switch {
		case !ok:
			return fmt.Errorf("webhook %s is not there", d.Key.Hook)
		case d.Seq == 0 || d.Seq >= h.Next:
			return fmt.Errorf("delivery %d of %s: the next number is %d", d.Seq, d.Key.Hook, h.Next)
		case (d.State == DeliveryPending) != pending:
			return fmt.Errorf("delivery %d of %s is %s", d.Seq, d.Key.Hook, d.State)
		}
		return nil
	})
}

// releases checks the releases and their records.
func (c *checker) releases(tx *hookTx) {
	rows, bytes := map[uint64]int{}, map[uint64]int{}
	c.each(recordsBucket, func(k, v []byte) error {
		if len(k) != 12 {
			return fmt.Errorf("key has %d bytes", len(k))
		}
		payload, err := unseal(k, v)
		n := binary.BigEndian.Uint64(k)
		rows[n]++
		bytes[n] += len(payload)
		return err
	})
	c.each(releasesBucket, func(k, v []byte) error {
		if len(k) != 8 {
			return fmt.Errorf("key has %d bytes", len(k))
		}
		n := binary.BigEndian.Uint64(k)
		r, err := tx.release(n)
		if err == nil && (r.Rows != rows[n] || r.Bytes != bytes[n]) {
			err = fmt.Errorf("release %d: records %d of %d bytes, written %d of %d", n, rows[n], bytes[n], r.Rows, r.Bytes)
		}
		delete(rows, n)
		return err
	})
	next, _, err := tx.baseline()
	if err != nil {
		c.report.Add("%v", err)
	}
	for n := range rows {
		if n == next.Next {
			continue // of a release that a killed process did not store; the next one removes them
		}
		c.report.Add("records: release %d is not there", n)
	}
}
