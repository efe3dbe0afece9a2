package archives_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshyard/meshyard/internal/archive"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
	archives "github.com/meshyard/meshyard/models/archive"
	"github.com/meshyard/meshyard/models/fsck"
	"github.com/meshyard/meshyard/test/servertest"
)

// archiveFixture fills a server with rows of every noun.
func archiveFixture(t *testing.T, s *servertest.Server) *servertest.FixtureBuilder {
	t.Helper()
	ctx := context.Background()
	p := &servertest.FixtureBuilder{T: t, S: s, STL: servertest.Mesh(t, "hschendel_simple_bin.stl"),
		PNG: servertest.Mesh(t, "lib3mf_thumbnail.png"), IDs: make(map[string]int64), Zoes: make(map[string]int64)}
	for _, name := range []string{"zoe", "own"} {
		p.User(name)
	}
	of := p.Set("own", "catalogue")
	thing := models.Target{Type: models.OnThing, ID: servertest.Must(strconv.ParseInt(of["thing"], 10, 64))(t)}
	servertest.Must(s.Store.UpdateProfile(ctx, p.As("own"), models.ProfileChange{FirstName: new("Ada \"<\u2028>\""),
		Bio: new("Line 1\nLine 2\t🙂"), DefaultLicense: new(models.GPL)}))(t)
	own := servertest.Must(s.Store.User(ctx, p.As("own"), models.AllUserFields, "own"))(t)
	avatar := p.Upload("own", "face.png", p.PNG)
	servertest.Must(s.Store.Finalize(ctx, p.As("own"), []models.FinalizeFile{{ID: avatar}},
		models.Target{Type: models.OnAvatar, ID: own.ID}))(t)
	parent := p.Comment("own", "parent", thing, 0)
	p.Attach("own", "parent", parent)
	p.Attach("zoe", "reply", p.Comment("zoe", "reply", thing, parent))
	servertest.Must(s.Store.Social.Follow(ctx, p.As("own"), "zoe"))(t)
	for _, err := range []error{
		s.Store.Social.Watch(ctx, p.As("zoe"), thing), s.Store.Social.Like(ctx, p.As("zoe"), thing),
		s.Store.Account.Admin().SetPassword(ctx, "own", "a long password"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	servertest.Must(s.Store.CreateThing(ctx, p.As("own"), models.NewThing{Name: "Deleted", License: models.CC,
		Category: "Tools"}))(t)
	last := servertest.Must(s.Store.CreateThing(ctx, p.As("own"), models.NewThing{
		Name: "Last", License: models.CC, Category: "Tools", IsNSFW: true, DetailsParts: `[{"type": "summary"}]`,
	}))(t)
	if _, err := s.Store.DeleteThing(ctx, p.As("own"), last.ID, ""); err != nil {
		t.Fatal(err)
	}
	db := servertest.OpenDB(t, s).SQL()
	for _, statement := range []string{
		// Enough rows that loading them can be interrupted between two batches.
		"INSERT INTO downloads (user_id, file_id, thing_id, created_at) WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1200) " +
			"SELECT d.user_id, d.file_id, d.thing_id, d.created_at FROM n, (SELECT * FROM downloads ORDER BY id LIMIT 1) AS d",
		"INSERT INTO new_downloads (id, thing_id, file_id) SELECT id, thing_id, file_id FROM downloads WHERE id NOT IN (SELECT id FROM new_downloads)",
		"INSERT INTO imported_counts (thing_id, at, downloads, likes, collects, makes, comments) SELECT id, created_at, 7, 6, 5, 4, 3 FROM things WHERE id = " + of["thing"],
		"INSERT INTO printed_files (make_id, file_id) SELECT m.id, f.id FROM makes AS m JOIN files AS f ON f.target_type = 'thing' AND f.target_id = m.thing_id ORDER BY m.id, f.id LIMIT 1",
		"INSERT INTO identities (issuer, subject, user_id, created_at) SELECT 'https://id.example', 'ada', id, created_at FROM users WHERE username = 'own'",
		"INSERT INTO confirmed_emails (user_id, email, confirmed_at) SELECT id, email, created_at FROM users WHERE username = 'own'",
		"INSERT INTO categories (name, slug, parent_id) VALUES ('Zebras', 'zebras', 3)",
		"UPDATE things SET category_id = (SELECT id FROM categories WHERE slug = 'zebras') WHERE id = " + of["thing"],
		"UPDATE comments SET spam_body = 'spam', reported_at = created_at WHERE id = " + servertest.ID(parent),
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	s.Fold()
	servertest.Must(s.Store.Maintenance.Recount(ctx))(t)
	return p
}

// export creates an archive. If interrupted is true, it interrupts and continues the export several
// times.
func export(t *testing.T, s *servertest.Server, path string, e archives.Export, interrupted bool) *archive.Manifest {
	t.Helper()
	for run := 1; ; run++ {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		e.Progress = func(string, int64) {
			if calls++; interrupted && calls == 4*run {
				cancel()
			}
		}
		w := servertest.Must(archive.Create(path))(t)
		m, err := s.Store.Archive.Admin().Export(ctx, w, e)
		cancel()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err == nil {
			if interrupted && run < 3 {
				t.Errorf("the export was interrupted %d times, want more", run-1)
			}
			return m
		}
		if !interrupted || !errors.Is(err, context.Canceled) || run == 1_000 {
			t.Fatal(err)
		}
	}
}

// importArchive imports an archive. It interrupts and continues the import after each batch.
func importArchive(t *testing.T, s *servertest.Server, path string, im archives.Import) *archives.Report {
	t.Helper()
	for run := 1; ; run++ {
		r := servertest.Must(archive.Open(path))(t)
		ctx, cancel := context.WithCancel(context.Background())
		im.Progress = func(string, int64, int64) { cancel() }
		report, err := s.Store.Archive.Admin().ImportArchive(ctx, r, im)
		cancel()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if err == nil {
			if run < 3 {
				t.Errorf("the import was interrupted %d times, want more", run-1)
			}
			return report
		}
		if !errors.Is(err, context.Canceled) || run == 1_000 {
			t.Fatal(err)
		}
	}
}

// otherEngine starts a server on the other engine.
func otherEngine(t *testing.T, change ...func(*config.Settings)) *servertest.Server {
	t.Helper()
	if strings.HasSuffix(t.Name(), "/sqlite") {
		return servertest.Start(t, "postgres", change...)
	}
	return servertest.Start(t, "sqlite", change...)
}

// wantSound checks that the database, the bucket and the stored counts of a server are consistent.
func wantSound(t *testing.T, s *servertest.Server) {
	t.Helper()
	_, err := s.Store.Fsck.Check(context.Background(), fsck.Options{Grace: time.Hour, Rehash: true},
		func(p fsck.Problem) { t.Error(p) })
	if err != nil {
		t.Fatal(err)
	}
	if changed := servertest.Must(s.Store.Maintenance.Recount(context.Background()))(t); changed != 0 {
		t.Errorf("%d counts were wrong", changed)
	}
}

// wantSame compares two folders byte by byte.
func wantSame(t *testing.T, a, b string) {
	t.Helper()
	read := func(dir string) map[string]string {
		all := map[string]string{}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			all[strings.TrimPrefix(path, dir)] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	first, second := read(a), read(b)
	for name, text := range first {
		if second[name] == text {
			continue
		}
		x, y := strings.Split(text, "\n"), strings.Split(second[name], "\n")
		i := 0
		for i < min(len(x), len(y))-1 && x[i] == y[i] {
			i++
		}
		t.Errorf("%s, line %d:\n%.300s\n%.300s", name, i+1, x[i], y[i])
	}
	for name := range second {
		if _, ok := first[name]; !ok {
			t.Errorf("%s: is only in %s", name, b)
		}
	}
}

// TestArchive exports everything, imports it on the other engine, and exports it again: both
// archives must be identical.
func TestArchive(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx := context.Background()
		p := archiveFixture(t, s)
		p.Set("own", "upload pending") // pending uploads are not exported
		s.Fold()
		dir := t.TempDir()
		first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
		m := export(t, s, first, archives.Export{Credentials: true}, true)
		for _, n := range m.Nouns {
			if n.Rows == 0 {
				t.Errorf("the archive has no %s", n.Name)
			}
		}
		if _, err := archive.Create(first); err == nil || !strings.Contains(err.Error(), "already contains an archive") {
			t.Errorf("an export into a complete archive: %v", err)
		}
		again := filepath.Join(dir, "again")
		export(t, s, again, archives.Export{Credentials: true}, false)
		wantSame(t, first, again)

		to := otherEngine(t)
		if report := importArchive(t, to, first, archives.Import{}); len(report.LeftOut) > 0 {
			t.Errorf("left out: %q", report.LeftOut)
		}
		export(t, to, second, archives.Export{Credentials: true}, false)
		wantSame(t, first, second)
		wantSound(t, to)
		if findings := servertest.Must(to.Store.Maintenance.Diagnose(ctx))(t); slices.ContainsFunc(findings,
			func(f string) bool { return strings.Contains(f, "archive") }) {
			t.Errorf("doctor: %q", findings)
		}
		if strings.HasSuffix(t.Name(), "/sqlite") { // the archive went to PostgreSQL
			if size := servertest.RowsOf(t, to, "SELECT pg_relation_size('count_changes')"); !slices.Equal(size, []string{"0"}) {
				t.Errorf("the changes of counts take %s bytes, also after they were folded", size)
			}
		}
		for _, query := range []string{"SELECT id, popularity, like_count FROM things ORDER BY id",
			"SELECT id, thing_count, make_count, like_count FROM users ORDER BY id",
			"SELECT id, download_count FROM files ORDER BY id"} {
			if query = strings.Replace(query, "FROM files", "FROM files WHERE state = 'finalized'",
				1); !slices.Equal(servertest.RowsOf(t, s, query), servertest.RowsOf(t, to, query)) {
				t.Errorf("%s: got %v, want %v", query, servertest.RowsOf(t, to, query), servertest.RowsOf(t, s, query))
			}
		}
		if r := to.Administrator().Get("/search/zoe?type=things").Want(t, 200); !strings.Contains(string(r.Bytes),
			"zoe's published") {
			t.Errorf("a search: %s", r.Bytes)
		}
		last := func(s *servertest.Server) int64 {
			return servertest.Must(s.Store.CreateThing(ctx, p.As("own"), models.NewThing{Name: "New", License: models.CC,
				Category: "Tools"}))(t).ID
		}
		if got, want := last(to), last(s); got != want {
			t.Errorf("the next thing has the id %d, want %d: ids are not given again", got, want)
		}
		if _, err := to.Store.Archive.Admin().ImportArchive(ctx, servertest.Must(archive.Open(first))(t),
			archives.Import{}); err == nil || !strings.Contains(err.Error(), "there are users already") {
			t.Errorf("an import into a database with users: %v", err)
		}
	})
}

// TestArchiveInAnotherOrder imports an archive that lists its nouns in another order, as earlier
// versions did.
func TestArchiveInAnotherOrder(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		archiveFixture(t, s)
		s.Fold()
		dir := t.TempDir()
		first, reversed, second := filepath.Join(dir, "first"), filepath.Join(dir, "reversed"), filepath.Join(dir, "second")
		m := export(t, s, first, archives.Export{Credentials: true}, false)
		slices.Reverse(m.Nouns)
		manifest, err := json.Marshal(m)
		err = errors.Join(err, os.CopyFS(reversed, os.DirFS(first)), os.WriteFile(filepath.Join(reversed, "archive.json"),
			manifest, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		to := otherEngine(t)
		// The progress of a version that loaded the nouns as they are listed says nothing about those
		// that this version loads first.
		r := servertest.Must(archive.Open(reversed))(t)
		if _, err := servertest.OpenDB(t, to).SQL().
			Exec("INSERT INTO archive_imports (source, noun, done, left_out, started_at) VALUES ('" + r.ID + "', '" +
				m.Nouns[0].Name + "', 0, '{}', '2026-11-01 00:00:00+00:00')"); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if report := importArchive(t, to, reversed, archives.Import{}); len(report.LeftOut) > 0 {
			t.Errorf("left out: %q", report.LeftOut)
		}
		export(t, to, second, archives.Export{Credentials: true}, false)
		wantSame(t, first, second)
	})
}

// TestArchiveOfUser imports the archive of a user on a server with the other engine, on which the
// username is taken.
func TestArchiveOfUser(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx := context.Background()
		p := archiveFixture(t, s)
		servertest.Must(s.Store.Moderation.SetUserRole(ctx, p.As("zoe"), "own", auth.Administrator, "for the test"))(t)
		file := filepath.Join(t.TempDir(), "own.zip")
		m := export(t, s, file, archives.Export{User: "OWN"}, true)
		if m.User != "own" || slices.ContainsFunc(m.Nouns, func(n archive.Noun) bool {
			return n.Name == "passwords" ||
				n.Name == "moderation_log"
		}) {
			t.Errorf("the archive of a user: %+v", m)
		}
		entries := servertest.Must(os.ReadDir(filepath.Dir(file)))(t)
		if len(entries) != 1 {
			t.Errorf("the export left %v", entries)
		}

		to := otherEngine(t)
		to.Administrator()
		taken := to.User("own")
		taken.Thing("The first one")
		_, err := to.Store.Archive.Admin().ImportArchive(ctx, servertest.Must(archive.Open(file))(t), archives.Import{})
		if err == nil || !strings.Contains(err.Error(), "--user") {
			t.Errorf("an import under a name that is taken: %v", err)
		}
		ids := map[string]int64{}
		report := importArchive(t, to, file,
			archives.Import{User: "moved", Renumbered: func(noun string, from, to int64) error {
				ids[fmt.Sprint(noun, from)] = to
				return nil
			}})
		wantSound(t, to)
		left := strings.Join(report.LeftOut, "\n")
		for _, want := range []string{"makes that lost their thing",
			"likes that were left out, because the archive does not have their target",
			`1 categories that do not exist here, "zebras"`, "follows that were left out"} {
			if !strings.Contains(left, want) {
				t.Errorf("left out: %s; want %q", left, want)
			}
		}
		moved := servertest.Must(to.Store.User(ctx, auth.Caller{}, models.AllUserFields, "moved"))(t)
		if moved.IsAdmin || moved.AvatarID == 0 || moved.FirstName != "Ada \"<\u2028>\"" ||
			ids[fmt.Sprint("users", p.IDs["own"])] != moved.ID {
			t.Errorf("the user: %+v", moved)
		}

		// The rows must be equal, except for the IDs that the import reported.
		again := filepath.Join(t.TempDir(), "again.zip")
		export(t, to, again, archives.Export{User: "moved"}, false)
		for _, noun := range []string{"things", "thing_tags", "imported_counts", "makes", "collections", "files"} {
			want, got := rowsIn(t, file, noun), rowsIn(t, again, noun)
			for _, row := range want {
				if id, ok := row["thing_id"].(float64); ok && noun != "makes" {
					row["thing_id"] = float64(ids[fmt.Sprint("things", id)])
				}
				if id, ok := row["id"].(float64); ok {
					row["id"] = float64(ids[fmt.Sprint(noun, id)])
				}
			}
			if noun == "files" {
				attached := func(row map[string]any) bool { return row["target_type"] != "thing" && row["target_type"] != "avatar" }
				want, got = slices.DeleteFunc(want, attached), slices.DeleteFunc(got, attached)
			}
			for _, row := range slices.Concat(want, got) {
				for _, key := range []string{"owner_id", "category_id", "tag_id", "target_id", "rendering_id"} {
					delete(row, key)
				}
				if noun == "makes" { // whose things were not exported
					delete(row, "thing_id")
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
				t.Errorf("%d %s: -want +got\n%s", len(want), noun, diff)
			}
		}
		if n := servertest.RowsOf(t, to, "SELECT count(*) FROM thing_ancestors"); n[0] == "0" {
			t.Error("the things have no ancestors")
		}
		if n := servertest.RowsOf(t, to, "SELECT count(*) FROM archive_ids"); n[0] != "0" {
			t.Errorf("%s ids are left", n[0])
		}
	})
}

// rowsIn returns the rows of a noun in a ZIP archive.
func rowsIn(t *testing.T, path, noun string) (rows []map[string]any) {
	t.Helper()
	r := servertest.Must(archive.Open(path))(t)
	defer r.Close()
	err := r.Rows(noun, func(line []byte) error {
		var row map[string]any
		err := json.Unmarshal(line, &row)
		rows = append(rows, row)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestDamagedArchive checks that a damaged archive is rejected and nothing of it is imported.
func TestDamagedArchive(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		archiveFixture(t, s)
		sound := filepath.Join(t.TempDir(), "sound")
		export(t, s, sound, archives.Export{}, false)
		for name, try := range map[string]struct {
			damage func(dir string) error
			says   string
		}{
			"rows that were changed": {func(dir string) error {
				return replaceIn(filepath.Join(dir, "things.ndjson"), "Made for a test.", "Made for a jest.")
			}, "things.ndjson: is damaged"},
			"no manifest": {func(dir string) error { return os.Remove(filepath.Join(dir, "archive.json")) },
				"not a complete archive"},
			"another version": {func(dir string) error {
				return replaceIn(filepath.Join(dir, "archive.json"), `"format": 1`, `"format": 2`)
			}, "reads format 1"},
		} {
			dir := filepath.Join(t.TempDir(), "archive")
			if err := errors.Join(os.CopyFS(dir, os.DirFS(sound)), try.damage(dir)); err != nil {
				t.Fatal(err)
			}
			to := servertest.Start(t, "sqlite")
			r, err := archive.Open(dir)
			if err == nil {
				_, err = to.Store.Archive.Admin().ImportArchive(context.Background(), r, archives.Import{})
				r.Close()
			}
			if err == nil || !strings.Contains(err.Error(), try.says) {
				t.Errorf("%s: got %v, want %q", name, err, try.says)
			}
			if rows := servertest.RowsOf(t, to, "SELECT id FROM files"); len(rows) > 0 {
				t.Errorf("%s: %d files were loaded", name, len(rows))
			}
		}
	})
}

// TestArchiveWithoutContents checks that an import goes on without the contents that the archive
// has lost, and reports the files.
func TestArchiveWithoutContents(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Box")
		var ids []int64
		for i := range 6 {
			ids = append(ids, ada.Upload(fmt.Sprintf("%d.txt", i), fmt.Appendf(nil, "content %d", i)))
		}
		ada.Finalize("thing", thing, ids...).Want(t, 200)
		sums := servertest.RowsOf(t, s, "SELECT sha256 FROM files ORDER BY name")
		dir := filepath.Join(t.TempDir(), "archive")
		export(t, s, dir, archives.Export{}, false)
		content := func(i int) string { return filepath.Join(dir, "files", sums[i][:2], sums[i]) }
		err := errors.Join(replaceIn(content(0), "content", "contend"), replaceIn(content(1), "content", "tent"),
			replaceIn(content(2), "content", "contents"),
			os.Remove(content(3)), os.Remove(content(4)), os.Mkdir(content(4), 0o700))
		if err != nil {
			t.Fatal(err)
		}
		r := servertest.Must(archive.Open(dir))(t)
		defer r.Close()
		to, lost := otherEngine(t), map[int64]string{}
		report := servertest.Must(to.Store.Archive.Admin().ImportArchive(context.Background(), r, archives.Import{
			Lost: func(fileID int64, cause error) { lost[fileID] = cause.Error() },
		}))(t)
		if report.Lost != 5 || len(report.LeftOut) != 1 || !strings.HasPrefix(report.LeftOut[0],
			"5 files that are without content") {
			t.Errorf("the report: got %+v, want 5 lost contents", report)
		}
		for i, says := range []string{"is damaged: they have the SHA-256", "is damaged: they have the SHA-256",
			"is damaged: they are more than 9", "are missing from the archive", "cannot be read from the archive"} {
			if !strings.Contains(lost[ids[i]], says) {
				t.Errorf("content %d: got %q, want %q", i, lost[ids[i]], says)
			}
		}
		if got := servertest.RowsOf(t, to, "SELECT sha256 FROM files ORDER BY name"); !slices.Equal(got,
			[]string{"", "", "", "", "", sums[5]}) {
			t.Errorf("the contents of the files: %q", got)
		}
		wantSound(t, to)
	})
}

func replaceIn(path, old, text string) error {
	was, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(was), old) {
		return errors.Join(err, fmt.Errorf("%s: has no %q", path, old))
	}
	return os.WriteFile(path, []byte(strings.ReplaceAll(string(was), old, text)), 0o600)
}
