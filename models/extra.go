package models

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/markdown"
)

// An Extra is data that is read together with an object if the operation needs it: a few more
// columns cost less than another statement, and fewer columns cost less than all. Extras are bits;
// a set of extras is their sum.
type Extra uint

// The extras.
const (
	UserAvatar   Extra = 1 << iota // User.Avatar, with its preview
	UserFollowed                   // User.Followed
	ThingLiked                     // Thing.Marks.Liked
	ThingCollected
	ThingWatched
	ThingDescriptionHTML // see Store.ThingHTML
	ThingInstructionsHTML
	ThingCreator // Thing.Creator, without the parts of users, their extras and biographies

	// These are read only with a single thing. For many things, one statement that reads them for all
	// things costs less.

	ThingFileCounts // Thing.FileCounts
	ThingTags       // Thing.Tags
	ThingCategory   // Thing.Category, with its parents

	// These are parts of the rows of objects. Reads outside of GraphQL queries read all of them.

	ThingCounts    // the counts of the thing except downloads, and their changes
	ThingDownloads // Thing.DownloadCount
	ThingOther     // all columns of the thing that are in no other part
	UserCounts     // the counts of the user, and their changes
	UserOther      // all columns of the user that are in no other part
	FileDownloads  // File.DownloadCount
	FileOther      // all columns of the file that are in no other part
	FileStates     // the states and owners of what a file is attached to, which File.Allows needs
	fileMakes      // the state and owner of the make, for files on makes and on comments
	FilePreview    // File.Preview
	TagCounts      // the counts of the tags of a thing, and their changes
	MakeCounts     // the counts of the make, and their changes
	CommentOther   // the columns of the comment that are seldom needed, and the changes of its count
)

const (
	// AllParts are all parts of the rows of objects.
	AllParts = partsOfThing | partsOfUser | partsOfFile | TagCounts | MakeCounts | CommentOther

	// OfUser are all extras of users.
	OfUser = partsOfUser | UserAvatar | UserFollowed
)

const (
	partsOfThing = ThingCounts | ThingDownloads | ThingOther
	partsOfUser  = UserCounts | UserOther
	partsOfFile  = FileDownloads | FileOther | FileStates | FilePreview

	ofThing    = partsOfThing | ThingLiked | ThingCollected | ThingWatched | ThingDescriptionHTML | ThingInstructionsHTML | ThingCreator
	ofOneThing = ofThing | ThingFileCounts | ThingTags | ThingCategory
	ofCaller   = UserFollowed | ThingLiked | ThingCollected | ThingWatched
)

// partOf maps tables and columns to parts, for columns that not every operation needs.
var partOf = map[string]map[string]Extra{
	"things": {
		"like_count": ThingCounts, "collect_count": ThingCounts, "make_count": ThingCounts, "comment_count": ThingCounts,
		"root_comment_count": ThingCounts, "remix_count": ThingCounts, "view_count": ThingCounts, "download_count": ThingDownloads,
		"license": ThingOther, "category_id": ThingOther, "is_wip": ThingOther, "is_nsfw": ThingOther, "is_ai": ThingOther,
		"is_derivative": ThingOther, "modified_at": ThingOther, "featured_at": ThingOther, "popularity": ThingOther,
		"takedown_reason": ThingOther,
	},
	"users": {
		"thing_count": UserCounts, "make_count": UserCounts, "like_count": UserCounts, "collection_count": UserCounts,
		"follower_count": UserCounts, "following_count": UserCounts, "held_bytes": UserCounts,
		"email": UserOther, "location": UserOther, "default_license": UserOther, "hides_nsfw": UserOther, "hides_ai": UserOther,
		"last_active_at": UserOther, "suspension_reason": UserOther, "cover_id": UserOther,
	},
	"files": {
		"download_count": FileDownloads,
		"content_type":   FileOther, "sha256": FileOther, "md5": FileOther, "object_key": FileOther, "note": FileOther,
		"finalized_at": FileOther, "expires_at": FileOther, "rendering_id": FileOther, "rendering_rank": FileOther,
	},
	"makes": {"like_count": MakeCounts, "comment_count": MakeCounts, "root_comment_count": MakeCounts},
	"comments": {
		"modified_at": CommentOther, "reported_at": CommentOther, "spam_body": CommentOther, "reply_count": CommentOther,
	},
}

// extras is a set of extras to read, with the caller that some of them depend on.
type extras struct {
	set    Extra
	userID int64 // of the caller; 0: not a user
}

