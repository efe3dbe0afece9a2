package server_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/pgtest"
	"github.com/meshyard/meshyard/models"
)

// firstSchema returns the settings of a catalogue with the schema of the first release. Every table
// has rows, and its last row was deleted. All values are valid on both engines.
func firstSchema(t *testing.T, engine string) config.Settings {
	t.Helper()
	settings := servertest.Settings(t, engine)
	if engine == "postgres" {
		settings.DatabaseURL = pgtest.Database(t)
	} else {
		settings.DatabaseURL = "sqlite:" + filepath.Join(t.TempDir(), "first.db")
	}
	ctx := context.Background()
	db, err := models.OpenDB(ctx, settings.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(statement string) {
		t.Helper()
		if _, err := db.SQL().ExecContext(ctx, statement); err != nil {
			t.Fatalf("%.200s: %v", statement, err)
		}
	}
	schema, err := os.ReadFile(filepath.Join("..", "..", "..", "models", "migrations", engine, "0001_foundation.sql"))
	if err != nil {
		t.Fatal(err)
	}
	exec(string(schema))
	exec("CREATE TABLE schema_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)")
	exec("INSERT INTO schema_migrations (number, name) VALUES (1, '0001_foundation')")

	at := func(days int) string {
		return time.Date(2026, 3, 1+days, 9, 30, 0, 250_000_000, time.UTC).Format("'2006-01-02 15:04:05.999999-07:00'")
	}
	yes, no := "1", "0"
	if engine == "postgres" {
		yes, no = "true", "false"
	}
	// The engine assigns the IDs, as it did in the first release.
	insert := func(table, columns string, rows ...string) {
		for _, row := range rows {
			exec("INSERT INTO " + table + " (" + columns + ") VALUES (" + strings.NewReplacer("YES", yes, "NO", no).Replace(row) + ")")
		}
		if table != "thing_tags" && table != "contents" {
			exec("DELETE FROM " + table + " WHERE id = (SELECT max(id) FROM " + table + ")")
		}
	}
	insert("users", "username, is_admin, created_at", "'Ada', YES, "+at(0), "'bob', NO, "+at(0), "'cyd', NO, "+at(1), "'gone', NO, "+at(1))
	insert("things", "owner_id, name, state, license, category_id, description, instructions, is_wip, created_at, modified_at, published_at",
		"1, 'Bracket', 'published', 'cc-sa', 9, 'Holds *it*.', 'Print.', NO, "+at(0)+", "+at(2)+", "+at(1),
		"2, 'Gear', 'published', 'pd0', 2, 'Turns.', '', YES, "+at(1)+", "+at(2)+", "+at(2),
		"1, 'Draft', 'draft', 'cc', 9, '', '', NO, "+at(3)+", "+at(3)+", NULL",
		"1, 'Gone', 'draft', 'cc', 9, '', '', NO, "+at(3)+", "+at(3)+", NULL")
	insert("thing_tags", "thing_id, position, name", "1, 0, 'Wall Mount'", "1, 1, 'gear'", "2, 0, 'wall_mount'", "2, 1, 'École'", "2, 2, 'GEAR'", "2, 3, 'two  blanks'", "3, 0, 'other'", "3, 1, 'WALL MOUNT'", "3, 2, 'wall_Mount'", "3, 3, 'école'")
	insert("makes", "thing_id, owner_id, name, description, state, created_at, published_at",
		"1, 2, 'My bracket', 'Went well.', 'published', "+at(4)+", "+at(4), "1, 3, 'Draft of a bracket', '', 'draft', "+at(5)+", NULL", "2, 3, 'Gone', '', 'draft', "+at(5)+", NULL")
	insert("comments", "owner_id, target_type, target_id, thing_id, body, created_at",
		"2, 'thing', 1, 1, 'Nice *one*.', "+at(5), "1, 'make', 1, 1, 'Well done.', "+at(6), "3, 'thing', 1, 1, 'Gone', "+at(6))
	file := func(owner int, name, kind, state, target string, targetID, thing, downloads int, times string) string {
		content := "solid " + name
		sum := sha256.Sum256([]byte(content))
		key, sha := "", hex.EncodeToString(sum[:])
		path := filepath.Join(settings.Data, "bucket", "files", sha)
		if state == "pending" {
			key = "pending/00000000-0000-4000-8000-000000000001"
			path = filepath.Join(settings.Data, "bucket", key)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		if state == "finalized" {
			insert("contents", "sha256, size, created_at", fmt.Sprintf("'%s', %d, %s", sha, len(content), at(0)))
		}
		return fmt.Sprintf("%d, '%s', '%s', '%s', %d, 'model/stl', '%s', 'd41d8cd98f00b204e9800998ecf8427e', '%s', '%s', %d, %d, 10, %d, %s", owner, name, kind, state, len(content), sha, key, target, targetID, thing, downloads, times)
	}
	done, later := at(1)+", "+at(1)+", NULL", at(1)+", NULL, '2099-01-01 00:00:00+00:00'"
	insert("files", "owner_id, name, kind, state, size, content_type, sha256, md5, object_key, target_type, target_id, thing_id, rank, download_count, created_at, finalized_at, expires_at",
		file(1, "bracket.stl", "model", "finalized", "thing", 1, 1, 3, done), file(2, "gear.stl", "model", "finalized", "thing", 2, 2, 0, done), file(1, "draft.stl", "model", "finalized", "thing", 3, 3, 0, done),
		file(2, "made.png", "image", "finalized", "make", 1, 1, 1, done), file(2, "noted.stl", "attachment", "finalized", "comment", 1, 1, 1, done), file(3, "waits.stl", "model", "pending", "", 0, 0, 0, later),
		"3, 'gone.stl', 'model', 'staged', 0, '', '', '', '', '', 0, 0, 0, 0, "+later)
	insert("downloads", "user_id, file_id, thing_id, created_at, folded",
		"2, 1, 1, "+at(3)+", YES", "3, 1, 1, "+at(4)+", YES", "3, 4, 1, "+at(5)+", YES", "3, 1, 1, "+at(6)+", YES", "3, 2, 2, "+at(7)+", NO", "2, 5, 1, "+at(8)+", YES", "3, 3, 3, "+at(9)+", NO")
	return settings
}

// TestMigrationOfTheFirstSchema checks that the current schema contains all data of the first
// release with correct counts, and that no ID is reused.
func TestMigrationOfTheFirstSchema(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			settings := firstSchema(t, engine)
			applied, err := server.Migrate(context.Background(), settings)
			if err != nil || !slices.Equal(applied[:1], []string{"0002_catalogue"}) {
				t.Fatalf("migrated %q, %v", applied, err)
			}
			if again, err := server.Migrate(context.Background(), settings); len(again) > 0 || err != nil {
				t.Errorf("migrated again %q, %v", again, err)
			}
			s := servertest.Run(t, settings)
			client := func(name string) *servertest.Client { return s.Client(s.Token(name, "read", "write")) }
			ada, bob, cyd := client("ada"), client("bob"), client("cyd")
			check := func(t *testing.T, c *servertest.Client, document, want string) {
				t.Helper()
				r := c.GraphQL(document, nil)
				if got := strings.ReplaceAll(string(r.Data), `"`, ""); got != want || len(r.Errors) > 0 {
					t.Errorf("%s\n%s %+v, want\n%s", document, got, r.Errors, want)
				}
			}
			step := func(name string, take func(t *testing.T)) { t.Run(name, take) }

			// The first release made no previews of pictures, and one without a preview is not shown.
			step("rows", func(t *testing.T) {
				check(t, ada, `{ a: thing(id: 1) { ...T } b: thing(id: 2) { ...T } c: thing(id: 3) { ...T } } fragment T on Thing { name state creator { username } license category { slug } description instructions isWip createdAt publishedAt files { id name rank } image { id } isFeatured isDerivative }`,
					"{a:{name:Bracket,state:PUBLISHED,creator:{username:Ada},license:CC_SA,category:{slug:tools},description:Holds *it*.,instructions:Print.,isWip:false,createdAt:2026-03-01T09:30:00.25Z,publishedAt:2026-03-02T09:30:00.25Z,files:[{id:1,name:bracket.stl,rank:10}],image:null,isFeatured:false,isDerivative:false},"+
						"b:{name:Gear,state:PUBLISHED,creator:{username:bob},license:PD0,category:{slug:art},description:Turns.,instructions:,isWip:true,createdAt:2026-03-02T09:30:00.25Z,publishedAt:2026-03-03T09:30:00.25Z,files:[{id:2,name:gear.stl,rank:10}],image:null,isFeatured:false,isDerivative:false},"+
						"c:{name:Draft,state:DRAFT,creator:{username:Ada},license:CC,category:{slug:tools},description:,instructions:,isWip:false,createdAt:2026-03-04T09:30:00.25Z,publishedAt:null,files:[{id:3,name:draft.stl,rank:10}],image:null,isFeatured:false,isDerivative:false}}")
				check(t, bob, `{ make(id: 1) { name description state thing { id } creator { username } image { id } createdAt publishedAt } comment(id: 1) { body creator { username } target { ... on Thing { id } } files { id } createdAt updatedAt isDeleted parent { id } } of: comment(id: 2) { body target { ... on Make { id } } } me { role email defaultLicense } }`,
					"{make:{name:My bracket,description:Went well.,state:PUBLISHED,thing:{id:1},creator:{username:bob},image:null,createdAt:2026-03-05T09:30:00.25Z,publishedAt:2026-03-05T09:30:00.25Z},"+
						"comment:{body:Nice *one*.,creator:{username:bob},target:{id:1},files:[{id:5}],createdAt:2026-03-06T09:30:00.25Z,updatedAt:2026-03-06T09:30:00.25Z,isDeleted:false,parent:null},of:{body:Well done.,target:{id:1}},me:{role:MEMBER,email:null,defaultLicense:CC}}")
				check(t, cyd, `{ file(id: 6) { name state } make(id: 2) { name state } user(username: "ADA") { username role } }`, "{file:{name:waits.stl,state:PENDING},make:{name:Draft of a bracket,state:DRAFT},user:{username:Ada,role:ADMINISTRATOR}}")
				soundCatalogue(t, s)
				soundRows(t, s)
			})
			step("counts", func(t *testing.T) {
				for range 2 { // folded or not
					check(t, bob, `{ a: thing(id: 1) { ...T } b: thing(id: 2) { ...T } ada: user(username: "ada") { ...U } bob: user(username: "bob") { ...U } cyd: user(username: "cyd") { ...U } make(id: 1) { commentCount rootCommentCount likeCount }
						tools: category(slug: "tools") { thingCount } art: category(slug: "art") { thingCount } file(id: 1) { downloadCount } made: file(id: 4) { downloadCount } things { totalCount } }
						fragment T on Thing { likeCount collectCount makeCount commentCount rootCommentCount remixCount downloadCount fileCount } fragment U on User { thingCount makeCount likeCount followerCount }`,
						`{a:{likeCount:0,collectCount:0,makeCount:1,commentCount:1,rootCommentCount:1,remixCount:0,downloadCount:5,fileCount:1},b:{likeCount:0,collectCount:0,makeCount:0,commentCount:0,rootCommentCount:0,remixCount:0,downloadCount:1,fileCount:1},ada:{thingCount:1,makeCount:0,likeCount:0,followerCount:0},bob:{thingCount:1,makeCount:1,likeCount:0,followerCount:0},cyd:{thingCount:0,makeCount:0,likeCount:0,followerCount:0},make:{commentCount:1,rootCommentCount:1,likeCount:0},tools:{thingCount:1},art:{thingCount:1},file:{downloadCount:3},made:{downloadCount:1},things:{totalCount:2}}`)
					s.Fold()
				}
				// A make and some downloads give a higher popularity than one download that is not folded yet.
				const popular = `{ things(sort: POPULAR) { nodes { name } } }`
				check(t, bob, popular, "{things:{nodes:[{name:Bracket},{name:Gear}]}}")
				soundCounts(t, s)
				check(t, bob, popular, "{things:{nodes:[{name:Bracket},{name:Gear}]}}")
			})
			step("tags", func(t *testing.T) {
				check(t, ada, `{ a: thing(id: 1) { tags { name slug thingCount } } c: thing(id: 3) { tags { name slug } } mount: tag(name: "wall mount") { slug thingCount things { nodes { id } } } gear: tag(name: "GEAR") { thingCount } }`,
					"{a:{tags:[{name:Wall Mount,slug:wall_mount,thingCount:2},{name:gear,slug:gear,thingCount:2}]},c:{tags:[{name:other,slug:other},{name:WALL MOUNT,slug:wall_mount},{name:école,slug:école}]},mount:{slug:wall_mount,thingCount:2,things:{nodes:[{id:2},{id:1}]}},gear:{thingCount:2}}")
			})
			step("tags in odd spellings", func(t *testing.T) {
				check(t, ada, `{ b: thing(id: 2) { tags { name slug } } }`, "{b:{tags:[{name:wall_mount,slug:wall_mount},{name:École,slug:école},{name:GEAR,slug:gear},{name:two  blanks,slug:two_blanks}]}}")
				for _, name := range []string{"École", "école", "two blanks", "two  blanks"} {
					check(t, ada, fmt.Sprintf(`{ tag(name: %q) { thingCount } things(filter: {tags: %q}) { totalCount } }`, name, name), "{tag:{thingCount:1},things:{totalCount:1}}")
				}
			})
			step("histories", func(t *testing.T) {
				const history = `{ me { downloads { totalCount nodes { createdAt thing { id } file { id } } } downloadedThings { nodes { id } } } }`
				check(t, bob, history, "{me:{downloads:{totalCount:2,nodes:[{createdAt:2026-03-09T09:30:00.25Z,thing:{id:1},file:{id:5}},{createdAt:2026-03-04T09:30:00.25Z,thing:{id:1},file:{id:1}}]},downloadedThings:{nodes:[{id:1}]}}}")
				check(t, cyd, history, "{me:{downloads:{totalCount:4,nodes:[{createdAt:2026-03-08T09:30:00.25Z,thing:{id:2},file:{id:2}},{createdAt:2026-03-07T09:30:00.25Z,thing:{id:1},file:{id:1}},{createdAt:2026-03-06T09:30:00.25Z,thing:{id:1},file:{id:4}},{createdAt:2026-03-05T09:30:00.25Z,thing:{id:1},file:{id:1}}]},downloadedThings:{nodes:[{id:2},{id:1}]}}}")
			})
			step("ids", func(t *testing.T) {
				if id := s.Client(s.User("dan").Token); id == nil {
					t.Fatal("no user")
				}
				check(t, client("dan"), `{ me { id } }`, "{me:{id:5}}")
				check(t, cyd, `mutation { createThing(input: {name: "New", license: CC, category: "chess", tags: ["Gear"]}) { thing { id } } createMake(input: {thingId: 1}) { make { id } } createComment(input: {target: {type: THING, id: 1}, body: "New."}) { comment { id } } }`,
					"{createThing:{thing:{id:5}},createMake:{make:{id:4}},createComment:{comment:{id:4}}}")
				if id := cyd.Upload("new.stl", []byte("solid new")); id != 11 {
					t.Errorf("the next file has the id %d, want 11, after 7 files and 3 renderings", id)
				}
				cyd.Get("/files/2/download").Want(t, 302)
				var last int
				if err := openDB(t, s).SQL().QueryRow("SELECT max(id) FROM downloads").Scan(&last); err != nil || last != 8 {
					t.Errorf("the next download has the id %d (%v), want 8", last, err)
				}
				check(t, cyd, `{ b: thing(id: 2) { downloadCount } a: thing(id: 1) { makeCount commentCount } }`, "{b:{downloadCount:2},a:{makeCount:2,commentCount:2}}")
			})
			step("later", func(t *testing.T) { // deleting old rows also deletes what is attached to them
				cyd.Finalize("thing", 5, 6).Want(t, 200)
				ada.Do("DELETE", "/things/1", nil).Want(t, 200)
				check(t, bob, `{ make(id: 1) { thing { id } image { name } comments { nodes { body } } } me { downloads { totalCount } } }`, "{make:{thing:null,image:null,comments:{nodes:[{body:Well done.}]}},me:{downloads:{totalCount:0}}}")
				if _, err := s.Store.CollectGarbage(context.Background(), 0, false); err != nil {
					t.Error(err)
				}
				soundCatalogue(t, s)
				soundRows(t, s)
				s.Fold()
				soundCounts(t, s)
			})
		})
	}
}

