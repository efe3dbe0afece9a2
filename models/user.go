package models

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// User is somebody with an account.
type User struct {
	bun.BaseModel `bun:"table:users,alias:u"`

	ID        int64 `bun:",pk,autoincrement"`
	Username  string
	IsAdmin   bool
	CreatedAt time.Time
}

// "me" stands for the caller in addresses, and a name of digits would be taken for an id.
var (
	username      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	usernameTaken = regexp.MustCompile(`^(?i:me|[0-9]+)$`)
)

// CreateUser makes an account. Names are unique whatever their case.
func (s *Store) CreateUser(ctx context.Context, name string, admin bool) (*User, error) {
	if !username.MatchString(name) || usernameTaken.MatchString(name) {
		return nil, badInput("username", "username %.60q: want 1 to 64 letters, digits, '_', '.' or '-', beginning with a letter or digit, not digits alone and not \"me\"", name)
	}
	u := &User{Username: name, IsAdmin: admin, CreatedAt: now()}
	_, err := s.db.write.NewInsert().Model(u).Exec(ctx)
	if isUnique(err) {
		e := fail(Conflict, "username %q is taken", name)
		e.Field = "username"
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	return u, nil
}

// HasUsers tells whether anybody has an account.
func (s *Store) HasUsers(ctx context.Context) (bool, error) {
	return s.db.write.NewSelect().Model((*User)(nil)).Exists(ctx)
}

// User gives the user of that name, whatever its case; "me" is the caller.
func (s *Store) User(ctx context.Context, caller auth.Caller, name string) (*User, error) {
	u := new(User)
	q := s.db.read.NewSelect().Model(u)
	if name == "me" {
		q = q.Where("u.id = ?", caller.UserID)
	} else {
		if !username.MatchString(name) {
			return nil, fail(NotFound, "user %.60q does not exist", name)
		}
		q = q.Where("lower(u.username) = lower(?)", name)
	}
	if err := q.Scan(ctx); errors.Is(err, sql.ErrNoRows) {
		return nil, fail(NotFound, "user %.60q does not exist", name)
	} else if err != nil {
		return nil, err
	}
	return u, nil
}

// UsersByID gives the users of those ids; one that is missing is missing in the map.
func (s *Store) UsersByID(ctx context.Context, ids []int64) (map[int64]*User, error) {
	return byID(ctx, s.db.read, ids, "u.id", func(u *User) int64 { return u.ID })
}
