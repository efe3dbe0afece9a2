package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/meshyard/meshyard/internal/markdown"
)

// The contents of a catalogue for list benchmarks.
const (
	listedThings  = 10_000
	listedUsers   = 1_000
	listedTags    = 3_000
	filesOfThing  = 5 // the last one is an image
	tagsOfThing   = 5
	mostComments  = 8 // on a thing
	mostMakes     = 5 // of a thing
	categories    = 80
	followedEvery = 3 // the caller follows one in this many users
)

// fillListing adds published things of many users to an empty catalogue, whose only user is the
// caller. As in real catalogues, a few users and tags have most of the things. The HTML is already
// rendered; otherwise a server would render it during the measurement. The result is deterministic.
func fillListing(ctx context.Context, e engine, address string, n int) error {
	r := rand.New(rand.NewPCG(1, 2))
	owner := rand.NewZipf(r, 1.3, 20, listedUsers-1)
	word := rand.NewZipf(r, 1.2, 10, listedTags-1)
	// Comments and makes have a random source of their own: the other rows do not depend on them.
	own := rand.New(rand.NewPCG(3, 4))
	user := rand.NewZipf(own, 1.3, 20, listedUsers-1)
	text := func() string { return description[:20+own.IntN(300)] }
	begin := time.Date(2023, time.March, 4, 5, 6, 7, 8009000, time.UTC)
	var users, tags, things, tagged, contents, files, downloads, follows, comments, makes []string
	for i := range listedUsers {
		id := i + 2
		users = append(users, fmt.Sprintf("(%d, 'maker-%[1]d', false, %s, 'Ada', 'Maker', 'Somewhere', %d)", id, stamp(begin), markdown.Version))
		if id%followedEvery == 0 {
			follows = append(follows, fmt.Sprintf("(1, %d, %s)", id, stamp(begin)))
		}
	}
	for id := 1; id <= listedTags; id++ {
		tags = append(tags, fmt.Sprintf("(%d, 'spare part %[1]d', 'spare_part_%[1]d')", id))
	}
	for thing := 1; thing <= n; thing++ {
		by := owner.Uint64() + 2
		created := begin.Add(time.Duration(thing) * 150 * time.Minute)
		// The order by publication time differs slightly from the order by ID.
		published := created.Add(time.Duration(r.Int64N(int64(100 * time.Hour))).Truncate(time.Second))
		category, likes, collections, made, commented := 1+r.IntN(categories), r.IntN(500), r.IntN(200), r.IntN(mostMakes+1), r.IntN(mostComments+1)
		things = append(things, fmt.Sprintf("(%d, %d, 'A box with a lid, number %[1]d', 'published', 'cc', %[3]d, '%[4]s', '', false, %[5]s, %[5]s, %[6]s, %[7]d, %[8]d, %[9]d, %[10]d, %[10]d, %[11]d, '<p>%[4]s</p>', %[12]d)",
			thing, by, category, description, stamp(created), stamp(published), likes, collections, made, commented, filesOfThing, markdown.Version))
		for i := range commented {
			comments = append(comments, fmt.Sprintf("(%d, 'thing', %d, %[2]d, '%[3]s', %[4]s, %[4]s, '<p>%[3]s</p>', %[5]d)",
				user.Uint64()+2, thing, text(), stamp(published.Add(time.Duration(i)*time.Hour)), markdown.Version))
		}
		for i := range made {
			makes = append(makes, fmt.Sprintf("(%d, %d, 'Box %[1]d, print %[3]d', '%[4]s', 'published', %[5]s, %[5]s, '<p>%[4]s</p>', %[6]d)",
				thing, user.Uint64()+2, i+1, text(), stamp(published.Add(time.Duration(i)*time.Hour)), markdown.Version))
		}
		used := make(map[uint64]bool)
		for len(used) < tagsOfThing {
			if tag := word.Uint64() + 1; !used[tag] {
				used[tag] = true
				tagged = append(tagged, fmt.Sprintf("(%d, %d, %d, 'spare part %[2]d')", thing, tag, len(used)))
			}
		}
		for i := range filesOfThing {
			id := (thing-1)*filesOfThing + i + 1
			name, kind, mime := fmt.Sprintf("part-%d.stl", id), "model", "model/stl"
			if i == filesOfThing-1 {
				name, kind, mime = fmt.Sprintf("Picture of %d.png", thing), "image", "image/png"
			}
			sum := sha256.Sum256(fmt.Append(nil, id))
			contents = append(contents, fmt.Sprintf("('%x', %d, %s)", sum, 1000+37*id, stamp(created)))
			files = append(files, fmt.Sprintf("(%d, %d, '%s', '%s', 'finalized', %d, '%s', '%x', '%x', '', 'thing', %d, %[9]d, %[10]d, 1, %[11]s, %[11]s)",
				id, by, name, kind, 1000+37*id, mime, sum, sum[:16], thing, 10*i, stamp(created)))
			downloads = append(downloads, fmt.Sprintf("(1, %d, %d, %s)", id, thing, stamp(published)))
		}
	}
	var statements []string
	for _, rows := range []struct {
		into string
		rows []string
	}{
		{"users (id, username, is_admin, created_at, first_name, last_name, location, html_version)", users},
		{"follows (follower_id, followed_id, created_at)", follows},
		{"tags (id, name, slug)", tags},
		{"things (id, owner_id, name, state, license, category_id, description, instructions, is_wip, created_at, modified_at, published_at, " +
			"like_count, collect_count, make_count, comment_count, root_comment_count, download_count, description_html, html_version)", things},
		{"thing_tags (thing_id, tag_id, position, name)", tagged},
		{"contents (sha256, size, created_at)", contents},
		{"files (id, owner_id, name, kind, state, size, content_type, sha256, md5, object_key, target_type, target_id, thing_id, rank, download_count, created_at, finalized_at)", files},
		{"downloads (user_id, file_id, thing_id, created_at)", downloads},
		{"comments (owner_id, target_type, target_id, thing_id, body, created_at, modified_at, body_html, html_version)", comments},
		{"makes (thing_id, owner_id, name, description, state, created_at, published_at, description_html, html_version)", makes},
	} {
		statements = append(statements, insert(rows.into, rows.rows)...)
	}
	statements = append(statements,
		"UPDATE users SET thing_count = (SELECT count(*) FROM things WHERE owner_id = users.id), follower_count = (SELECT count(*) FROM follows WHERE followed_id = users.id), "+
			"following_count = (SELECT count(*) FROM follows WHERE follower_id = users.id), make_count = (SELECT count(*) FROM makes WHERE owner_id = users.id)",
		"UPDATE tags SET thing_count = (SELECT count(*) FROM thing_tags WHERE tag_id = tags.id)",
		"UPDATE categories SET thing_count = (SELECT count(*) FROM things WHERE category_id = categories.id)",
		// A server would fold the changes that the trigger of files has appended, and reads would pass
		// the deleted rows until the next VACUUM.
		"UPDATE users SET held_bytes = (SELECT coalesce(sum(delta), 0) FROM count_changes WHERE of_table = 'users' AND object_id = users.id)",
		"DELETE FROM count_changes",
		"VACUUM", "ANALYZE")
	if e == postgres { // explicit IDs do not advance the identity sequence
		statements = append(statements, "SELECT setval(pg_get_serial_sequence('users', 'id'), max(id)) FROM users")
	}
	return execute(ctx, e, address, statements...)
}

// stamp formats a time as an SQL literal for both engines.
func stamp(t time.Time) string { return t.Format("'" + timeFormat + "'") }
