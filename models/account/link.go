package account

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// lifetime returns how long a link that is sent by e-mail is valid: 1 hour for a password reset,
// otherwise 24 hours. An invitation has its own expiry time.
func lifetime(p models.LinkPurpose) time.Duration {
	if p == models.ResetLink {
		return time.Hour
	}
	return 24 * time.Hour
}

// accountLink is the stored row of a link. It has a hash of the secret instead of the secret. Using
// the link deletes the row.
type accountLink struct {
	bun.BaseModel `bun:"table:account_links,alias:al"`

	SHA256       string `bun:"sha256,pk"`
	Purpose      models.LinkPurpose
	UserID       int64  `bun:",nullzero"`
	InvitationID int64  `bun:",nullzero"`
	Email        string // the address that it was sent to; empty if it was not sent
	CreatedAt    time.Time
	ExpiresAt    time.Time
}

// insertLink stores a link and returns its secret.
func insertLink(ctx context.Context, db bun.IDB, l *accountLink) (secret string, err error) {
	secret = auth.NewSecret()
	l.SHA256, l.CreatedAt = auth.HashSecret(secret), models.Now()
	_, err = db.NewInsert().Model(l).Exec(ctx)
	return secret, err
}

var errLink = models.About("token",
	models.Fail(models.NotFound, "the link does not work: it has expired, was used, or was replaced by a newer one"))

// orErrLink returns errLink if err is sql.ErrNoRows, and otherwise err.
func orErrLink(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return errLink
	}
	return err
}

// Link describes a valid link.
type Link struct {
	Purpose  models.LinkPurpose
	Email    string // of the account that it creates or confirms; may be empty
	Username string // of an existing account; empty if there is none
}

// Link returns a description of the valid link with the given secret, or NotFound. It does not use
// the link.
func (s *Store) Link(ctx context.Context, secret string) (Link, error) {
	var l Link
	err := s.core.DB.Read.NewSelect().TableExpr("account_links AS al").Join("LEFT JOIN users AS u ON u.id = al.user_id").
		Join("LEFT JOIN invitations AS inv ON inv.id = al.invitation_id").
		ColumnExpr("al.purpose, CASE WHEN al.email <> '' THEN al.email ELSE coalesce(inv.email, '') END, coalesce(u.username, '')").
		Where("al.sha256 = ? AND al.expires_at > ?", auth.HashSecret(secret), models.Now()).
		Scan(ctx, &l.Purpose, &l.Email, &l.Username)
	return l, orErrLink(err)
}

// useLink deletes the valid link with the given secret and one of the purposes, and returns it, or
// NotFound. If it is called concurrently, only one call succeeds.
func useLink(ctx context.Context, tx bun.Tx, secret string, purposes ...models.LinkPurpose) (*accountLink, error) {
	l := new(accountLink)
	err := tx.NewDelete().Model(l).Where("sha256 = ? AND expires_at > ? AND purpose IN (?)", auth.HashSecret(secret),
		models.Now(), bun.List(purposes)).Returning("*").Scan(ctx)
	if err == nil && l.SHA256 == "" {
		err = errLink
	}
	return l, orErrLink(err)
}

// DeleteLink deletes a link that could not be sent.
func (s *Store) DeleteLink(ctx context.Context, secret string) error {
	_, err := s.core.DB.Write.NewDelete().Model((*accountLink)(nil)).Where("sha256 = ?", auth.HashSecret(secret)).Exec(ctx)
	return err
}

// Email is an e-mail to send, with the secret of its link.
type Email struct {
	Purpose      models.LinkPurpose
	To, Username string
	Secret       string
	ExpiresAt    time.Time
}

// RequestMail enqueues a job that writes an e-mail. It does the same work whether or not the e-mail
// has a recipient, so that the response does not reveal whether an account exists. It opens a
// transaction.
func (s *Store) RequestMail(ctx context.Context, m models.Mail) error {
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		return s.core.Enqueue(ctx, tx,
			models.Work{Mail: &m})
	})
}

// maxLinksPerHour is the rate limit of links: the maximum number of links of one purpose that are
// sent to one address, or to one user, per hour. It prevents mailboxes from being flooded.
const maxLinksPerHour = 5

