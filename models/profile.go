package models

import (
	"context"
	"errors"
	"net/mail"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// ProfileChange is the input of UpdateProfile. Nil fields are left unchanged.
type ProfileChange struct {
	Username       *string // must be that of the caller, unless nil
	FirstName      *string
	LastName       *string
	Email          *string
	Bio            *string
	Location       *string
	DefaultLicense *License
	HidesNSFW      *bool
	HidesAI        *bool
	AvatarID       *int64 // a pending upload or the current avatar; 0 removes it
	CoverID        *int64 // a pending upload or the current cover; 0 removes it
}

// CheckOwnProfile returns Forbidden unless u is the user of the caller.
func CheckOwnProfile(caller auth.Caller, u *User) error {
	if u.ID != caller.UserID {
		return Fail(Forbidden, "the profile of %s is not yours", u.Username)
	}
	return nil
}

// UpdateProfile changes the caller's profile. It returns BadInput for an invalid e-mail address; an
// empty one removes it. It returns Forbidden if Username is that of another user, or if the caller
// may not change the e-mail address. It opens a transaction.
func (s *Store) UpdateProfile(ctx context.Context, caller auth.Caller, c ProfileChange) (*User, error) {
	err := errors.Join(optionalLine("firstName", c.FirstName, MaxName), optionalLine("lastName", c.LastName, MaxName),
		checkOptionalEmail(c.Email),
		CheckOptional("bio", c.Bio, MaxText), CheckOptional("location", c.Location, MaxName))
	if err != nil {
		return nil, err
	}
	if c.Username != nil {
		if u, err := s.User(ctx, caller, UserAccess, *c.Username); err != nil {
			return nil, err
		} else if err := CheckOwnProfile(caller, u); err != nil {
			return nil, err
		}
	}
	var html RenderedHTML
	if err := s.RenderTo(ctx, &html, userBio, c.Bio); err != nil {
		return nil, err
	}
	images := c.images()
	promoted, err := s.promoteUserImages(ctx, caller, images)
	if err != nil {
		return nil, err
	}
	err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, err := s.LockAccount(ctx, tx, caller.UserID)
		if err != nil {
			return err
		}
		if err := s.setUserImages(ctx, tx, caller, images); err != nil {
			return err
		}
		Assign(&u.FirstName, c.FirstName)
		Assign(&u.LastName, c.LastName)
		newEmail := c.Email != nil && *c.Email != u.Email
		if newEmail && !changesEmail(caller) {
			return Fail(Forbidden,
				"changing the e-mail address requires a browser session, or an access token of the user that has all scopes and does not expire")
		}
		Assign(&u.Email, c.Email)
		Assign(&u.Bio, c.Bio)
		Assign(&u.Location, c.Location)
		Assign(&u.DefaultLicense, c.DefaultLicense)
		Assign(&u.HidesNSFW, c.HidesNSFW)
		Assign(&u.HidesAI, c.HidesAI)
		_, err = html.Update(tx.NewUpdate().Model(u).Column("first_name", "last_name", "email", "bio", "location",
			"default_license", "hides_nsfw", "hides_ai").WherePK()).Exec(ctx)
		if err == nil && newEmail && u.Email != "" && s.Options.SendsMail {
			err = s.Enqueue(ctx, tx, Work{Mail: &Mail{Purpose: ConfirmationLink, UserID: u.ID}})
		}
		if err != nil || c.FirstName == nil && c.LastName == nil {
			return err
		}
		return s.DB.Index(ctx, tx, UserIndex, u.ID)
	})
	if err != nil {
		return nil, err
	}
	s.Sweep(ctx, promoted)
	return s.User(ctx, caller, AllUserFields, "me")
}

// changesEmail reports whether the caller may change the e-mail address of their user. Anyone who
// receives the mails can reset the password and sign in. So a token must not change the address if
// a browser session has more scopes, lasts longer, or is no application.
func changesEmail(caller auth.Caller) bool {
	return caller.ApplicationID == 0 && caller.ExpiresAt.IsZero() && caller.Scopes.Has(auth.Read) &&
		(caller.Role == auth.Member || caller.Scopes.Has(auth.Admin))
}

// checkOptionalEmail returns BadInput if an address that is not nil or empty is not a valid e-mail
// address of at most maxName characters.
func checkOptionalEmail(address *string) error {
	if err := CheckOptional("email", address, MaxName); err != nil || address == nil || *address == "" {
		return err
	}
	return CheckEmail(*address)
}

// CheckEmail returns BadInput if an address is not a valid e-mail address of at most 254 bytes.
func CheckEmail(address string) error {
	if parsed, err := mail.ParseAddress(address); err != nil || parsed.Address != address || len(address) > 254 {
		return Invalid("email", "email: %.60q is not an e-mail address", address)
	}
	return nil
}
