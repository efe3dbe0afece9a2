package account

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/models"
)

// useLog buffers activity of users, and uses of tokens and sessions, until [Store.SaveUses] saves
// them. A statement for each of them would cost more than the request itself.
type useLog struct {
	mu       sync.Mutex
	tokens   map[int64]time.Time // last use by ID
	users    map[int64]time.Time // last activity by user ID
	sessions map[int64]time.Time // last use by ID
}

// SaveUses writes the uses that this node has buffered to the database. A node that is killed loses
// what it has not saved. Data whose statement fails is lost, too.
func (s *Store) SaveUses(ctx context.Context) error {
	s.uses.mu.Lock()
	tokens, users, sessions := s.uses.tokens, s.uses.users, s.uses.sessions
	s.uses.tokens, s.uses.users, s.uses.sessions = nil, nil, nil
	s.uses.mu.Unlock()
	return errors.Join(s.saveUses(ctx, "tokens", tokens), s.saveUses(ctx, "sessions", sessions),
		s.saveActivity(ctx, users))
}

// usedEvery is the minimum interval between two writes of the last use of a token or a session.
const usedEvery = 5 * time.Minute

// activeEvery is the minimum interval between two writes of the last activity of a user.
const activeEvery = time.Hour

// note remembers when a token, a user or a session was last active. uses is the field of a.
func (a *useLog) note(uses *map[int64]time.Time, id int64, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if *uses == nil {
		*uses = make(map[int64]time.Time)
	}
	(*uses)[id] = at
}

// saveActivity stores when users were last active. All users get the latest of the times. It skips
// users whose stored time is less than activeEvery old.
func (s *Store) saveActivity(ctx context.Context, users map[int64]time.Time) error {
	if len(users) == 0 {
		return nil
	}
	last := slices.MaxFunc(slices.Collect(maps.Values(users)), time.Time.Compare)
	// Rows are locked in ID order, so that two nodes do not deadlock. Transactions that count or refer
	// to users may lock them in another order, so the statement is repeated after a deadlock.
	active := s.core.DB.ForUpdate(s.core.DB.Write.NewSelect().Model((*models.User)(nil)).Column("u.id").
		Where("u.id IN (?)", bun.List(slices.Sorted(maps.Keys(users)))).
		Where("u.last_active_at IS NULL OR u.last_active_at < ?", last.Add(-activeEvery)).Order("u.id"))
	_, err := s.core.DB.ExecAgain(ctx, s.core.DB.Write.NewUpdate().Model((*models.User)(nil)).
		Set("last_active_at = ?", last).Where("id IN (?)", active))
	return err
}

// saveUses stores when rows of tokens or sessions were last used. All rows get the latest of the
// times.
func (s *Store) saveUses(ctx context.Context, table string, uses map[int64]time.Time) error {
	if len(uses) == 0 {
		return nil
	}
	last := slices.MaxFunc(slices.Collect(maps.Values(uses)), time.Time.Compare)
	// Rows are locked in ID order, so that two nodes do not deadlock.
	used := s.core.DB.ForUpdate(s.core.DB.Write.NewSelect().Table(table).Column("id").
		Where("id IN (?)", bun.List(slices.Sorted(maps.Keys(uses)))).Order("id"))
	_, err := s.core.DB.ExecAgain(ctx, s.core.DB.Write.NewUpdate().Table(table).Set("last_used_at = ?", last).
		Where("id IN (?)", used))
	return err
}
