package models

import (
	"context"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// DeprecatedCall tells how often one token, or program, called something that is deprecated.
type DeprecatedCall struct {
	bun.BaseModel `bun:"table:deprecated_calls,alias:dc"`

	Operation string    `bun:",pk"` // of the REST face, or Type.field of GraphQL
	TokenID   int64     `bun:",pk"`
	UserAgent string    `bun:",pk"`
	Calls     int64     // since FirstAt
	FirstAt   time.Time //
	LastAt    time.Time

	Username  string `bun:",scanonly"` // whose token it is
	TokenName string `bun:",scanonly"`
}

const (
	maxUserAgent = 200
	maxCallers   = 1_000 // remembered between two savings; beyond it user agents go together
)

// usage gathers calls of what is deprecated until they are saved: a statement for each would cost more than the call.
type usage struct {
	mu    sync.Mutex
	calls map[callKey]*DeprecatedCall
}

type callKey struct {
	operation string
	tokenID   int64
	userAgent string
}

// NoteDeprecated remembers that the caller called something deprecated.
func (s *Store) NoteDeprecated(caller auth.Caller, operation, userAgent string) {
	userAgent = cleanText(userAgent, maxUserAgent)
	u := &s.usage
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.calls == nil {
		u.calls = make(map[callKey]*DeprecatedCall)
	}
	key := callKey{operation, caller.TokenID, userAgent}
	if u.calls[key] == nil && len(u.calls) >= maxCallers {
		key.userAgent = "others"
	}
	at := now()
	if u.calls[key] == nil {
		u.calls[key] = &DeprecatedCall{Operation: key.operation, TokenID: key.tokenID, UserAgent: key.userAgent, FirstAt: at}
	}
	u.calls[key].Calls++
	u.calls[key].LastAt = at
}

// SaveUsage keeps what NoteDeprecated gathered on this node. A node that is killed loses what it has not saved.
func (s *Store) SaveUsage(ctx context.Context) error {
	s.usage.mu.Lock()
	calls := s.usage.calls
	s.usage.calls = nil
	s.usage.mu.Unlock()
	if len(calls) == 0 {
		return nil
	}
	rows := make([]*DeprecatedCall, 0, len(calls))
	for _, c := range calls {
		rows = append(rows, c)
	}
	_, err := s.db.write.NewInsert().Model(&rows).On("CONFLICT (operation, token_id, user_agent) DO UPDATE").
		Set("calls = dc.calls + EXCLUDED.calls").Set("last_at = EXCLUDED.last_at").Exec(ctx)
	return err
}

// DeprecatedCalls tells the staff who still calls what is deprecated, the latest call first.
func (s *Store) DeprecatedCalls(ctx context.Context, caller auth.Caller, limit int) (calls []*DeprecatedCall, err error) {
	if !caller.Staff() {
		return nil, fail(Forbidden, "only the staff sees who calls what is deprecated")
	}
	if err := s.SaveUsage(ctx); err != nil {
		return nil, err
	}
	err = s.db.read.NewSelect().Model(&calls).ColumnExpr("?TableColumns").ColumnExpr("coalesce(u.username, '') AS username, coalesce(tk.name, '') AS token_name").
		Join("LEFT JOIN tokens AS tk ON tk.id = dc.token_id").Join("LEFT JOIN users AS u ON u.id = tk.user_id").
		Order("dc.last_at DESC", "dc.operation").Limit(int64(limit)).Scan(ctx)
	return calls, err
}
