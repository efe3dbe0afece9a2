package account_test

import (
	"context"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/pgtest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/modelstest"
)

// TestCaseOfEmails checks that e-mail addresses and categories are found in any case of their
// letters, also in a Turkish database, in which lower('I') is not 'i'.
func TestCaseOfEmails(t *testing.T) {
	check := func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		s.Options.SendsMail = true
		ctx := t.Context()
		set := func(profile, confirmed string) {
			t.Helper()
			_, err := s.UpdateProfile(ctx, ada, models.ProfileChange{Email: &profile})
			if err == nil {
				err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
					return account.ConfirmEmail(ctx, tx, ada.UserID, confirmed)
				})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Account.Admin().SetPassword(ctx, "ada", "a horse battery staple"); err != nil {
			t.Fatal(err)
		}
		for _, written := range []string{"Info@ising.example", "info@ising.example", "INFO@ISING.EXAMPLE"} {
			set(written, strings.ToLower(written))
			if _, confirmed, err := s.Account.Email(ctx, ada); err != nil || !confirmed {
				t.Errorf("%s: the address in other case is not confirmed (%v)", written, err)
			}
			for _, asked := range []string{"INFO@ising.example", "info@ISING.example"} {
				links, err := s.Account.WriteEmails(ctx, models.Mail{Purpose: models.ResetLink, Name: asked})
				if err != nil || len(links) != 1 {
					t.Errorf("%s: a reset for %s: %d links (%v), want 1", written, asked, len(links), err)
				}
				// An hour has few links.
				if _, err := s.DB.Write.NewDelete().Table("account_links").Where("TRUE").Exec(ctx); err != nil {
					t.Fatal(err)
				}
				name, err := s.Account.LinkableAccount(ctx, auth.Identity{Issuer: "https://id.example", Subject: "1",
					Username: "nobody", Email: asked})
				if err != nil || name != "ada" {
					t.Errorf("%s: the account of %s is %q (%v), want ada", written, asked, name, err)
				}
			}
		}
		for _, category := range []string{"3D-PRINTING", "3d printing", "3D PRINTING"} {
			thing, err := s.CreateThing(ctx, ada, models.NewThing{Name: "a", License: models.CC, Category: category})
			if err != nil {
				t.Errorf("a thing in %s: %v", category, err)
			} else if thing.CategoryID != 1 {
				t.Errorf("a thing in %s is in category %d, want 1", category, thing.CategoryID)
			}
		}
	}
	cataloguetest.Each(t, check)
	t.Run("Turkish", func(t *testing.T) {
		db, err := models.OpenDB(t.Context(), pgtest.Localized(t, "tr-TR"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := catalogue.New(db, nil, catalogue.Options{Options: modelstest.Options},
			func(context.Context, bun.Tx, models.Work) error { return nil })
		check(t, s, cataloguetest.NewUser(t, s, "ada"))
	})
}
