package archives_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/dataset"
	"github.com/meshyard/meshyard/internal/dataset/resample"
	"github.com/meshyard/meshyard/internal/markdown"
	"github.com/meshyard/meshyard/models/importer"
	"github.com/meshyard/meshyard/test/servertest"
)

// imported are queries of the rows that an import creates, without values that differ from run to
// run: the IDs of users and tags.
var imported = []string{
	"SELECT t.id, t.name, u.username, t.license, t.category_id, t.description, t.like_count, t.popularity, t.download_count FROM things AS t JOIN users AS u ON u.id = t.owner_id ORDER BY t.id",
	"SELECT f.id, f.name, f.size, f.kind, f.thing_id, f.rank, u.username FROM files AS f JOIN users AS u ON u.id = f.owner_id ORDER BY f.id",
	"SELECT tt.thing_id, tt.position, tt.name, g.slug, g.thing_count FROM thing_tags AS tt JOIN tags AS g ON g.id = tt.tag_id ORDER BY tt.thing_id, tt.position",
	"SELECT username, thing_count FROM users ORDER BY lower(username)",
	"SELECT thing_id, downloads, likes, collects, makes, comments FROM imported_counts ORDER BY thing_id",
	"SELECT noun, word FROM vocabulary ORDER BY noun, word",
	"SELECT slug, thing_count FROM categories ORDER BY id",
	"SELECT count(*) FROM imports",
}

// inPostgres are queries of the indexes and constraints that an import drops and recreates on
// PostgreSQL, and of the search documents.
var inPostgres = []string{
	"SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY indexname",
	"SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = current_schema()::regnamespace ORDER BY conrelid, conname",
	"SELECT count(*) FROM pg_index WHERE NOT indisvalid",
	"SELECT id, words FROM thing_documents ORDER BY id",
}

// TestImportIsContinued checks that an interrupted import continues, that running a complete one
// again changes nothing, and that both produce the same rows.
func TestImportIsContinued(t *testing.T) {
	tables, err := dataset.Open(filepath.Join("..", "..", "testdata", "catalogue"))
	if err != nil {
		t.Fatal(err)
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		n, engine := 3_000, strings.TrimPrefix(t.Name()[strings.LastIndex(t.Name(), "/"):], "/")
		if engine == "postgres" {
			n = 10_000 // enough to drop the indexes during the import
		}
		im := importer.Import{Source: "sample", Total: n, Skipped: func(string) {},
			Things: func(first int) iter.Seq[dataset.Thing] { return resample.FromTables(tables).ThingsFrom(n, 3, first) }}
		added, err := s.Store.Importer.Import(context.Background(), im)
		if err != nil || added != n {
			t.Fatalf("imported %d, %v", added, err)
		}

		cut := servertest.Start(t, engine)
		before := 0
		for range 3 {
			ctx, cancel := context.WithCancel(context.Background())
			im.Progress = func(done int) {
				if done > before {
					before = done
					cancel()
				}
			}
			added, err := cut.Store.Importer.Import(ctx, im)
			if findings, errOf := cut.Store.Maintenance.Diagnose(context.Background()); errOf != nil || n > 3_000 &&
				!strings.Contains(strings.Join(findings, "\n"), "an import of sample stopped after") {
				t.Errorf("doctor: %q, %v", findings, errOf)
			}
			if n > 3_000 && !errors.Is(err, context.Canceled) || added > n/2 {
				t.Fatalf("cut short: %d, %v", added, err)
			}
		}
		im.Progress = nil
		if _, err := cut.Store.Importer.Import(context.Background(), im); err != nil {
			t.Fatal(err)
		}
		// Rows without HTML would make a job rewrite all things after the import.
		unrendered := fmt.Sprintf(
			"SELECT 'thing', id FROM things WHERE html_version < %d OR (description_html = '') <> (description = '') UNION ALL SELECT 'user', id FROM users WHERE html_version < %[1]d", markdown.Version)
		if rows := servertest.RowsOf(t, cut, unrendered); len(rows) > 0 {
			t.Errorf("%d imported rows lack their HTML, such as %s", len(rows), rows[0])
		}
		for range 2 {
			queries := imported
			if engine == "postgres" {
				queries = slices.Concat(imported, inPostgres)
			}
			for _, query := range queries {
				want, got := servertest.RowsOf(t, s, query), servertest.RowsOf(t, cut, query)
				for i := range max(len(got), len(want)) {
					if i >= len(got) || i >= len(want) || got[i] != want[i] {
						t.Errorf("%s: %d rows, want %d; they differ from the row %d on", query, len(got), len(want), i)
						break
					}
				}
			}
			if added, err := cut.Store.Importer.Import(context.Background(), im); added != 0 || err != nil {
				t.Errorf("again: %d, %v", added, err)
			}
		}
		servertest.SoundCounts(t, cut)
		if ranks := "SELECT id, popularity FROM things ORDER BY id"; !slices.Equal(servertest.RowsOf(t, s, ranks),
			servertest.RowsOf(t, cut, ranks)) {
			t.Error("a recount changes popularity")
		}
		servertest.SoundCatalogue(t, cut)
		findings, err := cut.Store.Maintenance.Diagnose(context.Background())
		// Ignore two findings of the doctor: autovacuum is off in tests, and PostgreSQL may count rows as
		// changed seconds after ANALYZE has read them.
		late := func(f string) bool {
			return strings.HasPrefix(f, "autovacuum is off") || strings.Contains(f, "rows changed since the last ANALYZE")
		}
		if due := slices.DeleteFunc(findings, late); len(due) > 0 || err != nil {
			t.Errorf("doctor: %q, %v", findings, err)
		}
		c := cut.User("ada")
		if id := c.Thing("The next"); id != int64(n)+1 {
			t.Errorf("the next thing has the id %d, want %d", id, n+1)
		}
	})
}

