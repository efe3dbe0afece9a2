package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// identity links a user to an identity of an OpenID provider.
type identity struct {
	bun.BaseModel `bun:"table:identities,alias:idn"`

	Issuer    string `bun:",pk"`
	Subject   string `bun:",pk"`
	UserID    int64
	CreatedAt time.Time
}

const maxSubject = 255 // OpenID Connect Core 1.0, section 2

// Identify returns the ID of the user with an identity, and sets the roles that the identity
// specifies. At the first sign-in it creates a user, whose name is the identity's username or
// similar to it. It never returns an existing user just because of an equal name: LinkIdentity
// links one. It returns Unauthenticated if the identity has no subject, or if the issuer or the
// subject is not a valid text.
func (s *Store) Identify(ctx context.Context, id auth.Identity) (userID int64, err error) {
	if err := errors.Join(models.CheckText("issuer", id.Issuer, models.MaxName), models.CheckText("subject", id.Subject,
		maxSubject)); err != nil || id.Subject == "" {
		return 0, models.Fail(models.Unauthenticated, "the ID token has no subject, or an invalid one")
	}
	known := func(db bun.IDB) error {
		err := db.NewSelect().Model((*identity)(nil)).Column("idn.user_id").Where("idn.issuer = ? AND idn.subject = ?",
			id.Issuer, id.Subject).Scan(ctx, &userID)
		return err
	}
	if err := known(s.core.DB.Read); err == nil {
		return userID, s.applyRoles(ctx, userID, id)
	} else if !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	for range 5 { // a concurrent request may take the name or create the user
		err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			if err := known(tx); !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			name, err := s.freeName(ctx, tx, id.Username)
			if err != nil {
				return err
			}
			u := &models.User{
				Username: name, FirstName: models.CleanText(id.FirstName, models.MaxName), LastName: models.CleanText(id.LastName,
					models.MaxName), Email: models.CleanText(id.Email, models.MaxName),
				DefaultLicense: models.CC, CreatedAt: models.Now(),
			}
			setRoles(u, id)
			if err := s.core.InsertUser(ctx, tx, u); err != nil {
				return err
			}
			userID = u.ID
			if u.Email != "" { // the provider has verified it
				if err := confirmEmail(ctx, tx, u.ID, u.Email); err != nil {
					return err
				}
			}
			_, err = tx.NewInsert().
				Model(&identity{Issuer: id.Issuer, Subject: id.Subject, UserID: u.ID, CreatedAt: u.CreatedAt}).Exec(ctx)
			if err != nil || u.Role() == auth.Member {
				return err
			}
			return s.recordRole(ctx, tx, u)
		})
		if !database.IsUnique(err) {
			break
		}
	}
	return userID, err
}

// setRoles sets the roles of u that the identity decides.
func setRoles(u *models.User, id auth.Identity) {
	if id.IsAdministrator != nil {
		u.IsAdmin = *id.IsAdministrator
	}
	if id.IsModerator != nil {
		u.IsModerator = *id.IsModerator
	}
}

// recordRole records in the moderation log that the provider changed the role of u. The actor of
// the entry is the user.
func (s *Store) recordRole(ctx context.Context, tx bun.Tx, u *models.User) error {
	return s.core.Record(ctx, tx, auth.Caller{UserID: u.ID}, models.ModerationEntry{
		Action: models.SetUserRole, UserID: u.ID, Role: u.Role(), Reason: "The OpenID provider decided the role at sign-in.",
	})
}

// applyRoles sets the roles of a user that their identity specifies. It opens a transaction.
func (s *Store) applyRoles(ctx context.Context, userID int64, id auth.Identity) error {
	if id.IsAdministrator == nil && id.IsModerator == nil {
		return nil
	}
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, err := s.core.LockAccount(ctx, tx, userID)
		if err != nil {
			return err
		}
		before := *u
		setRoles(u, id)
		if u.IsAdmin == before.IsAdmin && u.IsModerator == before.IsModerator {
			return nil
		}
		if _, err := tx.NewUpdate().Model(u).Column("is_admin", "is_moderator").WherePK().Exec(ctx); err != nil {
			return err
		}
		return s.recordRole(ctx, tx, u)
	})
}

// freeName returns a username that is not taken: the wanted name, or one that is similar to it.
func (s *Store) freeName(ctx context.Context, tx bun.Tx, wanted string) (string, error) {
	wanted, _, _ = strings.Cut(wanted, "@") // some providers send an e-mail address
	wanted = strings.Map(func(r rune) rune {
		if r < 128 && auth.IsUsername("a"+string(r)) {
			return r
		}
		return '-'
	}, wanted)
	wanted = strings.Trim(wanted[:min(len(wanted), 50)], "-_.")
	if !auth.IsUsername(wanted) || models.ForbiddenUsername.MatchString(wanted) || s.core.IsReserved(wanted) {
		wanted = strings.TrimSuffix("user-"+wanted, "-")
	}
	name := wanted
	for n := 2; n < 1_000; n++ {
		taken, err := tx.NewSelect().Model((*models.User)(nil)).Where("u.sort_name = ?", models.FoldUsername(name)).
			Exists(ctx)
		if err != nil || !taken {
			return name, err
		}
		name = fmt.Sprintf("%s-%d", wanted, n)
	}
	return wanted + "-" + strings.ToLower(auth.NewSecret()[:10]), nil
}

// AuthenticateBearer returns the caller for a token of the operator's OpenID provider, with the
// scopes read and write. verify checks the token and returns its identity, which is cached for a
// second. The privileges of the user, a suspension and a deletion are read for each call. It
// returns Unauthenticated if the account was deleted. It returns Forbidden instead of creating a
// user if LinkableAccount finds an account, because only a person can enter its password.
func (s *Store) AuthenticateBearer(ctx context.Context, token string,
	verify func(context.Context, string) (auth.Identity, error)) (auth.Caller, error) {
	hash := auth.HashSecret(token)
	known, ok := s.identities.get(hash)
	ctx = database.WithSharedResult(ctx)
	if !ok {
		id, err := verify(ctx, token)
		if err != nil {
			return auth.Caller{}, err
		}
		existing, err := s.LinkableAccount(ctx, id)
		if err != nil {
			return auth.Caller{}, err
		}
		if existing != "" {
			return auth.Caller{},
				models.Fail(models.Forbidden,
					"the user of the ID token may have the account %s: sign in with the OpenID provider in a browser once, to link it or to create another one", existing)
		}
		if known.userID, err = s.Identify(ctx, id); err != nil {
			return auth.Caller{}, err
		}
		known.expires = id.ExpiresAt
		s.identities.put(hash, known.userID, id.ExpiresAt)
	}
	var of privileges
	err := selectPrivileges(s.core.DB.Read.NewSelect().TableExpr("users AS u")).Where("u.id = ? AND u.deleted_at IS NULL",
		known.userID).
		Scan(ctx, &of.isAdmin, &of.isModerator, &of.hidesNSFW, &of.hidesAI, &of.suspended)
	if errors.Is(err, sql.ErrNoRows) {
		return auth.Caller{}, models.Fail(models.Unauthenticated, "the account was deleted")
	}
	if err != nil {
		return auth.Caller{}, err
	}
	caller := of.caller(known.userID, auth.Scopes{auth.Read, auth.Write})
	caller.ExpiresAt = known.expires
	return caller, nil
}