// WriteEmails creates the link of an e-mail and returns the e-mail to send. There is none if the
// e-mail has no recipient, or if the recipient has reached maxLinksPerHour or has an invalid
// address. If it has several recipients, WriteEmails enqueues a job for each instead, so that a
// failure of one is not followed by another e-mail to the others. It opens a transaction.
func (s *Store) WriteEmails(ctx context.Context, m models.Mail) (emails []Email, err error) {
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		emails = nil
		links, names, err := s.recipients(ctx, tx, m)
		if err != nil {
			return err
		}
		if len(links) > 1 {
			for _, l := range links {
				if err := s.core.Enqueue(ctx, tx,
					models.Work{Mail: &models.Mail{Purpose: m.Purpose, UserID: l.UserID}}); err != nil {
					return err
				}
			}
			return nil
		}
		for i := range links {
			l := &links[i]
			l.Purpose = m.Purpose
			if l.ExpiresAt.IsZero() {
				l.ExpiresAt = models.Now().Add(lifetime(m.Purpose))
			}
			recent, err := tx.NewSelect().Model((*accountLink)(nil)).
				Where("("+s.sameEmail("al.email", "?")+" OR al.user_id = ?) AND al.purpose = ? AND al.created_at > ?", l.Email,
					l.UserID, l.Purpose, models.Now().Add(-time.Hour)).Count(ctx)
			if err != nil {
				return err
			}
			if recent >= maxLinksPerHour || models.CheckEmail(l.Email) != nil {
				continue
			}
			secret, err := insertLink(ctx, tx, l)
			if err != nil {
				return err
			}
			emails = append(emails, Email{l.Purpose, l.Email, names[i], secret, l.ExpiresAt})
		}
		return nil
	})
	return emails, err
}

// sameEmail is the condition that two SQL expressions are the same e-mail address, whose ASCII
// letters may differ in case. It does not depend on the locale of the database: in Turkish,
// lower('I') is not 'i'.
func (s *Store) sameEmail(a, b string) string {
	collate := string(s.core.DB.Bytewise())
	return "lower(" + a + " " + collate + ") = lower(" + b + " " + collate + ")"
}

// hasConfirmedEmail is the condition that the user u has confirmed the present e-mail address.
func (s *Store) hasConfirmedEmail() string {
	return "EXISTS (SELECT 1 FROM confirmed_emails AS ce WHERE ce.user_id = u.id AND " +
		s.sameEmail("ce.email", "u.email") + ")"
}

// recipients returns one link for each recipient of an e-mail, not yet stored, and the usernames of
// the recipients.
func (s *Store) recipients(ctx context.Context, tx bun.Tx,
	m models.Mail) (links []accountLink, names []string, err error) {
	switch m.Purpose {
	case models.SignUpLink:
		return []accountLink{{Email: m.Email}}, []string{""}, nil
	case models.InvitationLink:
		inv := new(Invitation)
		err := tx.NewSelect().Model(inv).Where("inv.id = ? AND inv.used_at IS NULL AND inv.expires_at > ?", m.InvitationID,
			models.Now()).Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil, nil
		}
		return []accountLink{{Email: inv.Email, InvitationID: inv.ID, ExpiresAt: inv.ExpiresAt}}, []string{""}, err
	}
	var users []*models.User
	q := tx.NewSelect().Model(&users).Column("u.id", "u.username", "u.email").
		Where("u.deleted_at IS NULL AND u.email <> ''").OrderExpr("u.id").Limit(5)
	switch {
	case m.Purpose == models.ConfirmationLink:
		q = q.Where("u.id = ? AND NOT "+s.hasConfirmedEmail(), m.UserID)
	case m.UserID != 0:
		q = q.Where("u.id = ? AND u.suspended_at IS NULL AND "+s.hasConfirmedEmail(), m.UserID)
	default:
		q = q.Where("u.suspended_at IS NULL AND "+s.hasConfirmedEmail()).
			Where("(u.id IN (SELECT user_id FROM confirmed_emails WHERE "+s.sameEmail("email", "?0")+") OR u.sort_name = ?1)",
				m.Name, models.FoldUsername(m.Name))
	}
	if err := q.Scan(ctx); err != nil {
		return nil, nil, err
	}
	for _, u := range users {
		links, names = append(links, accountLink{UserID: u.ID, Email: u.Email}), append(names, u.Username)
	}
	return links, names, nil
}

// ConfirmEmail marks the e-mail address that a confirmation link was sent to as confirmed. It
// returns NotFound if the link is not valid, or if the user has changed the address since. It opens
// a transaction.
func (s *Store) ConfirmEmail(ctx context.Context, secret string) error {
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		l, err := useLink(ctx, tx, secret, models.ConfirmationLink)
		if err != nil {
			return err
		}
		u, err := s.core.LockAccount(ctx, tx, l.UserID)
		if err != nil {
			return err
		}
		if u.Email != l.Email {
			return errLink // the user has changed the address since
		}
		return confirmEmail(ctx, tx, u.ID, u.Email)
	})
}

func confirmEmail(ctx context.Context, tx bun.Tx, userID int64, email string) error {
	_, err := tx.NewRaw(
		"INSERT INTO confirmed_emails (user_id, email, confirmed_at) VALUES (?0, ?1, ?2) ON CONFLICT (user_id) DO UPDATE SET email = ?1, confirmed_at = ?2", userID, email, models.Now()).Exec(ctx)
	return err
}

// Email returns the e-mail address of the caller, and whether it is confirmed.
func (s *Store) Email(ctx context.Context, caller auth.Caller) (email string, confirmed bool, err error) {
	err = s.core.DB.Read.NewSelect().TableExpr("users AS u").ColumnExpr("u.email, "+s.hasConfirmedEmail()).
		Where("u.id = ?", caller.UserID).Scan(ctx, &email, &confirmed)
	return email, confirmed, err
}