// TestImportKeepsExistingRows checks that an import does not change existing rows, and skips and
// reports invalid ones.
func TestImportKeepsExistingRows(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("Ada")
		mine := ada.Thing("Mine")
		file := ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
		ada.Finalize("thing", mine, file).Want(t, 200)
		ada.Publish(mine).Want(t, 200)
		long := strings.Repeat("x", 300)
		things := []dataset.Thing{
			{ID: mine, Name: "Theirs", Author: "bob"},
			{ID: mine + 1, Name: "Gear\t\\N wheel\n", Author: "ADA", License: "cc-sa", Category: "art",
				Tags: []string{"Red", "red", "", long, "x\ty"}, Files: []dataset.File{{ID: file, Name: "b.stl"},
					{ID: file + 5, Name: "c.stl", Size: 84}},
				Origin: dataset.Origin{Creator: "Ada\nLovelace", URL: "https://www.printables.com/model/1",
					CreatorURL: "javascript:1"}},
			{ID: mine + 2, Name: long, Author: "bob"},
			{ID: mine + 3, Name: "Nobody's", Author: "", License: "nokia", Category: "nowhere"},
			{ID: mine + 4, Name: "Odd", Author: "Zoë O'Hara", License: "public"},
		}
		var skipped []string
		im := importer.Import{Source: "few", Total: len(things), Skipped: func(why string) { skipped = append(skipped, why) },
			Things: func(first int) iter.Seq[dataset.Thing] { return slices.Values(things[first:]) }}
		if added, err := s.Store.Importer.Import(context.Background(), im); added != 3 || err != nil {
			t.Fatalf("%d new, %v", added, err)
		}
		if got := fmt.Sprint(len(skipped), skipped); !strings.HasPrefix(got, "3 ") || !strings.Contains(got, "tag") ||
			!strings.Contains(got, "file 1 of thing 2: another file has this ID") || !strings.Contains(got, "thing 3: name") {
			t.Errorf("skipped %s", got)
		}
		r := ada.GraphQL(`{ a: thing(id: 1) { name creator { username } } b: thing(id: 2) { ...T } d: thing(id: 4) { ...T } e: thing(id: 5) { ...T } search(query: "gear") { totalCount } me { thingCount } art: category(slug: "art") { thingCount } }
			fragment T on Thing { name creator { username } license licenseInfo { spdxId } origin { creator url site } category { slug } tags { name thingCount } files { id name sizeBytes: size } state }`, nil)
		want := `{"a":{"name":"Mine","creator":{"username":"Ada"}},"b":{"name":"Gear\t\\N wheel\n","creator":{"username":"Ada"},"license":"CC_SA","licenseInfo":{"spdxId":"CC-BY-SA-4.0"},"origin":{"creator":"Ada Lovelace","url":"https://www.printables.com/model/1","site":"www.printables.com"},"category":{"slug":"art"},"tags":[{"name":"Red","thingCount":1},{"name":"x y","thingCount":1}],"files":[{"id":"6","name":"c.stl","sizeBytes":84}],"state":"PUBLISHED"},` +
			`"d":{"name":"Nobody's","creator":{"username":"unknown"},"license":"OTHER","licenseInfo":{"spdxId":"LicenseRef-Unknown"},"origin":null,"category":{"slug":"other"},"tags":[],"files":[],"state":"PUBLISHED"},"e":{"name":"Odd","creator":{"username":"Zo__O_Hara"},"license":"PD0","licenseInfo":{"spdxId":"CC0-1.0"},"origin":{"creator":"Zoë O'Hara","url":"","site":""},"category":{"slug":"other"},"tags":[],"files":[],"state":"PUBLISHED"},"search":{"totalCount":1},"me":{"thingCount":2},"art":{"thingCount":1}}`
		if string(r.Data) != want || len(r.Errors) > 0 {
			t.Errorf("%s %+v, want\n%s", r.Data, r.Errors, want)
		}
		ada.Get("/files/6").Want(t, 200)
		ada.Get("/files/6/download").Want(t, 404)
		servertest.SoundCatalogue(t, s)
	})
}

