package models

import (
	"slices"
	"strings"
)

// archiveTable describes the rows of a table in archives. docs/archive-format.md documents them.
type archiveTable struct {
	name    string // of the table, and of the noun
	columns []archiveColumn
	key     string // ORDER BY
	where   string // the condition on the rows; empty: all rows
	// ofUser is the condition on the rows in the archive of the user ?0. If it is empty, such an
	// archive does not have the table.
	ofUser string
	// constants are the values of columns that archives do not have, as pairs: column, value, column,
	// value…
	constants []any
	// credential reports whether the rows are credentials, which are exported only on request.
	credential bool
}

// archiveColumn describes a column.
type archiveColumn struct {
	name string
	kind string // id, int, text, bool, time, json, license, target, rendering, or a noun
	null bool   // it may be null
	// null and zero determine how a reference to a row that the archive does not have is replaced: by
	// null or by 0. If neither is set, the row is left out.
	zero bool
	// staff columns are not in the archive of a user, because only moderators and administrators may
	// set them, or because the import computes them.
	staff bool
}

// refers returns the noun of the rows that a column refers to, or "". targetType is the value of
// the column target_type.
func (c archiveColumn) refers(targetType string) string {
	if c.kind == "target" {
		return archiveTargets[targetType]
	}
	if slices.Contains([]string{"id", "int", "text", "bool", "time", "json", "license", "rendering"}, c.kind) {
		return ""
	}
	return c.kind
}

// archiveTargets maps types of targets to nouns.
var archiveTargets = map[string]string{
	"thing": "things", "make": "makes", "comment": "comments", "collection": "collections", "user": "users", "file": "files", "avatar": "users", "cover": "users",
}

// columnsOf parses descriptions of columns of the form name:kind, separated by spaces. The suffixes
// ?, 0 and ! set the fields null, zero and staff.
func columnsOf(text string) (columns []archiveColumn) {
	for field := range strings.FieldsSeq(text) {
		name, kind, _ := strings.Cut(field, ":")
		c := archiveColumn{name: name}
		kind, c.staff = strings.CutSuffix(kind, "!")
		kind, c.zero = strings.CutSuffix(kind, "0")
		c.kind, c.null = strings.CutSuffix(kind, "?")
		columns = append(columns, c)
	}
	return columns
}

const ownThings = "(SELECT id FROM things WHERE owner_id = ?0)"

