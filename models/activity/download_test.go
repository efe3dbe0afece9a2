package activity_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/internal/pgtest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/activity"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/files"
	"github.com/meshyard/meshyard/models/makes"
	"github.com/meshyard/meshyard/models/uploads"
)

// madeOf creates a published make of a thing and returns the file of the make.
func madeOf(t *testing.T, s *catalogue.Catalogue, owner auth.Caller, thingID int64) *models.File {
	t.Helper()
	m, _, err := s.Makes.CreateMake(t.Context(), owner, makes.NewMake{ThingID: thingID})
	if err != nil {
		t.Fatal(err)
	}
	file, err := s.Uploads.Upload(t.Context(), owner, uploads.NewUpload{Name: "made.stl",
		Bytes: strings.NewReader("solid made")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Finalize(t.Context(), owner, []models.FinalizeFile{{ID: file.ID}},
		models.Target{Type: models.OnMake, ID: m.ID}); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestNewDownloads checks that counts include downloads immediately, whether they are folded before
// or after a recount or the deletion of an object that they refer to, and that no new download
// remains.
func TestNewDownloads(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		fold := func() {
			t.Helper()
			_, err := s.Activity.FoldDownloads(ctx)
			_, err2 := s.FoldCounts(ctx)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
		}
		var user *models.User // who downloads the files
		download := func(f *models.File, n int) {
			t.Helper()
			for range n {
				d, _, err := s.Activity.RecordDownload(ctx, auth.Caller{UserID: user.ID}, f.ID)
				if err != nil {
					t.Fatal(err)
				}
				if read, err := models.ByIDs(ctx, s.Store, auth.Caller{}, activity.AllDownloadFields, []int64{d.ID}); err != nil ||
					read[d.ID] == nil || read[d.ID].FileID != f.ID {
					t.Errorf("download %d of file %d: got %+v, %v", d.ID, f.ID, read[d.ID], err)
				}
			}
		}
		type scene struct {
			thing                  *models.Thing
			first, second, picture *models.File // picture is the file of a make
		}
		for _, c := range []struct {
			name string
			do   func(w scene) error
			gone string // "file" or "thing"
		}{
			{"recount", func(scene) error {
				if changed, err := s.Maintenance.Recount(ctx); changed != 0 || err != nil {
					t.Errorf("a recount changed %d counts, %v", changed, err)
				}
				return nil
			}, ""},
			{"recount of wrong counts", func(w scene) error {
				if _, err := s.DB.Write.NewUpdate().Table("things").Set("download_count = 77").Where("id = ?", w.thing.ID).
					Exec(ctx); err != nil {
					return err
				}
				_, err := s.Maintenance.Recount(ctx)
				return err
			}, ""},
			{"deleted file", func(w scene) error {
				_, err := s.Files.DeleteFile(ctx, ada, files.FileDeletion{ID: w.first.ID})
				return err
			}, "file"},
			{"deleted thing", func(w scene) error { _, err := s.DeleteThing(ctx, ada, w.thing.ID, ""); return err }, "thing"},
			{"deleted user", func(scene) error {
				if _, err := s.Account.DeleteAccount(ctx, auth.Caller{UserID: user.ID}, user.Username, ""); err != nil {
					return err
				}
				return s.Account.PurgeAccount(ctx, user.ID)
			}, ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				var err error
				user, err = s.Admin().CreateUser(ctx, strings.ReplaceAll(c.name, " ", "-"), false)
				if err != nil {
					t.Fatal(err)
				}
				var w scene
				w.thing, w.first = cataloguetest.Published(t, s, ada)
				if w.second, err = s.Uploads.Upload(ctx, ada,
					uploads.NewUpload{Name: "b.stl", Bytes: strings.NewReader("solid b")}); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Finalize(ctx, ada, []models.FinalizeFile{{ID: w.second.ID}}, models.Target{Type: models.OnThing,
					ID: w.thing.ID}); err != nil {
					t.Fatal(err)
				}
				w.picture = madeOf(t, s, ada, w.thing.ID)
				wantCounts := func(when string, first, second, picture int64) {
					t.Helper()
					want := map[*models.File]int64{w.first: first, w.second: second, w.picture: picture}
					if c.gone != "" && when != "before" {
						delete(want, w.first)
					}
					if c.gone == "thing" && when != "before" {
						delete(want, w.second)
					} else if th, err := s.Thing(ctx, ada, models.AllThingFields, w.thing.ID); err != nil ||
						th.DownloadCount() != first+second+picture {
						t.Errorf("%s: %d downloads of the thing, %v, want %d", when, th.DownloadCount(), err, first+second+picture)
					}
					for f, n := range want {
						if read, err := s.File(ctx, ada, models.AllFileFields, f.ID); err != nil || read.DownloadCount() != n {
							t.Errorf("%s: %d downloads of file %d, %v, want %d", when, read.DownloadCount(), f.ID, err, n)
						}
					}
				}

				download(w.first, 3)
				download(w.picture, 1)
				fold()
				download(w.first, 2)
				download(w.second, 1)
				download(w.picture, 4)
				wantCounts("before", 5, 1, 5)
				if _, err := s.FoldCounts(ctx); err != nil {
					t.Fatal(err)
				}
				if err := c.do(w); err != nil {
					t.Fatal(err)
				}
				wantCounts("after it", 5, 1, 5)
				fold()
				wantCounts("after a fold", 5, 1, 5)
				if changed, err := s.Maintenance.Recount(ctx); changed != 0 || err != nil {
					t.Errorf("a last recount changed %d counts, %v", changed, err)
				}
				if n, err := s.DB.Read.NewSelect().Model((*activity.NewDownload)(nil)).Count(ctx); n != 0 || err != nil {
					t.Errorf("%d new downloads after a fold, %v", n, err)
				}
			})
		}
		if _, err := s.Maintenance.CollectGarbage(ctx, 0, false); err != nil {
			t.Error(err)
		}
	})
}

