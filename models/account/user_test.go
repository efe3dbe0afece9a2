package account_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
)

// TestProfileEmail checks that a profile takes an e-mail address, none, and nothing else, so that
// no mail is sent to what is not one.
func TestProfileEmail(t *testing.T) {
	mails := 0
	cataloguetest.EachDuring(t, func() { mails++ }, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		s.Options.SendsMail, mails = true, 0
		for _, c := range []struct {
			email string
			ok    bool
			mails int // in total, after the change
		}{
			{"ada@example.org", true, 1}, {"ada@example.org", true, 1}, {"ada", false, 1}, {"Ada <ada@example.org>", false, 1},
			{"ada@example.org, bob@example.org", false, 1}, {strings.Repeat("a", 250) + "@example.org", false, 1}, {"", true, 1},
			{"a@b.example", true, 2},
		} {
			_, err := s.UpdateProfile(t.Context(), ada, models.ProfileChange{Email: &c.email})
			var e *models.Error
			if c.ok != (err == nil) || err != nil && (!errors.As(err, &e) || e.Code != models.BadInput || e.Field != "email") {
				t.Errorf("%.40q: %v, want it accepted: %t", c.email, err, c.ok)
			}
			if mails != c.mails {
				t.Errorf("%.40q: %d mails in total, want %d", c.email, mails, c.mails)
			}
		}
	})
}

// TestEmailNeedsAllRights checks that a caller who has less than a browser session of the user
// cannot change the e-mail address: by a password reset, they could get such a session.
func TestEmailNeedsAllRights(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		s.Options.SendsMail = true
		all := auth.Scopes{auth.Read, auth.Write, auth.Admin}
		for name, c := range map[string]struct {
			change func(c *auth.Caller)
			ok     bool
		}{
			"session":                {func(c *auth.Caller) { c.SessionID = 1 }, true},
			"token":                  {func(c *auth.Caller) { c.TokenID = 1 }, true},
			"token that writes only": {func(c *auth.Caller) { c.TokenID, c.Scopes = 1, auth.Scopes{auth.Write} }, false},
			"token that expires":     {func(c *auth.Caller) { c.TokenID, c.ExpiresAt = 1, models.Now().Add(time.Hour) }, false},
			"ID token":               {func(c *auth.Caller) { c.ExpiresAt = models.Now().Add(time.Hour) }, false},
			"application":            {func(c *auth.Caller) { c.TokenID, c.ApplicationID = 1, 1 }, false},
			"moderator":              {func(c *auth.Caller) { c.TokenID, c.Role, c.Scopes = 1, auth.Moderator, all }, true},
			"moderator as member":    {func(c *auth.Caller) { c.TokenID, c.Role = 1, auth.Moderator }, false},
		} {
			as := ada
			c.change(&as)
			for _, email := range []string{"new@example.org", ""} {
				if _, err := s.UpdateProfile(t.Context(), ada, models.ProfileChange{Email: new("ada@example.org")}); err != nil {
					t.Fatal(err)
				}
				_, err := s.UpdateProfile(t.Context(), as, models.ProfileChange{Email: &email})
				if c.ok != (err == nil) || err != nil && models.CodeOf(err) != models.Forbidden {
					t.Errorf("%s, %q: %v, want it accepted: %t", name, email, err, c.ok)
				}
				got, _, err := s.Account.Email(t.Context(), ada)
				if err != nil || (got == email) != c.ok {
					t.Errorf("%s, %q: the address is %q (%v)", name, email, got, err)
				}
			}
			_, err := s.UpdateProfile(t.Context(), ada, models.ProfileChange{Email: new("ada@example.org")})
			if err == nil {
				_, err = s.UpdateProfile(t.Context(), as, models.ProfileChange{Email: new("ada@example.org"),
					Location: new("Here")})
			}
			if err != nil {
				t.Errorf("%s: the same address: %v", name, err)
			}
		}
	})
}

// TestNewAddressEndsResets checks that a link to reset the password that was sent to an address
// does not work after the user has changed the address.
func TestNewAddressEndsResets(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		s.Options.SendsMail = true
		link := func() string {
			t.Helper()
			emails, err := s.Account.WriteEmails(t.Context(), models.Mail{Purpose: models.ResetLink, Name: "ada"})
			if err != nil || len(emails) != 1 {
				t.Fatalf("%d e-mails (%v), want 1", len(emails), err)
			}
			return emails[0].Secret
		}
		set := func(email string) {
			t.Helper()
			_, err := s.UpdateProfile(t.Context(), ada, models.ProfileChange{Email: &email})
			if err == nil {
				err = s.DB.InTx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
					return account.ConfirmEmail(ctx, tx,
						ada.UserID, email)
				})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		set("old@example.org")
		old := link()
		set("new@example.org")
		if _, err := s.Account.ResetPassword(t.Context(), old, "a new horse battery"); models.CodeOf(err) != models.NotFound {
			t.Errorf("the link to the old address: %v, want NotFound", err)
		}
		if id, err := s.Account.ResetPassword(t.Context(), link(), "a new horse battery"); err != nil || id != ada.UserID {
			t.Errorf("the link to the new address: user %d (%v), want %d", id, err, ada.UserID)
		}
	})
}