type extrasKey struct{}

// WithExtras returns a context in which only the extras in set are read. Some of them depend on the
// caller: userID is the ID of the caller, or 0 if the caller is not a user.
func WithExtras(ctx context.Context, set Extra, userID int64) context.Context {
	return context.WithValue(ctx, extrasKey{}, extras{set, userID})
}

// allParts are the extras of reads outside of GraphQL queries.
var allParts = extras{set: AllParts}

// extrasAmong returns the extras in some that the operation needs. Outside of GraphQL queries,
// these are the parts of rows.
func extrasAmong(ctx context.Context, some Extra) extras {
	x, ok := ctx.Value(extrasKey{}).(extras)
	if !ok {
		x = allParts
	}
	x.set &= some
	return x
}

// and returns the extras with another one added.
func (x extras) and(extra Extra) extras {
	x.set |= extra
	return x
}

// name identifies the text of a statement that reads the extras.
func (x extras) name() string {
	name := strconv.Itoa(int(x.set))
	if x.userID == 0 {
		name += " of nobody"
	}
	return name
}

// also returns the ID of the caller for [database.DB.ForIDs] if the statement needs it.
func (x extras) also() []int64 {
	if x.set&ofCaller == 0 || x.userID == 0 {
		return nil
	}
	return []int64{x.userID}
}

// has reports whether the columns of an extra are read. Extras that depend on the caller are not
// read if the caller is not a user.
func (x extras) has(extra Extra) bool {
	return x.set&extra != 0 && (x.userID != 0 || extra&ofCaller == 0)
}

// The marks of the caller are selected by subqueries with IS NOT NULL instead of EXISTS, for which
// PostgreSQL may read all marks of the caller, however many there are.

// ofUsers adds the columns of the extras to a query of users with the alias u.
func (x extras) ofUsers(q *bun.SelectQuery, user schema.QueryAppender) *bun.SelectQuery {
	q = q.ColumnExpr("? AS extras", int64(x.set))
	if x.has(UserAvatar) {
		q = q.Join("LEFT JOIN files AS av ON av.id = u.avatar_id").Join("LEFT JOIN previews AS avp ON avp.id = av.preview_id").
			ColumnExpr("av.id AS avatar__id, av.name AS avatar__name, av.kind AS avatar__kind, av.state AS avatar__state, " +
				"av.thing_id AS avatar__thing_id, av.preview_id AS avatar__preview_id, av.created_at AS avatar__created_at, " +
				"avp.id AS avatar__preview__id, avp.sha256 AS avatar__preview__sha256, avp.subject AS avatar__preview__subject, " +
				"avp.version AS avatar__preview__version, avp.state AS avatar__preview__state, avp.picture AS avatar__preview__picture, " +
				"avp.width AS avatar__preview__width, avp.height AS avatar__preview__height")
	}
	if x.has(UserFollowed) {
		q = q.ColumnExpr("(SELECT true FROM follows AS fw WHERE fw.followed_id = u.id AND fw.follower_id = ?) IS NOT NULL AS followed", user)
	}
	return q
}

