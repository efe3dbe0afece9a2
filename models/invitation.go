package models

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
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
func (s *Store) CreateInvitation(ctx context.Context, caller auth.Caller, n NewInvitation) (secret string, inv *Invitation, err error) {
	if err := requireAdministrator(caller); err != nil {
		return "", nil, err
	}
	return s.invite(ctx, caller, n)
}

// CreateInvitation creates an invitation and returns the secret of its link. It returns Conflict if
// there are already maxInvitations. It opens a transaction.
func (a Admin) CreateInvitation(ctx context.Context, n NewInvitation) (secret string, inv *Invitation, err error) {
	return a.store.invite(ctx, auth.Caller{}, n)
}

func (s *Store) invite(ctx context.Context, caller auth.Caller, n NewInvitation) (secret string, inv *Invitation, err error) {
	at := now()
	inv = &Invitation{CreatedBy: caller.UserID, CreatedAt: at, ExpiresAt: at.Add(defaultInvitation)}
	if n.Email != nil && *n.Email != "" {
		inv.Email = *n.Email
		if err := checkEmail(inv.Email); err != nil {
			return "", nil, err
		}
	}
	if n.ExpiresAt != nil {
		inv.ExpiresAt = n.ExpiresAt.UTC().Truncate(time.Microsecond)
		if !inv.ExpiresAt.After(at) || inv.ExpiresAt.After(at.Add(maxInvitation)) {
			return "", nil, badInput("expiresAt", "expiresAt: must be in the future, and at most %d days ahead", int(maxInvitation.Hours()/24))
		}
	}
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		pending, err := tx.NewSelect().Model((*Invitation)(nil)).Where("inv.used_at IS NULL AND inv.expires_at > ?", at).Count(ctx)
		if err != nil {
			return err
		}
		if pending >= maxInvitations {
			return fail(Conflict, "there are %d invitations that were not used: revoke some first", pending)
		}
		inv.ID = 0
		if _, err := tx.NewInsert().Model(inv).Exec(ctx); err != nil {
			return err
		}
		secret, err = insertLink(ctx, tx, &accountLink{Purpose: InvitationLink, InvitationID: inv.ID, ExpiresAt: inv.ExpiresAt})
		if err != nil || inv.Email == "" || !s.options.SendsMail {
			return err
		}
		return s.enqueue(ctx, tx, Work{Mail: &Mail{Purpose: InvitationLink, InvitationID: inv.ID}})
	})
	return secret, inv, err
}

// Invitations returns the invitations that can be used, newest first. It requires an administrator.
func (s *Store) Invitations(ctx context.Context, caller auth.Caller) (found []*Invitation, err error) {
	if err := requireAdministrator(caller); err != nil {
		return nil, err
	}
	return s.Admin().Invitations(ctx)
}

// Invitations returns the invitations that can be used, newest first.
func (a Admin) Invitations(ctx context.Context) (found []*Invitation, err error) {
	err = a.store.db.Read.NewSelect().Model(&found).Where("inv.used_at IS NULL AND inv.expires_at > ?", now()).OrderExpr("inv.id DESC").Limit(maxInvitations).Scan(ctx)
	return found, err
}

// RevokeInvitation deletes an unused invitation. It requires an administrator, and returns NotFound
// if there is no unused invitation with the ID.
func (s *Store) RevokeInvitation(ctx context.Context, caller auth.Caller, id int64) error {
	if err := requireAdministrator(caller); err != nil {
		return err
	}
	return s.Admin().RevokeInvitation(ctx, id)
}

// RevokeInvitation deletes an unused invitation. It returns NotFound if there is no unused
// invitation with the ID.
func (a Admin) RevokeInvitation(ctx context.Context, id int64) error {
	db := a.store.db
	if n, err := db.exec(ctx, db.Write.NewDelete().Model((*Invitation)(nil)).Where("id = ? AND used_at IS NULL", id)); n > 0 || err != nil {
		return err
	}
	return notFound("invitation", id)
}

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
	if r.Secret == "" && !s.options.OpenRegistration {
		return 0, fail(Forbidden, "creating an account requires an invitation")
	}
	if err := s.checkUsername(r.Username); err != nil {
		return 0, err
	}
	if r.Email != "" {
		if err := checkEmail(r.Email); err != nil {
			return 0, err
		}
	}
	hash, err := hashPassword(ctx, r.Password)
	if err != nil {
		return 0, err
	}
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u := &User{Username: r.Username, Email: r.Email, DefaultLicense: CC, CreatedAt: now()}
		link := new(accountLink)
		if r.Secret != "" {
			if link, err = useLink(ctx, tx, r.Secret, InvitationLink, SignUpLink); err != nil {
				return err
			}
		}
		if link.Email != "" {
			u.Email = link.Email
		}
		if err := s.insertUser(ctx, tx, u); err != nil {
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
		case u.Email != "" && s.options.SendsMail:
			return s.enqueue(ctx, tx, Work{Mail: &Mail{Purpose: ConfirmationLink, UserID: u.ID}})
		}
		return nil
	})
	if database.IsUnique(err) {
		return 0, usernameIsTaken(r.Username)
	}
	return userID, err
}

// useInvitation marks the invitation of a link as used by a new user, and deletes its links. A user
// who entered no e-mail address gets that of the invitation.
func (s *Store) useInvitation(ctx context.Context, tx bun.Tx, link *accountLink, u *User) error {
	inv := new(Invitation)
	err := s.db.ForUpdate(tx.NewSelect().Model(inv).Where("inv.id = ? AND inv.used_at IS NULL AND inv.expires_at > ?", link.InvitationID, now())).Scan(ctx)
	if err != nil {
		return orErrLink(err)
	}
	if u.Email == "" && inv.Email != "" {
		u.Email = inv.Email
		if _, err := tx.NewUpdate().Model(u).Column("email").WherePK().Exec(ctx); err != nil {
			return err
		}
	}
	at := now()
	inv.UsedBy, inv.UsedAt, inv.Email = u.ID, &at, ""
	if _, err := tx.NewUpdate().Model(inv).Column("used_by", "used_at", "email").WherePK().Exec(ctx); err != nil {
		return err
	}
	_, err = tx.NewDelete().Model((*accountLink)(nil)).Where("invitation_id = ?", inv.ID).Exec(ctx)
	return err
}

// hashPassword returns the hash of a new password. It returns BadInput if the password is too
// short, too long, or not valid UTF-8.
func hashPassword(ctx context.Context, text string) (hash string, err error) {
	if len(text) < auth.MinPassword || len(text) > auth.MaxPassword || !utf8.ValidString(text) {
		return "", badInput("password", "password: must be %d to %d bytes of UTF-8", auth.MinPassword, auth.MaxPassword)
	}
	return auth.HashPassword(ctx, text)
}