// TestMigrationOfANewerSchema checks that neither the server nor a command opens a database that a
// newer version has migrated. The garbage collector, for example, does not know all of its rows. A
// server that was running during the migration must become unready and collect no more garbage.
func TestMigrationOfANewerSchema(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		if _, err := openDB(t, s).SQL().Exec("INSERT INTO schema_migrations (number, name) VALUES (9000, '9000_later')"); err != nil {
			t.Fatal(err)
		}
		_, err := server.Migrate(context.Background(), s.Settings)
		if err == nil || !strings.Contains(err.Error(), "newer than this version") || !strings.Contains(err.Error(), "9000_later") {
			t.Errorf("migrating a newer database: %v", err)
		}
		if _, err := server.Open(context.Background(), s.Settings, s.Logger); err == nil {
			t.Error("the server opens a newer database")
		}
		if _, err := server.OpenExisting(context.Background(), s.Settings, s.Logger); err == nil || !strings.Contains(err.Error(), "newer than this version") {
			t.Errorf("a command on a newer database: %v", err)
		}
		if _, err := s.Store.CollectGarbage(context.Background(), time.Hour, false); !errors.Is(err, models.ErrNewer) {
			t.Errorf("collecting garbage of a newer database: got %v, want %v", err, models.ErrNewer)
		}
		if r := s.Client("").Get("/readyz").Want(t, http.StatusServiceUnavailable); string(r.Bytes) != `{"status":"outdated"}`+"\n" {
			t.Errorf("/readyz of a newer database: got %s", r.Bytes)
		}
	})
}
