package models_test

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
)

// TestDeletedUsersAreNotIndexed checks that the search index has neither a document nor the new
// name of a user whose account was deleted, also after it was rebuilt.
func TestDeletedUsersAreNotIndexed(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		if _, err := s.Admin().CreateUser(ctx, "bob", false); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Account.DeleteAccount(ctx, ada, "ada", ""); err != nil {
			t.Fatal(err)
		}
		check := func(when string) {
			t.Helper()
			id := "id"
			if s.DB.Engine == database.SQLite {
				id = "rowid"
			}
			var documents, words int
			err := s.DB.Read.NewRaw(
				"SELECT (SELECT count(*) FROM user_documents WHERE "+id+" = ?), (SELECT count(*) FROM vocabulary WHERE noun = 'user' AND word = 'deleted')", ada.UserID).
				Scan(ctx, &documents, &words)
			if err != nil {
				t.Fatal(err)
			}
			if documents != 0 || words != 0 {
				t.Errorf("%s: %d documents of the deleted user, and %d words \"deleted\", want none", when, documents, words)
			}
		}
		check("after the deletion")
		if err := s.DB.ReindexAll(ctx); err != nil {
			t.Fatal(err)
		}
		check("after indexing all")
	})
}
