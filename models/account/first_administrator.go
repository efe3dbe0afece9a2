package account

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// administratorLock is the key of the advisory lock that is held while the first
// administrator is created, because several nodes may start at the same time.
const administratorLock = 0x61646d69

// FirstAdministrator creates an administrator with an access token if there is no administrator who
// is not suspended. It returns the username and the token, which cannot be retrieved later. It
// returns two empty strings if there is such an administrator. The username is admin, or admin-2,
// admin-3, … if that is taken: an existing user with that name never becomes an administrator. It
// opens a transaction.
func (a Admin) FirstAdministrator(ctx context.Context) (name, token string, err error) {
	s := a.store
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		name, token = "", ""
		if err := s.core.DB.AdvisoryLock(ctx, tx, administratorLock); err != nil {
			return err
		}
		has, err := tx.NewSelect().Model((*models.User)(nil)).Where("u.is_admin AND u.suspended_at IS NULL").Exists(ctx)
		if has || err != nil {
			return err
		}
		free := "admin"
		for n := 2; ; n++ {
			taken, err := tx.NewSelect().Model((*models.User)(nil)).Where("u.sort_name = ?", free).Exists(ctx)
			if err != nil {
				return err
			}
			if !taken {
				break
			}
			free = fmt.Sprintf("admin-%d", n)
		}
		u := &models.User{Username: free, DefaultLicense: models.CC, IsAdmin: true, CreatedAt: models.Now()}
		if err := s.core.InsertUser(ctx, tx, u); err != nil {
			return err
		}
		scopes := auth.Scopes{auth.Read, auth.Write, auth.Admin}
		name = free
		token, err = insertToken(ctx, tx, &Token{UserID: u.ID, Name: "first start", Scopes: scopes.String()})
		return err
	})
	if err != nil {
		return "", "", fmt.Errorf("create the first administrator: %w", err)
	}
	return name, token, nil
}
