package activity

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// DeprecatedCall counts the calls of a deprecated operation or field by one token and one user
// agent.
type DeprecatedCall struct {
	bun.BaseModel `bun:"table:deprecated_calls,alias:dc"`

	Operation string `bun:",pk"` // a REST operation, or Type.field of GraphQL
	TokenID   int64  `bun:",pk"`
	UserAgent string `bun:",pk"`
	Calls     int64  // since FirstAt
	FirstAt   time.Time
	LastAt    time.Time

	Username  string `bun:",scanonly"` // of the owner of the token
	TokenName string `bun:",scanonly"`
}

const (
	// maxCallers is the maximum number of counters in memory. Beyond it, calls by new user agents are
	// counted together as otherAgents.
	maxCallers = 1_000
	// maxAgents is the maximum number of user agents that are stored for one token. Calls by others
	// are counted together as otherAgents.
	maxAgents   = 20
	otherAgents = "others"
	// callsKept is how long a counter is stored after its last call.
	callsKept = 180 * 24 * time.Hour
)

// activity buffers deprecated calls and views in memory until they are saved in batches. A
// statement for each of them would cost more than the request itself.
type activity struct {
	mu    sync.Mutex
	calls map[callKey]*DeprecatedCall
	views map[viewKey]bool
}

type callKey struct {
	operation string
	tokenID   int64
	userAgent string
}

// NoteDeprecated remembers that the caller called a deprecated operation or field.
func (s *Store) NoteDeprecated(caller auth.Caller, operation, userAgent string) {
	userAgent = models.CleanText(userAgent, models.MaxUserAgent)
	a := &s.activity
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == nil {
		a.calls = make(map[callKey]*DeprecatedCall)
	}
	key := callKey{operation, caller.TokenID, userAgent}
	if a.calls[key] == nil && len(a.calls) >= maxCallers {
		key.userAgent = otherAgents
	}
	at := models.Now()
	if a.calls[key] == nil {
		a.calls[key] = &DeprecatedCall{Operation: key.operation, TokenID: key.tokenID, UserAgent: key.userAgent, FirstAt: at}
	}
	a.calls[key].Calls++
	a.calls[key].LastAt = at
}

// SaveActivity writes the activity that this node has buffered to the database. A node that is
// killed loses what it has not saved. Data whose statement fails is lost, too.
func (s *Store) SaveActivity(ctx context.Context) error {
	s.activity.mu.Lock()
	calls, views := s.activity.calls, s.activity.views
	s.activity.calls, s.activity.views = nil, nil
	s.activity.mu.Unlock()
	return errors.Join(s.saveCalls(ctx, calls), s.saveViews(ctx, views), s.account.SaveUses(ctx))
}

func (s *Store) saveCalls(ctx context.Context, calls map[callKey]*DeprecatedCall) error {
	if len(calls) == 0 {
		return nil
	}
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewDelete().Model((*DeprecatedCall)(nil)).Where("last_at < ?", models.Now().Add(-callsKept)).
			Exec(ctx); err != nil {
			return err
		}
		rows, err := s.boundAgents(ctx, tx, calls)
		if err != nil {
			return err
		}
		_, err = tx.NewInsert().Model(&rows).On("CONFLICT (operation, token_id, user_agent) DO UPDATE").
			Set("calls = dc.calls + EXCLUDED.calls").Set("last_at = EXCLUDED.last_at").Exec(ctx)
		return err
	})
}

// boundAgents limits the user agents of each token to maxAgents and returns the calls. User agents
// that are already stored take precedence. Calls by user agents beyond the limit are merged under
// otherAgents. It does not change calls.
func (s *Store) boundAgents(ctx context.Context, tx bun.Tx,
	calls map[callKey]*DeprecatedCall) ([]*DeprecatedCall, error) {
	keys := slices.SortedFunc(maps.Keys(calls), func(a, b callKey) int {
		return cmp.Or(cmp.Compare(a.tokenID, b.tokenID), strings.Compare(a.userAgent, b.userAgent),
			strings.Compare(a.operation, b.operation))
	})
	var tokenIDs []int64
	for _, key := range keys {
		tokenIDs = append(tokenIDs, key.tokenID)
	}
	var stored []*DeprecatedCall
	if err := tx.NewSelect().Model(&stored).Distinct().Column("token_id", "user_agent").
		Where("token_id IN (?)", bun.List(slices.Compact(tokenIDs))).Scan(ctx); err != nil {
		return nil, err
	}
	agents := make(map[int64]map[string]bool)
	for _, id := range tokenIDs {
		agents[id] = make(map[string]bool)
	}
	for _, c := range stored {
		agents[c.TokenID][c.UserAgent] = true
	}
	kept := make(map[callKey]*DeprecatedCall)
	var rows []*DeprecatedCall
	for _, key := range keys {
		row := *calls[key] // calls stays unchanged, for a retry of tx
		c := &row
		if known := agents[key.tokenID]; !known[key.userAgent] && len(known) >= maxAgents {
			key.userAgent, c.UserAgent = otherAgents, otherAgents
		} else {
			known[key.userAgent] = true
		}
		if first := kept[key]; first != nil {
			first.Calls += c.Calls
			if c.FirstAt.Before(first.FirstAt) {
				first.FirstAt = c.FirstAt
			}
			if c.LastAt.After(first.LastAt) {
				first.LastAt = c.LastAt
			}
			continue
		}
		kept[key] = c
		rows = append(rows, c)
	}
	return rows, nil
}

// DeprecatedCalls returns at most limit counters of deprecated calls, most recent call first. It
// requires a moderator or an administrator. It saves the activity that this node has buffered
// first.
func (s *Store) DeprecatedCalls(ctx context.Context, caller auth.Caller,
	limit int) (calls []*DeprecatedCall, err error) {
	if err := models.RequireModerator(caller); err != nil {
		return nil, err
	}
	if err := s.SaveActivity(ctx); err != nil {
		return nil, err
	}
	err = s.core.DB.Read.NewSelect().Model(&calls).ColumnExpr("?TableColumns").
		ColumnExpr("coalesce(u.username, '') AS username, coalesce(tk.name, '') AS token_name").
		Join("LEFT JOIN tokens AS tk ON tk.id = dc.token_id").Join("LEFT JOIN users AS u ON u.id = tk.user_id").
		Order("dc.last_at DESC", "dc.operation").Limit(int64(limit)).Scan(ctx)
	return calls, err
}
