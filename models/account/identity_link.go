package account

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// LinkableAccount returns the username of the account that the person with an identity probably
// has: that with the e-mail address of the identity, or else that with its username. It returns ""
// if the identity belongs to a user already, or if there is no such account with a password. The
// caller asks for the password before it calls LinkIdentity.
func (s *Store) LinkableAccount(ctx context.Context, id auth.Identity) (username string, err error) {
	known, err := s.core.DB.Read.NewSelect().Model((*identity)(nil)).Where("idn.issuer = ? AND idn.subject = ?", id.Issuer,
		id.Subject).Exists(ctx)
	if err != nil || known {
		return "", err
	}
	email := models.CleanText(id.Email, models.MaxName)
	wanted, _, _ := strings.Cut(id.Username, "@")
	err = s.core.DB.Read.NewSelect().TableExpr("users AS u").Join("JOIN passwords AS pw ON pw.user_id = u.id").
		ColumnExpr("u.username").
		Where("u.deleted_at IS NULL AND u.suspended_at IS NULL").
		Where("((?0 <> '' AND "+s.sameEmail("u.email", "?0")+") OR u.sort_name = ?1)", email, models.FoldUsername(wanted)).
		OrderExpr("CASE WHEN ?0 <> '' AND "+s.sameEmail("u.email", "?0")+" THEN 0 ELSE 1 END, u.id", email).Limit(1).
		Scan(ctx, &username)
	return username, models.IgnoreNoRows(err)
}

// LinkIdentity links an identity of an OpenID provider to the account of a user whose password has
// just been checked. It returns Unauthenticated if the password has changed since, Forbidden if the
// user is suspended, and Conflict if the identity belongs to another user. It opens a transaction.
func (s *Store) LinkIdentity(ctx context.Context, who auth.Verified, id auth.Identity) error {
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, err := s.core.LockActive(ctx, tx, who.UserID)
		if err != nil {
			return err
		}
		var hash string
		err = tx.NewSelect().Model((*password)(nil)).Column("pw.hash").Where("pw.user_id = ?", u.ID).Scan(ctx, &hash)
		if err := models.IgnoreNoRows(err); err != nil {
			return err
		}
		if hash == "" || hash != who.PasswordHash {
			return errPassword
		}
		if id.Email != "" && strings.EqualFold(u.Email, id.Email) { // the provider has verified it
			if err := confirmEmail(ctx, tx, u.ID, u.Email); err != nil {
				return err
			}
		}
		return insertIdentity(ctx, tx, id, u.ID)
	})
	if err != nil {
		return err
	}
	return s.applyRoles(ctx, who.UserID, id)
}

// insertIdentity stores the link of an identity to a user, unless it exists. It returns Conflict if
// the identity belongs to another user.
func insertIdentity(ctx context.Context, tx bun.Tx, id auth.Identity, userID int64) error {
	var owner struct {
		ID       int64
		Username string
	}
	err := tx.NewSelect().Model((*identity)(nil)).Join("JOIN users AS u ON u.id = idn.user_id").
		ColumnExpr("u.id, u.username").
		Where("idn.issuer = ? AND idn.subject = ?", id.Issuer, id.Subject).Scan(ctx, &owner)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		_, err = tx.NewInsert().Model(&identity{Issuer: id.Issuer, Subject: id.Subject, UserID: userID,
			CreatedAt: models.Now()}).Exec(ctx)
	case err == nil && owner.ID != userID:
		err = models.Fail(models.Conflict, "the account at the OpenID provider belongs to the user %s", owner.Username)
	}
	if database.IsUnique(err) {
		err = models.Fail(models.Conflict, "the account at the OpenID provider has just been linked: try again")
	}
	return err
}

// LinkIdentity links an identity of an OpenID provider to a user without their password. It returns
// Conflict if the identity belongs to another user, unless move is true: then it belongs to the
// given user from then on, and the sessions of the other user end. It opens a transaction.
func (a Admin) LinkIdentity(ctx context.Context, name, issuer, subject string, move bool) error {
	if err := errors.Join(models.CheckText("issuer", issuer, models.MaxName), models.CheckText("subject", subject,
		maxSubject)); err != nil {
		return err
	}
	if subject == "" {
		return models.Invalid("subject", "subject: must not be empty")
	}
	found, err := a.store.core.Admin().User(ctx, name)
	if err != nil {
		return err
	}
	return a.store.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, err := a.store.core.LockAccount(ctx, tx, found.ID)
		if err != nil {
			return err
		}
		if move {
			var former int64
			err := tx.NewDelete().Model((*identity)(nil)).Where("issuer = ? AND subject = ? AND user_id <> ?", issuer, subject,
				u.ID).Returning("user_id").Scan(ctx, &former)
			if err := models.IgnoreNoRows(err); err != nil {
				return err
			}
			if former != 0 {
				if err := EndSignIns(ctx, tx, former); err != nil {
					return err
				}
			}
		}
		return insertIdentity(ctx, tx, auth.Identity{Issuer: issuer, Subject: subject}, u.ID)
	})
}
