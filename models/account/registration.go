package account

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// Registration is the input of Register.
type Registration struct {
	Secret   string // of a link; empty: none, which requires open registration
	Username string
	Email    string // ignored if the link has one; may be empty
	Password string
}

// Register creates an account and returns its ID. It requires a link for that purpose or open
// registration, and otherwise returns Forbidden. It returns NotFound if the link cannot be used,
// and Conflict if the username is taken. It opens a transaction.
func (s *Store) Register(ctx context.Context, r Registration) (userID int64, err error) {
	if r.Secret == "" && !s.core.Options.OpenRegistration {
		return 0, models.Fail(models.Forbidden, "creating an account requires an invitation")
	}
	if err := s.core.CheckUsername(r.Username); err != nil {
		return 0, err
	}
	if r.Email != "" {
		if err := models.CheckEmail(r.Email); err != nil {
			return 0, err
		}
	}
	hash, err := hashPassword(ctx, r.Password)
	if err != nil {
		return 0, err
	}
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u := &models.User{Username: r.Username, Email: r.Email, DefaultLicense: models.CC, CreatedAt: models.Now()}
		link := new(accountLink)
		if r.Secret != "" {
			if link, err = useLink(ctx, tx, r.Secret, models.InvitationLink, models.SignUpLink); err != nil {
				return err
			}
		}
		if link.Email != "" {
			u.Email = link.Email
		}
		if err := s.core.InsertUser(ctx, tx, u); err != nil {
			return err
		}
		userID = u.ID
		if link.InvitationID != 0 {
			if err := s.useInvitation(ctx, tx, link, u); err != nil {
				return err
			}
		}
		if _, err := tx.NewInsert().Model(&password{UserID: u.ID, Hash: hash, ChangedAt: u.CreatedAt}).Exec(ctx); err != nil {
			return err
		}
		switch {
		case link.Email != "":
			return confirmEmail(ctx, tx, u.ID, link.Email)
		case u.Email != "" && s.core.Options.SendsMail:
			return s.core.Enqueue(ctx, tx, models.Work{Mail: &models.Mail{Purpose: models.ConfirmationLink, UserID: u.ID}})
		}
		return nil
	})
	if database.IsUnique(err) {
		return 0, models.UsernameIsTaken(r.Username)
	}
	return userID, err
}

// useInvitation marks the invitation of a link as used by a new user, and deletes its links. A user
// who entered no e-mail address gets that of the invitation. The invitation of a suspended user
// does not work.
func (s *Store) useInvitation(ctx context.Context, tx bun.Tx, link *accountLink, u *models.User) error {
	inv := new(Invitation)
	err := s.core.DB.ForUpdate(tx.NewSelect().Model(inv).Where("inv.id = ? AND inv.used_at IS NULL AND inv.expires_at > ?",
		link.InvitationID, models.Now())).Scan(ctx)
	if err != nil {
		return orErrLink(err)
	}
	if inv.CreatedBy != 0 {
		switch _, err := s.core.LockActive(ctx, tx, inv.CreatedBy); models.CodeOf(err) {
		case models.Forbidden:
			return errLink
		case models.NotFound: // the account was deleted; the invitation still works
		default:
			if err != nil {
				return err
			}
		}
	}
	if u.Email == "" && inv.Email != "" {
		u.Email = inv.Email
		if _, err := tx.NewUpdate().Model(u).Column("email").WherePK().Exec(ctx); err != nil {
			return err
		}
	}
	at := models.Now()
	inv.UsedBy, inv.UsedAt, inv.Email = u.ID, &at, ""
	if _, err := tx.NewUpdate().Model(inv).Column("used_by", "used_at", "email").WherePK().Exec(ctx); err != nil {
		return err
	}
	_, err = tx.NewDelete().Model((*accountLink)(nil)).Where("invitation_id = ?", inv.ID).Exec(ctx)
	return err
}
