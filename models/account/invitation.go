package account

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// Invitation lets one person create an account.
type Invitation struct {
	bun.BaseModel `bun:"table:invitations,alias:inv"`

	ID        int64  `bun:",pk,autoincrement"`
	Email     string // recipient of the link; empty: none, or the invitation was used
	CreatedBy int64  `bun:",nullzero"` // 0: the operator, on the command line
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedBy    int64 `bun:",nullzero"`
	UsedAt    *time.Time
}

const (
	defaultInvitation = 7 * 24 * time.Hour
	maxInvitation     = 365 * 24 * time.Hour
	maxInvitations    = 100 // unused and not expired
)

// NewInvitation is the input of CreateInvitation.
type NewInvitation struct {
	Email     *string    // the link is also sent there, if the server sends mail; nil: it is not sent
	ExpiresAt *time.Time // nil: in a week
}

// CreateInvitation creates an invitation and returns the secret of its link. It requires an
// administrator, and returns Conflict if there are already maxInvitations. It opens a transaction.
func (s *Store) CreateInvitation(ctx context.Context, caller auth.Caller,
	n NewInvitation) (secret string, inv *Invitation, err error) {
	if err := models.RequireAdministrator(caller); err != nil {
		return "", nil, err
	}
	return s.invite(ctx, caller, n)
}

// CreateInvitation creates an invitation and returns the secret of its link. It returns Conflict if
// there are already maxInvitations. It opens a transaction.
func (a Admin) CreateInvitation(ctx context.Context, n NewInvitation) (secret string, inv *Invitation, err error) {
	return a.store.invite(ctx, auth.Caller{}, n)
}

func (s *Store) invite(ctx context.Context, caller auth.Caller,
	n NewInvitation) (secret string, inv *Invitation, err error) {
	at := models.Now()
	inv = &Invitation{CreatedBy: caller.UserID, CreatedAt: at, ExpiresAt: at.Add(defaultInvitation)}
	if n.Email != nil && *n.Email != "" {
		inv.Email = *n.Email
		if err := models.CheckEmail(inv.Email); err != nil {
			return "", nil, err
		}
	}
	if n.ExpiresAt != nil {
		inv.ExpiresAt = n.ExpiresAt.UTC().Truncate(time.Microsecond)
		if !inv.ExpiresAt.After(at) || inv.ExpiresAt.After(at.Add(maxInvitation)) {
			return "", nil, models.Invalid("expiresAt", "expiresAt: must be in the future, and at most %d days ahead",
				int(maxInvitation.Hours()/24)).WithFieldCode(apierror.FieldOutOfRange)
		}
	}
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if caller.UserID != 0 {
			if _, err := s.core.LockActive(ctx, tx, caller.UserID); err != nil {
				return err
			}
		}
		pending, err := tx.NewSelect().Model((*Invitation)(nil)).Where("inv.used_at IS NULL AND inv.expires_at > ?", at).
			Count(ctx)
		if err != nil {
			return err
		}
		if pending >= maxInvitations {
			return models.Fail(models.Conflict, "there are %d invitations that were not used: revoke some first", pending)
		}
		inv.ID = 0
		if _, err := tx.NewInsert().Model(inv).Exec(ctx); err != nil {
			return err
		}
		secret, err = insertLink(ctx, tx, &accountLink{Purpose: models.InvitationLink, InvitationID: inv.ID,
			ExpiresAt: inv.ExpiresAt})
		if err != nil || inv.Email == "" || !s.core.Options.SendsMail {
			return err
		}
		return s.core.Enqueue(ctx, tx, models.Work{Mail: &models.Mail{Purpose: models.InvitationLink, InvitationID: inv.ID}})
	})
	return secret, inv, err
}

// Invitations returns the invitations that can be used, newest first. It requires an administrator.
func (s *Store) Invitations(ctx context.Context, caller auth.Caller) (found []*Invitation, err error) {
	if err := models.RequireAdministrator(caller); err != nil {
		return nil, err
	}
	return s.Admin().Invitations(ctx)
}

// Invitations returns the invitations that can be used, newest first.
func (a Admin) Invitations(ctx context.Context) (found []*Invitation, err error) {
	err = a.store.core.DB.Read.NewSelect().Model(&found).Where("inv.used_at IS NULL AND inv.expires_at > ?", models.Now()).
		OrderExpr("inv.id DESC").Limit(maxInvitations).Scan(ctx)
	return found, err
}

// RevokeInvitation deletes an unused invitation. It requires an administrator, and returns NotFound
// if there is no unused invitation with the ID.
func (s *Store) RevokeInvitation(ctx context.Context, caller auth.Caller, id int64) error {
	if err := models.RequireAdministrator(caller); err != nil {
		return err
	}
	return s.Admin().RevokeInvitation(ctx, id)
}

// RevokeInvitation deletes an unused invitation. It returns NotFound if there is no unused
// invitation with the ID.
func (a Admin) RevokeInvitation(ctx context.Context, id int64) error {
	db := a.store.core.DB
	if n, err := db.ExecAgain(ctx, db.Write.NewDelete().Model((*Invitation)(nil)).
		Where("id = ? AND used_at IS NULL", id)); n > 0 || err != nil {
		return err
	}
	return models.NoSuch("invitation", id)
}
