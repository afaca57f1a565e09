package quota

// BetweenWrites runs fn while no transaction writes to the ledger's file, nor will until fn returns.
func (l *Ledger) BetweenWrites(fn func()) error {
	tx, err := l.db.Begin(true)
	if err != nil {
		return err
	}
	fn()
	return tx.Rollback()
}
