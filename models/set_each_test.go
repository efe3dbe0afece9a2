package models_test

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
)

// TestFoldInFewStatements checks that the number of statements that fold counts does not grow with
// the number of files and things, and that each file and thing gets its own count.
func TestFoldInFewStatements(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		other := cataloguetest.NewUser(t, s, "bob")
		fold := func(n int) (statements int64) {
			files, things := make([]*models.File, n), make([]*models.Thing, n)
			for i := range n {
				things[i], files[i] = cataloguetest.Published(t, s, ada)
				for range 1 + i%3 {
					if _, _, err := s.Activity.RecordDownload(t.Context(), other, files[i].ID); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.Social.Like(t.Context(), other, models.Target{Type: models.OnThing, ID: things[i].ID}); err != nil {
					t.Fatal(err)
				}
			}
			before := s.DB.Statements()
			if _, err := s.Activity.FoldDownloads(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.FoldCounts(t.Context()); err != nil {
				t.Fatal(err)
			}
			for ranked := 1; ranked > 0; {
				var err error
				if ranked, err = s.Maintenance.RankThings(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			statements = s.DB.Statements() - before
			for i := range n {
				want := int64(1 + i%3)
				var ofFile, ofThing, likes, popularity int64
				err := s.DB.Read.NewSelect().Table("files", "things").
					ColumnExpr("files.download_count, things.download_count, things.like_count, things.popularity").
					Where("files.id = ? AND things.id = ?", files[i].ID, things[i].ID).Scan(t.Context(), &ofFile, &ofThing, &likes,
					&popularity)
				if err != nil || ofFile != want || ofThing != want || likes != 1 || popularity == 0 {
					t.Errorf("thing %d of %d: %d downloads of the file, %d of the thing, %d likes, popularity %d, %v; want %d downloads", i, n, ofFile, ofThing, likes, popularity, err, want)
				}
			}
			return statements
		}
		if few, many := fold(2), fold(40); many != few {
			t.Errorf("%d statements to fold the counts of 40 things, %d of 2", many, few)
		}
	})
}
