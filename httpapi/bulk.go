package httpapi

import (
	"fmt"

	"modeldex/quota"
)

// Who may have records in bulk: the dumps, and whole records of the list of changes.

// admitDumps lets those have bulk data for whom the dumps are.
func (s *Server) admitDumps(req *request) *failure {
	switch s.cfg.Dumps {
	case DumpsOpen:
		return nil
	case DumpsKeyed:
		return s.admitPaid(req)
	default:
		return &failure{code: unknownRoute, detail: "This server offers no dumps. The lists have the same rows."}
	}
}

// admitPaid has a key of a tier above the free one admitted. It counts for the burst only.
func (s *Server) admitPaid(req *request) *failure {
	f := s.identify(req)
	if f != nil && f.code == missingKey && f.detail == "" { // its own text offers a free key, which would be the next 403
		f.detail = fmt.Sprintf("Dumps, and whole records of changes, need a key of the tier %s. Send it as \"Authorization: Bearer <key>\".", paidTiers(s.cfg.Keeper.Tiers()))
	}
	if f != nil {
		return f
	}
	f = s.decide(req, s.cfg.Keeper.AdmitFree(req.digest))
	req.keyed = false // dumps cost nothing, so that responses do not show what is left
	if f != nil {
		return f
	}
	if tier := req.call.Standing().Tier; tier == quota.FreeTier {
		return &failure{code: tierRequired, detail: fmt.Sprintf("Dumps, and whole records of changes, need a key of the tier %s; this key is of the tier %s.", paidTiers(s.cfg.Keeper.Tiers()), tier)}
	}
	return nil
}

// keepDump says how long a response about dumps may be kept, and by whom.
func (s *Server) keepDump(resp *response, age string) {
	if s.cfg.Dumps == DumpsKeyed {
		resp.keep("private, "+age, keyedVary)
	} else {
		resp.keep("public, "+age, openVary)
	}
}