// TestInsertDownloads checks that downloads that share a commit get their own IDs, and that each of
// them is counted.
func TestInsertDownloads(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		thing, file := cataloguetest.Published(t, s, ada)
		picture := madeOf(t, s, ada, thing.ID)
		files := []*models.File{picture, file, file, picture, file}
		var rows []*activity.Download
		for _, f := range files {
			rows = append(rows, &activity.Download{UserID: ada.UserID, FileID: f.ID, ThingID: thing.ID, CreatedAt: models.Now()})
		}
		if err := s.Activity.InsertDownloads(ctx, rows); err != nil {
			t.Fatal(err)
		}
		for i, d := range rows {
			if read, err := models.ByIDs(ctx, s.Store, auth.Caller{}, activity.AllDownloadFields, []int64{d.ID}); err != nil ||
				read[d.ID] == nil || read[d.ID].FileID != files[i].ID {
				t.Errorf("download %d has the ID %d, which is %+v (%v), want file %d", i, d.ID, read[d.ID], err, files[i].ID)
			}
		}
		for f, want := range map[*models.File]int64{file: 3, picture: 2} {
			if read, err := s.File(ctx, ada, models.AllFileFields, f.ID); err != nil || read.DownloadCount() != want {
				t.Errorf("%d downloads of file %d (%v), want %d", read.DownloadCount(), f.ID, err, want)
			}
		}
		// Either all downloads are inserted or none.
		missing := &activity.Download{UserID: ada.UserID, FileID: 999_999, ThingID: thing.ID, CreatedAt: models.Now()}
		if err := s.Activity.InsertDownloads(ctx,
			[]*activity.Download{{UserID: ada.UserID, FileID: file.ID, ThingID: thing.ID, CreatedAt: models.Now()},
				missing}); err == nil {
			t.Error("a download of a missing file is recorded")
		}
		if n, err := s.DB.Read.NewSelect().Model((*activity.NewDownload)(nil)).Count(ctx); n != int64(len(rows)) ||
			err != nil {
			t.Errorf("%d new downloads (%v), want %d", n, err, len(rows))
		}
	})
}

// TestFoldBesideRecount checks that a recount that corrects a count does not lose downloads that
// are folded at the same time.
func TestFoldBesideRecount(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		if s.DB.Engine == database.SQLite {
			return // its write transactions do not overlap
		}
		ctx := t.Context()
		thing, file := cataloguetest.Published(t, s, ada)
		for range 3 {
			if _, _, err := s.Activity.RecordDownload(ctx, ada, file.ID); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.DB.Write.NewUpdate().Table("things").Set("download_count = 77").Where("id = ?", thing.ID).
			Exec(ctx); err != nil {
			t.Fatal(err)
		}
		// Folding waits for the file after it has changed the thing.
		tx, err := s.DB.Write.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.NewUpdate().Table("files").Set("rank = rank").Where("id = ?", file.ID).Exec(ctx); err != nil {
			t.Fatal(err)
		}
		waiting := func(n int) {
			t.Helper()
			for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
				var found int
				if err := s.DB.Read.NewRaw(
					"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").
					Scan(ctx, &found); err != nil {
					t.Fatal(err)
				}
				if found == n {
					return
				}
				if time.Since(began) > time.Minute {
					t.Fatalf("%d statements wait for locks, want %d", found, n)
				}
			}
		}
		ended := make(chan error, 2)
		go func() {
			_, err := s.Activity.FoldDownloads(ctx)
			ended <- err
		}()
		waiting(1)
		go func() {
			_, err := s.Maintenance.Recount(ctx)
			ended <- err
		}()
		waiting(2)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if th, err := s.Thing(ctx, ada, models.AllThingFields, thing.ID); err != nil || th.DownloadCount() != 3 {
			t.Errorf("%d downloads of the thing (%v), want 3", th.DownloadCount(), err)
		}
	})
}

// TestPlansOfNewDownloads checks that PostgreSQL counts new downloads by index even with a query
// plan from a moment when there were few, which prepared statements keep during a burst.
func TestPlansOfNewDownloads(t *testing.T) {
	ctx := t.Context()
	db, err := models.OpenDB(ctx, pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	migrate := func() {
		t.Helper()
		if _, err := db.Migrate(ctx); err != nil {
			t.Fatal(err)
		}
	}
	migrate()
	for _, statement := range []string{
		"VACUUM (ANALYZE) new_downloads",
		"INSERT INTO new_downloads (id, thing_id, file_id) SELECT n, n, n FROM generate_series(1, 100) AS n",
		"VACUUM (ANALYZE) new_downloads",
		"VACUUM (FULL, ANALYZE) new_downloads", // as short as in a restored database
	} {
		if _, err := db.Write.NewRaw(statement).Exec(ctx); err != nil {
			t.Fatal(err)
		}
		migrate() // as at each start
		for _, q := range []*bun.SelectQuery{
			database.AddFields(db.Read.NewSelect().Model(new([]*models.File)), db.Literal(),
				fieldset.Of[models.File]("NewDownloads"), false, 0).Where("f.id = 1"),
			database.AddFields(db.Read.NewSelect().Model(new([]*models.Thing)), db.Literal(),
				fieldset.Of[models.Thing]("NewDownloads"), false, 0).Where("t.id = 1"),
		} {
			var plan []string
			if err := db.Read.NewRaw("EXPLAIN ?", q).Scan(ctx, &plan); err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(plan, "\n"); !strings.Contains(text, "using new_downloads_thing") {
				t.Errorf("after %s:\n%s", statement, text)
			}
		}
	}
}
