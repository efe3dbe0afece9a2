package activity

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// TestMergedCallsKeepTheirTimes checks that calls that are counted together have the time of the
// first and of the last of them, whatever the order of their user agents, and that a retry of the
// transaction counts them once.
func TestMergedCallsKeepTheirTimes(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		at := models.Now()
		if _, err := s.account.Admin().CreateToken(ctx, "ada", "test", []auth.Scope{auth.Read}, 0); err != nil {
			t.Fatal(err)
		}
		calls := make(map[callKey]*DeprecatedCall)
		call := func(agent string, first, last time.Duration) {
			key := callKey{"get_things", 1, agent}
			calls[key] = &DeprecatedCall{Operation: key.operation, TokenID: key.tokenID, UserAgent: agent, Calls: 1,
				FirstAt: at.Add(first), LastAt: at.Add(last)}
		}
		for i := range maxAgents {
			call(fmt.Sprintf("agent %02d", i), 0, 0)
		}
		call("x", 2*time.Hour, 3*time.Hour)
		call("y", time.Hour, 4*time.Hour)
		call("z", 90*time.Minute, 2*time.Hour)
		// A transaction that is rolled back does not count.
		rolledBack := errors.New("rolled back")
		err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			if _, err := s.boundAgents(ctx, tx, calls); err != nil {
				return err
			}
			return rolledBack
		})
		if !errors.Is(err, rolledBack) {
			t.Fatal(err)
		}
		if err := s.saveCalls(ctx, calls); err != nil {
			t.Fatal(err)
		}
		var others DeprecatedCall
		if err := s.core.DB.Read.NewSelect().Model(&others).Where("dc.user_agent = ?", otherAgents).Scan(ctx); err != nil {
			t.Fatal(err)
		}
		if first, last := others.FirstAt.Sub(at), others.LastAt.Sub(at); others.Calls != 3 || first != time.Hour ||
			last != 4*time.Hour {
			t.Errorf("%d calls by others, the first after %s and the last after %s, want 3, 1h0m0s and 4h0m0s", others.Calls,
				first, last)
		}
	})
}