// archiveTables are the tables in archives, each after the tables that it refers to.
var archiveTables = []archiveTable{
	{name: "categories", key: "r.parent_id IS NOT NULL, r.id", ofUser: "1 = 1",
		columns: columnsOf("id:id name:text slug:text parent_id:categories?")},
	{name: "users", key: "r.id", ofUser: "r.id = ?0",
		columns: columnsOf(`id:id username:text first_name:text last_name:text email:text bio:text location:text default_license:license
			is_admin:bool! is_moderator:bool! suspended_at:time? suspension_reason:text created_at:time last_active_at:time? deleted_at:time?
			avatar_id:int! cover_id:int! hides_nsfw:bool hides_ai:bool`)},
	{name: "tags", key: "r.id", ofUser: "r.id IN (SELECT tag_id FROM thing_tags WHERE thing_id IN " + ownThings + ")",
		columns: columnsOf("id:id name:text slug:text")},
	{name: "things", key: "r.id", ofUser: "r.owner_id = ?0",
		columns: columnsOf(`id:id owner_id:users name:text state:text license:license category_id:categories description:text instructions:text details_parts:json
			is_wip:bool is_derivative:bool is_nsfw:bool is_ai:bool created_at:time modified_at:time published_at:time? featured_at:time?!
			taken_down_at:time? takedown_reason:text hidden_state:text view_count:int`)},
	{name: "thing_tags", key: "r.thing_id, r.position, r.tag_id", ofUser: "r.thing_id IN " + ownThings,
		columns: columnsOf("thing_id:things tag_id:tags position:int name:text")},
	{name: "thing_ancestors", key: "r.thing_id, r.position, r.ancestor_id", ofUser: "r.thing_id IN " + ownThings,
		columns: columnsOf("thing_id:things ancestor_id:things position:int")},
	{name: "imported_counts", key: "r.thing_id", ofUser: "r.thing_id IN " + ownThings,
		columns: columnsOf("thing_id:things at:time downloads:int likes:int collects:int makes:int comments:int")},
	{name: "makes", key: "r.id", ofUser: "r.owner_id = ?0",
		columns: columnsOf("id:id owner_id:users thing_id:things? name:text description:text state:text created_at:time published_at:time? taken_down_at:time?")},
	{name: "comments", key: "r.id", ofUser: "r.owner_id = ?0",
		columns: columnsOf(`id:id owner_id:users target_type:text target_id:target thing_id:things? parent_id:comments? body:text spam_body:text
			created_at:time modified_at:time deleted_at:time? reported_at:time?!`)},
	{name: "collections", key: "r.id", ofUser: "r.owner_id = ?0",
		columns: columnsOf("id:id owner_id:users name:text description:text visibility:text featured_thing_id:things0 created_at:time modified_at:time")},
	{name: "collection_things", key: "r.id", ofUser: "r.collection_id IN (SELECT id FROM collections WHERE owner_id = ?0)",
		columns: columnsOf("id:id collection_id:collections thing_id:things position:int created_at:time")},
	{name: "files", key: "r.id", where: "r.state = 'finalized'", ofUser: "r.owner_id = ?0",
		columns: columnsOf(`id:id owner_id:users target_type:text target_id:target thing_id:things0 name:text note:text kind:text rank:int size:int content_type:text
			sha256:text md5:text rendering_id:rendering rendering_rank:int? download_count:int created_at:time finalized_at:time?`),
		constants: []any{"state", string(Finalized), "object_key", ""}},
	{name: "likes", key: "r.id", ofUser: "r.user_id = ?0",
		columns: columnsOf("id:id user_id:users target_type:text target_id:target created_at:time")},
	{name: "follows", key: "r.id", ofUser: "r.follower_id = ?0",
		columns: columnsOf("id:id follower_id:users followed_id:users created_at:time")},
	{name: "watches", key: "r.id", ofUser: "r.user_id = ?0",
		columns: columnsOf("id:id user_id:users target_type:text target_id:target created_at:time")},
	{name: "downloads", key: "r.id", ofUser: "r.user_id = ?0",
		columns: columnsOf("id:id user_id:users file_id:files? thing_id:things created_at:time")},
	{name: "notifications", key: "r.id",
		columns: columnsOf("id:id user_id:users kind:text actor_id:users? target_type:text target_id:target created_at:time read_at:time?")},
	{name: "reports", key: "r.id",
		columns: columnsOf(`id:id reporter_id:users target_type:text target_id:target user_id:users reason:text note:text state:text
			decided_by:users? decided_at:time? decision:text created_at:time`)},
	{name: "moderation_log", key: "r.id",
		columns: columnsOf("id:id actor_id:users? action:text user_id:users thing_id:int? object_id:int? role:text reason:text created_at:time")},

	{name: "passwords", key: "r.user_id", credential: true, columns: columnsOf("user_id:users hash:text changed_at:time")},
	{name: "confirmed_emails", key: "r.user_id", credential: true, columns: columnsOf("user_id:users email:text confirmed_at:time")},
	{name: "identities", key: "r.user_id, r.created_at, r.issuer, r.subject", credential: true,
		columns: columnsOf("user_id:users issuer:text subject:text created_at:time")},
	{name: "applications", key: "r.id", credential: true,
		columns: columnsOf("id:id client_id:text name:text secret_sha256:text redirects:text allows_implicit:bool created_at:time")},
	{name: "tokens", key: "r.id", credential: true,
		columns: columnsOf("id:id user_id:users? application_id:applications? name:text scopes:text sha256:text created_at:time expires_at:time? revoked_at:time? last_used_at:time?")},
}

// archiveExpressions are the SQL expressions of columns that are not exported as they are stored.
// The download count of a file includes downloads that are not folded yet. In the archive of a
// user, it includes only downloads by that user.
var archiveExpressions = map[string]struct{ all, ofUser string }{
	"files.download_count": {
		"r.download_count + (SELECT count(*) FROM new_downloads AS nd WHERE nd.thing_id = r.thing_id AND nd.file_id = r.id)",
		"(SELECT count(*) FROM downloads AS d WHERE d.file_id = r.id AND d.user_id = ?0)",
	},
}

// hasID reports whether rows of the table have an id.
func (t *archiveTable) hasID() bool { return t.columns[0].kind == "id" }

// of returns the columns of the table in the archive of a user or, if user is false, of everything.
func (t *archiveTable) of(user bool) []archiveColumn {
	return slices.DeleteFunc(slices.Clone(t.columns), func(c archiveColumn) bool { return user && c.staff })
}

func archiveTableOf(noun string) *archiveTable {
	i := slices.IndexFunc(archiveTables, func(t archiveTable) bool { return t.name == noun })
	if i < 0 {
		return nil
	}
	return &archiveTables[i]
}