// ofThings adds the columns of the extras to a query of things with the alias t.
func (x extras) ofThings(engine database.Engine, q *bun.SelectQuery, user schema.QueryAppender) *bun.SelectQuery {
	q = q.ColumnExpr("? AS extras", int64(x.set))
	if x.has(ThingDownloads) {
		q = q.ColumnExpr("(SELECT count(*) FROM new_downloads AS nd WHERE nd.thing_id = t.id) AS new_downloads")
	}
	if x.has(ThingLiked) {
		q = q.ColumnExpr("(SELECT true FROM likes AS l WHERE l.target_type = 'thing' AND l.target_id = t.id AND l.user_id = ?) IS NOT NULL AS liked", user)
	}
	if x.has(ThingCollected) {
		q = q.ColumnExpr("(SELECT true FROM collection_things AS ct JOIN collections AS co ON co.id = ct.collection_id WHERE ct.thing_id = t.id AND co.owner_id = ? LIMIT 1) IS NOT NULL AS collected", user)
	}
	if x.has(ThingWatched) {
		q = q.ColumnExpr("(SELECT true FROM watches AS w WHERE w.target_type = 'thing' AND w.target_id = t.id AND w.user_id = ?) IS NOT NULL AS watched", user)
	}
	if x.has(ThingDescriptionHTML) {
		q = q.ColumnExpr("CASE WHEN t.html_version < ? THEN t.description ELSE t.description_html END AS shown_description", markdown.Version)
	}
	if x.has(ThingInstructionsHTML) {
		q = q.ColumnExpr("CASE WHEN t.html_version < ? THEN t.instructions ELSE t.instructions_html END AS shown_instructions", markdown.Version)
	}
	if x.has(ThingDescriptionHTML | ThingInstructionsHTML) {
		q = q.ColumnExpr("t.html_version < ? AS stale", markdown.Version)
	}
	if x.has(ThingFileCounts) {
		q = q.ColumnExpr("(SELECT string_agg(k.kind || ':' || CAST(k.n AS text), ',') FROM (SELECT f.kind, count(*) AS n FROM files AS f " +
			"WHERE f.target_type = 'thing' AND f.target_id = t.id AND f.state = 'finalized' GROUP BY f.kind) AS k) AS file_kinds")
	}
	array, object := bun.Safe("json_agg"), bun.Safe("json_build_object")
	if engine == database.SQLite {
		array, object = "json_group_array", "json_object"
	}
	if x.has(ThingTags) {
		q = q.ColumnExpr("(SELECT CAST(?(?('ID', g.id, 'Name', tt.name, 'Slug', g.slug, 'ThingCount', g.thing_count, 'Changes', "+
			"coalesce((SELECT string_agg(cc.of_column || ':' || CAST(cc.delta AS text), ',') FROM count_changes AS cc WHERE cc.of_table = 'tags' AND cc.object_id = g.id), '')"+
			") ORDER BY tt.position) AS text) FROM thing_tags AS tt JOIN tags AS g ON g.id = tt.tag_id WHERE tt.thing_id = t.id) AS tag_list", array, object)
	}
	if x.has(ThingCategory) {
		q = q.ColumnExpr("(WITH RECURSIVE above (id, name, slug, parent_id, depth) AS (SELECT c.id, c.name, c.slug, c.parent_id, 0 FROM categories AS c WHERE c.id = t.category_id "+
			"UNION ALL SELECT c.id, c.name, c.slug, c.parent_id, above.depth + 1 FROM categories AS c JOIN above ON c.id = above.parent_id WHERE above.depth < ?) "+
			"SELECT CAST(?(?('ID', above.id, 'Name', above.name, 'Slug', above.slug) ORDER BY above.depth) AS text) FROM above) AS category_list", maxDepth, array, object)
	}
	return q
}

// maxDepth is the maximum number of ancestors of a category that are read with a thing. It ends the
// recursion if there is a cycle.
const maxDepth = 20

// thingExtras holds extras of a thing.
type thingExtras struct {
	ShownDescription  string             `bun:",scanonly"` // HTML, or Markdown if Stale is set
	ShownInstructions string             `bun:",scanonly"`
	Stale             bool               `bun:",scanonly"`
	FileKinds         string             `bun:",scanonly"` // kind:number, separated by commas
	TagList           string             `bun:",scanonly"` // JSON
	CategoryList      string             `bun:",scanonly"` // JSON: the category and its parents
	FileCounts        map[FileKind]int64 `bun:"-"`
	Tags              []*Tag             `bun:"-"`
	Category          *Category          `bun:"-"` // without children and counts
}

// decode decodes the values of FileKinds, TagList and CategoryList.
func (x *thingExtras) decode(ctx context.Context) error {
	if x.FileKinds != "" {
		x.FileCounts = make(map[FileKind]int64)
		for count := range strings.SplitSeq(x.FileKinds, ",") {
			kind, digits, _ := strings.Cut(count, ":")
			n, err := strconv.ParseInt(digits, 10, 64)
			if err != nil {
				return fmt.Errorf("number of files: %w", err)
			}
			x.FileCounts[FileKind(kind)] = n
		}
	}
	if x.TagList != "" {
		if err := json.Unmarshal([]byte(x.TagList), &x.Tags); err != nil {
			return fmt.Errorf("tags: %w", err)
		}
		for _, g := range x.Tags {
			if err := g.AfterScanRow(ctx); err != nil {
				return err
			}
		}
	}
	if x.CategoryList == "" {
		return nil
	}
	var chain []*Category
	if err := json.Unmarshal([]byte(x.CategoryList), &chain); err != nil {
		return fmt.Errorf("category: %w", err)
	}
	for i := range chain {
		if i == 0 {
			x.Category = chain[0]
		} else {
			chain[i-1].Parent = chain[i]
		}
	}
	return nil
}