// TestImportBesideServer checks that users can create and delete things during an import, and that
// the import neither fails nor loses a thing.
func TestImportBesideServer(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		const n = 5_000 // enough to drop the indexes during the import
		ada := s.User("ada")
		things := func(first int) iter.Seq[dataset.Thing] {
			return func(yield func(dataset.Thing) bool) {
				for id := int64(first) + 1; id <= n; id++ {
					th := dataset.Thing{ID: id, Name: fmt.Sprint("Gear ", id), Author: "ada", Tags: []string{"gear"},
						Files: []dataset.File{{ID: 2 * id, Name: "gear.stl", Size: 84}}}
					if !yield(th) {
						return
					}
				}
			}
		}
		created, batches := int64(0), 0
		im := importer.Import{Source: "beside", Total: n, Things: things,
			Skipped: func(why string) { t.Error("skipped:", why) }, Progress: func(done int) {
				switch batches++; batches {
				case 1:
					created = ada.Thing("New")
					ada.Finalize("thing", created, ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))).Want(t, 200)
					ada.Publish(created).Want(t, 200)
				case 3:
					ada.Do("DELETE", "/things/7", nil).Want(t, 200)
				}
			}}
		if added, err := s.Store.Importer.Import(context.Background(), im); added != n || err != nil {
			t.Fatalf("%d new, %v", added, err)
		}
		if created <= n {
			t.Errorf("the new thing has the id %d, which the import needs", created)
		}
		ada.Get(fmt.Sprintf("/things/%d", created)).Want(t, 200)
		ada.Get("/things/7").Want(t, 404)
		if got := servertest.RowsOf(t, s, "SELECT count(*) FROM things"); got[0] != fmt.Sprint(n) {
			t.Errorf("%s things, want %d: one is new, one deleted", got[0], n)
		}
		servertest.SoundCatalogue(t, s)
	})
}
