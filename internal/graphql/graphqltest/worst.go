package graphqltest

import (
	"fmt"
	"strings"
	"time"
)

// Base is the offset of the ids of the rows that WorstRows adds.
const Base = 1_000_000_000

// longText and longHTML have the maximum length that a member can produce.
var (
	longText = strings.Repeat("- a\n", 65_535/4)
	longHTML = strings.Repeat("<ul>\n<li>a</li>\n</ul>\n", (4*65_535+64<<10)/24)
)

// WorstRows returns SQL statements, for both engines, that create the most expensive objects that a
// member can create: a thing with at least 1,000 files of one shape, makes, comments, remixes,
// likes and watches, 100 tags and 100 ancestors; and 100 things, makes, comments, users and
// collections with texts of the maximum length. owner is the user who owns them. n, at least 200,
// is the length of the other lists. The ids are Base+1 to Base+n; the newest thing, Base+n, is the
// most expensive one.
func WorstRows(owner int64, n int) []string {
	const at = "'2026-03-04 05:06:07.008009+00:00'"
	// recent is the creation time of rows that the server removes when they are old.
	recent := time.Now().UTC().Format("'2006-01-02 15:04:05.000000+00:00'")
	numbers := func(of int, insert, values string) string {
		return fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO %s SELECT %s FROM n", of, insert,
			strings.NewReplacer("$b", fmt.Sprint(Base), "$w", fmt.Sprint(Base+n), "$me", fmt.Sprint(owner), "$at", at, "$recent",
				recent, "$n", fmt.Sprint(n),
				"$long", fmt.Sprintf("CASE WHEN i > %d THEN '%s' ELSE 'short' END", n-100, longText),
				"$html", fmt.Sprintf("CASE WHEN i > %d THEN '%s' ELSE 'short' END", n-100, longHTML),
				"$thousand", "'"+strings.Repeat("a", 56)+"' || CAST(10000001 + i % 1000 AS text)",
				"$sum", "'"+strings.Repeat("a", 56)+"' || CAST(10000000 + i AS text)").Replace(values))
	}
	files, others := max(n, 1000), 1000
	if n >= 1000 {
		others = 10 * n
	}
	return []string{
		numbers(n, "users (id, username, is_admin, created_at, bio, bio_html, html_version)",
			"$b + i, 'worst-' || CAST(i AS text), false, $at, $long, 'short', 1"),
		numbers(n, "things (id, owner_id, name, state, license, category_id, description, instructions, is_wip, created_at, modified_at, published_at, is_derivative, popularity, description_html, instructions_html, html_version)",
			"$b + i, $me, 'Worst thing ' || CAST(i AS text), 'published', 'cc', (SELECT min(id) FROM categories), $long, 'short', false, $at, $at, $at, false, 1000000000, $html, 'short', 1"),
		numbers(100, "thing_ancestors (thing_id, ancestor_id, position)", "$w, $b + i, i"),
		numbers(n-101, "thing_ancestors (thing_id, ancestor_id, position)", "$b + i, $w, 1"),
		numbers(100, "tags (id, name, slug)", "$b + i, 'worst tag ' || CAST(i AS text), 'worst_tag_' || CAST(i AS text)"),
		fmt.Sprintf("INSERT INTO thing_tags (thing_id, tag_id, position, name) SELECT t.id, g.id, g.id - %[1]d, g.name FROM things AS t, tags AS g WHERE t.id > %[2]d AND g.id > %[1]d", Base, Base+n-100),
		numbers(files, "contents (sha256, size, created_at)", "$sum, 1000, $at"),
		numbers(files, "previews (id, sha256, subject, version, state, beat_at, mesh, shape_id, picture, width, height, threejs, glb)",
			`$b + i, $sum, 'stl', 1, 'done', $at, '{"format":"stl","up":"Z","triangles":12,"vertices":8,"components":1,"min":[0,0,0],"max":[1,1,1],"size":[1,1,1],"volume":1,"area":6,"watertight":true,"manifold":true,"decimated":false,"fingerprint":"00","keys":["a"],"descriptor":[1,1,1]}', $b + 1, 'png', 512, 512, true, true`),
		numbers(files, "files (id, owner_id, name, kind, state, size, content_type, sha256, md5, object_key, target_type, target_id, thing_id, rank, download_count, created_at, finalized_at, preview_id)",
			"$b + i, $me, 'part-' || CAST(i AS text) || '.stl', 'model', 'finalized', 1000, 'model/stl', $sum, 'bb', '', 'thing', $w, $w, i, 0, $at, $at, $b + i"),
		numbers(others, "files (id, owner_id, name, kind, state, size, content_type, sha256, md5, object_key, target_type, target_id, thing_id, rank, download_count, created_at, finalized_at, preview_id)",
			"$b + 10000 + i, $me, 'part-' || CAST(i AS text) || '.stl', 'model', 'finalized', 1000, 'model/stl', $thousand, 'bb', '', 'thing', $w - 1 - i % 100, $w - 1 - i % 100, i, 0, $at, $at, $b + 1 + i % 1000"),
		numbers(n, "makes (id, thing_id, owner_id, name, description, state, created_at, published_at, description_html, html_version)",
			"$b + i, $w, $me, 'Worst make', $long, 'published', $at, $at, 'short', 1"),
		numbers(n, "comments (id, owner_id, target_type, target_id, thing_id, body, created_at, modified_at, body_html, html_version)",
			"$b + i, $me, 'thing', $w, $w, $long, $at, $at, $html, 1"),
		numbers(n, "comments (id, owner_id, target_type, target_id, thing_id, body, created_at, modified_at, parent_id, body_html, html_version)",
			"$b + 10000 + i, $b + i, 'thing', $w - 1, $w - 1, 'short', $at, $at, $w, 'short', 1"),
		numbers(n, "likes (user_id, target_type, target_id, created_at)", "$b + i, 'thing', $w, $at"),
		numbers(n, "likes (user_id, target_type, target_id, created_at)", "$b + i, 'make', $w, $at"),
		numbers(n, "likes (user_id, target_type, target_id, created_at)", "$me, 'thing', $b + i, $at"),
		numbers(n, "follows (follower_id, followed_id, created_at)", "$me, $b + i, $at"),
		numbers(n, "follows (follower_id, followed_id, created_at)", "$b + i, $me, $at"),
		numbers(100, "collections (id, owner_id, name, description, created_at, modified_at, description_html, html_version)",
			fmt.Sprintf("$b + i, $me, 'Worst', '%s', $at, $at, '%s', 1", longText, longHTML)),
		numbers(100, "sessions (id, user_id, sha256, user_agent, created_at, expires_at)",
			fmt.Sprintf("$b + i, $me, $sum, '%s', $at, '2100-01-01 00:00:00+00:00'", strings.Repeat("a", 200))),
		numbers(n, "collection_things (collection_id, thing_id, created_at)", "$b + 100, $b + i, $at"),
		numbers(99, "collection_things (collection_id, thing_id, created_at)", "$b + i, $w, $at"),
		numbers(n, "downloads (user_id, file_id, thing_id, created_at)", "$me, $b + i, $b + i, $at"),
		numbers(n, "watches (user_id, target_type, target_id, created_at)", "$me, 'thing', $b + i, $at"),
		numbers(n, "notifications (user_id, kind, actor_id, target_type, target_id, created_at)",
			"$me, 'comment', $b + i, 'comment', $b + i, $recent"),
		numbers(100, "tokens (user_id, name, sha256, scopes, created_at)", "$me, 'token', $sum, 'read', $at"),
		numbers(n, "moderation_log (actor_id, action, user_id, thing_id, role, reason, created_at)",
			"$me, 'take_down_thing', $me, $b + i, '', 'long', $at"),
		numbers(n, "reports (reporter_id, target_type, target_id, user_id, reason, note, state, decision, created_at)",
			"$b + i, 'thing', $b + i, $me, 'spam', 'long', 'open', '', $at"),
		numbers(n, "webhooks (id, owner_id, url, description, events, secret, created_at, modified_at, disabled_at)",
			"$b + i, $me, 'https://hook.invalid/', 'long', 'make.created', 'whsec_', $at, $at, $at"),
		numbers(n, "webhook_deliveries (webhook_id, message_id, event, payload, state, created_at)",
			"$w, 'msg', 'make.created', '"+strings.Repeat("x", 1000)+"', 'failed', $recent"),
		numbers(n, "printers (id, owner_id, name, kind, url, model, created_at, modified_at)",
			"$b + i, $me, 'Worst printer', 'octoprint', 'http://printer.invalid/', 'long', $at, $at"),
		numbers(n, "print_jobs (printer_id, owner_id, file_id, file_name, size, state, message, created_at)",
			"$w, $me, $b + i, 'worst.gcode', 1, 'failed', 'long', $recent"),
		numbers(n, "deprecated_calls (operation, token_id, user_agent, calls, first_at, last_at)",
			"'newest', $b + i, 'agent', 1, $recent, $recent"),
	}
}
