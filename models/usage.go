package models

import (
	"context"
	"errors"
	"maps"
	"slices"
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

// usedEvery is how often at the most the last use of a token is written.
const usedEvery = 5 * time.Minute

// usage gathers calls of what is deprecated, and uses of tokens, until they are saved: a statement for each would cost more than the call.
type usage struct {
	mu     sync.Mutex
	calls  map[callKey]*DeprecatedCall
	tokens map[int64]time.Time // used last, by id
}

// noteUse remembers that a token was used.
func (u *usage) noteUse(tokenID int64, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.tokens == nil {
		u.tokens = make(map[int64]time.Time)
	}
	u.tokens[tokenID] = at
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

// SaveUsage keeps what was gathered on this node. A node that is killed loses what it has not saved.
func (s *Store) SaveUsage(ctx context.Context) error {
	s.usage.mu.Lock()
	calls, tokens := s.usage.calls, s.usage.tokens
	s.usage.calls, s.usage.tokens = nil, nil
	s.usage.mu.Unlock()
	return errors.Join(s.saveCalls(ctx, calls), s.saveUses(ctx, tokens))
}

// saveUses keeps when tokens were used, all of them with the time of the last.
func (s *Store) saveUses(ctx context.Context, tokens map[int64]time.Time) error {
	if len(tokens) == 0 {
		return nil
	}
	var last time.Time
	for _, at := range tokens {
		if at.After(last) {
			last = at
		}
	}
	// In one order, or two nodes could wait for each other.
	used := s.db.forUpdate(s.db.write.NewSelect().Model((*Token)(nil)).Column("tk.id").Where("tk.id IN (?)", bun.List(slices.Sorted(maps.Keys(tokens)))).Order("tk.id"))
	_, err := s.db.write.NewUpdate().Model((*Token)(nil)).Set("last_used_at = ?", last).Where("id IN (?)", used).Exec(ctx)
	return err
}

func (s *Store) saveCalls(ctx context.Context, calls map[callKey]*DeprecatedCall) error {
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
