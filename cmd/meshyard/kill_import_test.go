package main_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/meshyard/meshyard/models"
)

// TestKillImport checks that an import that is killed by SIGKILL a few times and restarted
// produces the same rows as an uninterrupted one.
func TestKillImport(t *testing.T) {
	t.Parallel()
	most := numberFrom(t, "MESHYARD_TEST_KILLS", 2)
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			arguments := []string{"import", "catalogue", filepath.Join("..", "..", "testdata", "catalogue"), "--scale", "4000",
				"--seed", "7"}
			var whole, killed *catalogue
			for _, c := range []**catalogue{&whole, &killed} {
				*c = newCatalogue(t, binary, databaseOn(t, engine))
				(*c).run("migrate")
			}
			whole.run(arguments...)
			db := killed.open()
			defer db.Close()
			kills := int64(0)
			for done := 0; kills < most; kills++ {
				p, err := killed.start(arguments...)
				if err != nil {
					t.Fatal(err)
				}
				// Kill it after one or two batches of 1,000 things, or in the final phase, which builds indexes
				// and counts, if the import is faster than that.
				for before := done; done <= before && !p.ends(5*time.Millisecond); {
					done = imported(db)
				}
				if p.ends(time.Duration(kills) * 10 * time.Millisecond) {
					break
				}
				p.kill()
			}
			if kills == 0 {
				t.Fatal("it ended before it could be killed")
			}
			killed.run(arguments...)
			for _, query := range []string{
				"SELECT t.id, t.name, u.username, t.license, t.category_id, t.description, t.like_count, t.download_count, t.published_at FROM things AS t JOIN users AS u ON u.id = t.owner_id ORDER BY t.id",
				"SELECT id, name, size, kind, thing_id, rank FROM files ORDER BY id",
				"SELECT tt.thing_id, tt.position, tt.name, g.slug, g.thing_count FROM thing_tags AS tt JOIN tags AS g ON g.id = tt.tag_id ORDER BY tt.thing_id, tt.position",
				"SELECT username, thing_count FROM users ORDER BY lower(username)",
				"SELECT noun, word FROM vocabulary ORDER BY noun, word",
				"SELECT thing_id, downloads, likes, collects, makes, comments FROM imported_counts ORDER BY thing_id",
				"SELECT count(*) FROM imports",
			} {
				want, n := whole.digest(query)
				if got, m := killed.digest(query); got != want {
					t.Errorf("after %d kills there are %d rows, want %d, or they differ: %s", kills, m, n, query)
				}
			}
			t.Logf("%d kills", kills)
		})
	}
}

// open opens the database of the catalogue.
func (c *catalogue) open() *models.DB {
	c.t.Helper()
	address := c.database
	if address == "" {
		address = "sqlite:" + filepath.Join(c.data, "meshyard.db")
	}
	db, err := models.OpenDB(context.Background(), address)
	if err != nil {
		c.t.Fatal(err)
	}
	return db
}

// imported returns the number of things that a running import has committed, or 0 if none is
// running.
func imported(db *models.DB) (done int) {
	// The row exists only while an import is incomplete.
	_ = db.SQL().QueryRow("SELECT done FROM imports").Scan(&done)
	return done
}

// digest returns a hash and the number of the rows of a query.
func (c *catalogue) digest(query string) (sum [sha256.Size]byte, rows int) {
	c.t.Helper()
	db := c.open()
	defer db.Close()
	found, err := db.SQL().Query(query)
	if err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		c.t.Fatal(err)
	}
	hash := sha256.New()
	for ; found.Next(); rows++ {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			c.t.Fatal(err)
		}
		fmt.Fprintln(hash, values...)
	}
	if found.Err() != nil {
		c.t.Fatal(found.Err())
	}
	return [sha256.Size]byte(hash.Sum(nil)), rows
}
