package rest_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/rest"
	wiretypes "github.com/meshyard/meshyard/rest/wire"
	"github.com/meshyard/meshyard/test/servertest"
)

// step is one operation, which is sent by REST to one server and as its stored document to another
// one.
type step struct {
	operation    string
	method, path string
	body         map[string]any
	variables    map[string]any // variables of the document
	file         string         // for an upload
	bob          bool           // called by bob instead of ada
	before       func(s *servertest.Server)
}

// paritySteps are the steps of the parity test. Both servers assign the same IDs.
var paritySteps = []step{
	{operation: "post_files_0_upload_file", method: "POST", path: "/files/0/uploadFile", file: "hschendel_simple_bin.stl"},
	{operation: "post_files_0_upload_file", method: "POST", path: "/files/0/uploadFile", file: "lib3mf_thumbnail.png"},
	{operation: "post_files_0_upload_file", method: "POST", path: "/files/0/uploadFile", file: "own_assembly.pdf"},
	{
		operation: "post_things", method: "POST", path: "/things",
		body: map[string]any{"name": "Bracket", "license": "ccsa", "category": "Tools", "description": "Holds *much*.",
			"tags": []string{"holder", "Wall Mount"}, "is_wip": 1, "files": []any{map[string]any{"id": 3, "type": "pending"}}},
		variables: map[string]any{"name": "Bracket", "license": "CC_SA", "category": "Tools", "description": "Holds *much*.",
			"tags": []string{"holder", "Wall Mount"}, "is_wip": true, "files": []any{map[string]any{"id": "3"}}},
	},
	{operation: "post_things", method: "POST", path: "/things", body: map[string]any{"name": " ", "license": "cc",
		"category": "Tools"}, variables: map[string]any{"name": " ", "license": "CC", "category": "Tools"}},
	{operation: "post_things", method: "POST", path: "/things", body: map[string]any{"name": "x", "license": "cc",
		"category": "Shelf"}, variables: map[string]any{"name": "x", "license": "CC", "category": "Shelf"}},
	{operation: "post_things_thing_id_publish", method: "POST", path: "/things/1/publish",
		variables: map[string]any{"thing_id": "1"}},
	{operation: "get_things_thing_id", method: "GET", path: "/things/1", variables: map[string]any{"thing_id": "1"},
		bob: true},
	{operation: "post_files_0_finalize_files", method: "POST", path: "/files/0/FinalizeFiles",
		body: map[string]any{"pending_uploads": []any{map[string]any{"id": 1, "rank": 5}, map[string]any{"id": "2"}},
			"target_id": "1", "target_type": "thing"},
		variables: map[string]any{"pending_uploads": []any{map[string]any{"id": "1", "rank": 5}, map[string]any{"id": "2"}},
			"target_id": "1", "target_type": "THING"}},
	{operation: "get_files_file_id", method: "GET", path: "/files/1", variables: map[string]any{"file_id": "1"}},
	{operation: "get_files_file_id", method: "GET", path: "/files/1", variables: map[string]any{"file_id": "1"},
		bob: true},
	{operation: "get_files_file_id_download", method: "GET", path: "/files/1/download",
		variables: map[string]any{"file_id": "1"}, bob: true},
	{operation: "post_things_thing_id_publish", method: "POST", path: "/things/1/publish",
		variables: map[string]any{"thing_id": "1"}, bob: true},
	{operation: "post_things_thing_id_publish", method: "POST", path: "/things/1/publish",
		variables: map[string]any{"thing_id": "1"}},
	{operation: "get_things_thing_id", method: "GET", path: "/things/1", variables: map[string]any{"thing_id": "1"},
		bob: true},
	{operation: "get_things_thing_id", method: "GET", path: "/things/77", variables: map[string]any{"thing_id": "77"}},
	{operation: "get_things_thing_id_files", method: "GET", path: "/things/1/files",
		variables: map[string]any{"thing_id": "1"}},
	{operation: "get_things_thing_id_files", method: "GET", path: "/things/1/files?file_id=3",
		variables: map[string]any{"thing_id": "1", "file_id": []string{"3"}}},
	{operation: "get_files_file_id_download", method: "GET", path: "/files/1/download",
		variables: map[string]any{"file_id": "1"}, bob: true},
	{operation: "get_files_file_id_download", method: "GET", path: "/files/2/download",
		variables: map[string]any{"file_id": "2"}},
	{operation: "head_files_file_id_download", method: "HEAD", path: "/files/1/download",
		variables: map[string]any{"file_id": "1"}, bob: true},
	{operation: "head_files_file_id_download", method: "HEAD", path: "/files/77/download",
		variables: map[string]any{"file_id": "77"}, bob: true},
	{operation: "get_users_username_downloads", method: "GET", path: "/users/bob/downloads?per_page=5",
		variables: map[string]any{"username": "bob", "page": 1, "per_page": 5}, bob: true},
	{operation: "get_users_username_downloads", method: "GET", path: "/users/bob/downloads",
		variables: map[string]any{"username": "bob", "page": 1, "per_page": 30}},
	{operation: "get_users_username_downloads", method: "GET", path: "/users/carl/downloads",
		variables: map[string]any{"username": "carl", "page": 1, "per_page": 30}},
	{operation: "post_things_thing_id_files", method: "POST", path: "/things/1/files",
		body: map[string]any{"filename": "more.stl"}, variables: map[string]any{"thing_id": "1", "filename": "more.stl"}},
	{operation: "post_things_thing_id_files", method: "POST", path: "/things/1/files",
		body: map[string]any{"filename": "more.stl"}, variables: map[string]any{"thing_id": "1", "filename": "more.stl"},
		bob: true},
	{operation: "post_files_file_id_finalize", method: "POST", path: "/files/6/finalize",
		variables: map[string]any{"file_id": "6"}},
	{operation: "post_files_file_id_finalize", method: "POST", path: "/files/1/finalize",
		variables: map[string]any{"file_id": "1"}},
	{operation: "get_files_file_id_finalize", method: "GET", path: "/files/1/finalize",
		variables: map[string]any{"file_id": "1"}, bob: true},
	{operation: "get_files_file_id_finalize", method: "GET", path: "/files/3/finalize",
		variables: map[string]any{"file_id": "3"}},
	{operation: "post_things_thing_id_copies", method: "POST", path: "/things/1/copies",
		body: map[string]any{"filename": "made.jpg", "description": "Mine."}, variables: map[string]any{"thing_id": "1",
			"filename": "made.jpg", "description": "Mine."}, bob: true},
	{operation: "post_copies_copy_id_images", method: "POST", path: "/copies/1/images",
		body: map[string]any{"filename": "again.jpg"}, variables: map[string]any{"copy_id": "1", "filename": "again.jpg"},
		bob: true},
	{operation: "post_copies_copy_id_images", method: "POST", path: "/copies/1/images",
		body: map[string]any{"filename": "again.jpg"}, variables: map[string]any{"copy_id": "1", "filename": "again.jpg"}},

	// There is only one published thing.
	look("get_things_0_random", "/things/0/random", o{"per_page": 30}),

	// The catalogue, after the steps before: thing 1 is published, and bob has made it.
	{operation: "post_things", method: "POST", path: "/things", body: o{"name": "Bracket, longer", "license": "cc",
		"category": "Hobby", "description": "Longer.", "ancestors": l{1}, "is_remix": true, "tags": l{"holder"}},
		variables: o{"name": "Bracket, longer", "license": "CC", "category": "Hobby", "description": "Longer.",
			"ancestors": l{"1"}, "is_remix": true, "tags": l{"holder"}}, bob: true},
	{operation: "post_files_0_upload_file", method: "POST", path: "/files/0/uploadFile",
		file: "numpystl_HalfDonut_bin.stl", bob: true},
	{operation: "post_files_0_upload_file", method: "POST", path: "/files/0/uploadFile", file: "lib3mf_thumbnail.png",
		bob: true},
	{operation: "post_files_0_upload_file", method: "POST", path: "/files/0/uploadFile", file: "lib3mf_thumbnail.png",
		bob: true},
	finalize("thing", 2, true, 9), finalize("copy", 1, true, 10), finalize("thing", 2, true, 11),
	{operation: "post_things_thing_id_publish", method: "POST", path: "/things/2/publish", variables: o{"thing_id": "2"},
		bob: true},
	look("get_things_thing_id", "/things/2", o{"thing_id": "2"}), look("get_things_thing_id", "/things/1",
		o{"thing_id": "1"}),
	change("patch_things_thing_id", "PATCH", "/things/2",
		o{"name": "Longer bracket", "license": "Creative Commons - Public Domain Dedication", "category": "Parts",
			"instructions": "Print *flat*.", "is_wip": 1, "tags": l{o{"name": "Wall Mount", "url": "x"}, "long"},
			"ancestors": l{o{"id": 1, "name": "y"}}, "id": 99, "creator": nil, "nobody": "knows"},
		o{"thing_id": "2", "name": "Longer bracket", "license": "PD0", "category": "Parts", "instructions": "Print *flat*.",
			"is_wip": true, "tags": l{"Wall Mount", "long"}, "ancestors": l{"1"}}, true),
	change("patch_things_thing_id", "PATCH", "/things/2", o{"description": " "},
		o{"thing_id": "2", "description": " "}, true),
	change("patch_things_thing_id", "PATCH", "/things/2", o{"name": "Mine"}, o{"thing_id": "2", "name": "Mine"}, false),
	change("post_things_thing_id_likes", "POST", "/things/1/likes", nil, o{"thing_id": "1"}, true),
	change("post_things_thing_id_likes", "POST", "/things/1/likes", nil, o{"thing_id": "1"}, false),
	change("post_things_thing_id_likes", "POST", "/things/2/likes", nil, o{"thing_id": "2"}, false),
	change("delete_things_thing_id_likes", "DELETE", "/things/2/likes", nil, o{"thing_id": "2"}, false),
	listed("get_things_thing_id_likes", "/things/1/likes", o{"thing_id": "1"}), listed("get_things_thing_id_ancestors",
		"/things/2/ancestors", o{"thing_id": "2"}),
	listed("get_things_thing_id_derivatives", "/things/1/derivatives", o{"thing_id": "1"}),
	listed("get_things_thing_id_copies", "/things/1/copies", o{"thing_id": "1"}),
	look("get_things_thing_id_tags", "/things/2/tags", o{"thing_id": "2"}), look("get_things_thing_id_categories",
		"/things/2/categories", o{"thing_id": "2"}),
	look("get_things_thing_id_files_file_id", "/things/2/files/9", o{"thing_id": "2", "file_id": "9"}),
	look("get_things_thing_id_files_file_id", "/things/9/files/9", o{"thing_id": "9", "file_id": "9"}),
	look("get_things_thing_id_images", "/things/2/images?type=display&size=large", o{"thing_id": "2"}),
	look("get_things_thing_id_images_image_id", "/things/2/images/11", o{"thing_id": "2", "image_id": "11"}),
	change("patch_things_thing_id_images_image_id", "PATCH", "/things/2/images/11", o{"rank": 3, "name": "z"},
		o{"thing_id": "2", "image_id": "11", "rank": 3}, true),
	change("patch_things_thing_id_images_image_id", "PATCH", "/things/2/images/11", o{"featured": true},
		o{"thing_id": "2", "image_id": "11", "featured": true}, true),
	change("patch_things_thing_id_images_image_id", "PATCH", "/things/1/images/11", o{"rank": 3},
		o{"thing_id": "1", "image_id": "11", "rank": 3}, true),

	change("post_things_thing_id_comments", "POST", "/things/1/comments", o{"body": "It *holds*."},
		o{"thing_id": "1", "body": "It *holds*."}, true),
	change("post_comments", "POST", "/comments", o{"body": "Glad.", "target_type": "thing", "target_id": "1",
		"parent_id": 1}, o{"body": "Glad.", "target_type": "THING", "target_id": "1", "parent_id": "1"}, false),
	change("post_comments_comment_id_reply", "POST", "/comments/2/reply", o{"body": "Me too."},
		o{"comment_id": "2", "body": "Me too."}, true),
	change("post_copies_copy_id_comments", "POST", "/copies/1/comments", o{"body": "Neat."},
		o{"copy_id": "1", "body": "Neat."}, false),
	change("post_copies_copy_id_comments", "POST", "/copies/1/comments", o{"body": " "}, o{"copy_id": "1", "body": " "},
		false),
	change("patch_comments_comment_id", "PATCH", "/comments/2", o{"body": "Very glad.", "user": o{}},
		o{"comment_id": "2", "body": "Very glad."}, false),
	change("patch_comments_comment_id", "PATCH", "/comments/2", o{"body": "Not mine."},
		o{"comment_id": "2", "body": "Not mine."}, true),
	listed("get_comments_comment_id_replies", "/comments/1/replies", o{"comment_id": "1"}),
	change("delete_comments_comment_id", "DELETE", "/comments/2", nil, o{"comment_id": "2"}, false),
	change("delete_comments_comment_id", "DELETE", "/comments/2", nil, o{"comment_id": "2"}, true),
	look("get_comments_comment_id", "/comments/3", o{"comment_id": "3"}), look("get_comments_comment_id", "/comments/2",
		o{"comment_id": "2"}),
	listed("get_comments", "/comments", o{}), listed("get_things_thing_id_comments", "/things/1/comments",
		o{"thing_id": "1"}),
	listed("get_things_thing_id_root_comments", "/things/1/root-comments", o{"thing_id": "1"}),
	listed("get_things_thing_id_threaded_comments", "/things/1/threaded-comments", o{"thing_id": "1"}),
	listed("get_copies_copy_id_comments", "/copies/1/comments", o{"copy_id": "1"}),

	change("post_copies_copy_id_likes", "POST", "/copies/1/likes", nil, o{"copy_id": "1"}, false),
	listed("get_copies_copy_id_likes", "/copies/1/likes", o{"copy_id": "1"}),
	listed("get_copies", "/copies", o{}), look("get_copies_copy_id", "/copies/1", o{"copy_id": "1"}),
	look("get_copies_copy_id_images", "/copies/1/images", o{"copy_id": "1"}),
	change("patch_copies_copy_id_images_image_id", "PATCH", "/copies/1/images/10", o{"rank": 3},
		o{"copy_id": "1", "image_id": "10", "rank": 3}, true),
	change("patch_copies_copy_id_images_image_id", "PATCH", "/copies/1/images/10", o{"rank": 3},
		o{"copy_id": "1", "image_id": "10", "rank": 3}, false),
	change("delete_copies_copy_id_likes", "DELETE", "/copies/1/likes", nil, o{"copy_id": "1"}, false),
	change("patch_copies_copy_id", "PATCH", "/copies/1", o{"description": "Still *mine*."},
		o{"copy_id": "1", "description": "Still *mine*."}, true),
	change("patch_copies_copy_id", "PATCH", "/copies/1", o{"description": "Yours."},
		o{"copy_id": "1", "description": "Yours."}, false),

	change("post_collections", "POST", "/collections", o{"name": "Brackets", "description": "All of *them*."},
		o{"name": "Brackets", "description": "All of *them*."}, false),
	change("post_collections", "POST", "/collections", o{"name": ""}, o{"name": ""}, false),
	change("post_collections_collection_id_thing_thing_id", "POST", "/collections/1/thing/1", nil,
		o{"collection_id": "1", "thing_id": "1"}, false),
	change("post_collections_collection_id_thing_thing_id", "POST", "/collections/1/thing/2", nil,
		o{"collection_id": "1", "thing_id": "2"}, false),
	change("post_collections_collection_id_thing_thing_id", "POST", "/collections/1/thing/2", nil,
		o{"collection_id": "1", "thing_id": "2"}, true),
	listed("get_collections", "/collections", o{}), look("get_collections_collection_id", "/collections/1",
		o{"collection_id": "1"}),
	listed("get_collections_collection_id_things", "/collections/1/things", o{"collection_id": "1"}),
	change("patch_collections_collection_id", "PATCH", "/collections/1", o{"name": "Holders", "count": 7},
		o{"collection_id": "1", "name": "Holders"}, false),
	change("delete_collections_collection_id_thing_thing_id", "DELETE", "/collections/1/thing/1", nil,
		o{"collection_id": "1", "thing_id": "1"}, false),

	change("patch_users_username", "PATCH", "/users/me", o{"first_name": "Ada", "last_name": "L.", "bio": "I *print*.",
		"location": "London", "default_license": "cc-sa", "id": 4}, o{"username": "me", "first_name": "Ada",
		"last_name": "L.", "bio": "I *print*.", "location": "London", "default_license": "CC_SA"}, false),
	change("patch_users_username", "PATCH", "/users/bob", o{"bio": "Not me."}, o{"username": "bob", "bio": "Not me."},
		false),
	look("get_users_username", "/users/me", o{"username": "me"}), look("get_users_username", "/users/BOB",
		o{"username": "BOB"}),
	listed("get_users_username_things", "/users/bob/things", o{"username": "bob"}),
	listed("get_users_username_likes", "/users/bob/likes", o{"username": "bob"}),
	listed("get_users_username_favorites", "/users/bob/favorites", o{"username": "bob"}),
	listed("get_users_username_copies", "/users/bob/copies", o{"username": "bob"}),
	listed("get_users_username_collections", "/users/ada/collections", o{"username": "ada"}),
	listed("get_users_username_search_term", "/users/bob/search/bracket", o{"username": "bob", "term": "bracket"}),

	// Followers, watches, notifications, and operations on collections.
	change("post_users_username_followers", "POST", "/users/bob/followers", nil, o{"username": "bob"}, false),
	change("post_users_username_followers", "POST", "/users/ada/followers", nil, o{"username": "ada"}, false),
	listed("get_users_username_followers", "/users/bob/followers", o{"username": "bob"}),
	listed("get_users_username_following", "/users/ada/following", o{"username": "ada"}),
	change("delete_users_username_followers", "DELETE", "/users/bob/followers", nil, o{"username": "bob"}, false),
	listed("get_users_username_collections_all", "/users/ada/collections/all", o{"username": "ada"}),
	listed("get_users_username_collections_true", "/users/ada/collections/true", o{"username": "ada"}),
	listed("get_users_username_collections_false", "/users/ada/collections/false", o{"username": "ada"}),
	listed("get_users_username_search", "/users/bob/search?term=bracket", o{"username": "bob", "term": "bracket"}),
	listed("get_users_username_search", "/users/bob/search", o{"username": "bob"}),
	look("get_users_username_likesids", "/users/bob/likesids", o{"username": "bob"}),
	look("get_users_username_all_collected_things", "/users/ada/all-collected-things", o{"username": "ada"}),
	look("get_users_username_unread_message_count", "/users/me/unread-message-count", o{"username": "me"}),
	look("get_users_username_unread_message_count", "/users/bob/unread-message-count", o{"username": "bob"}),
	look("get_users_username_event_count", "/users/ada/event-count?timestamp=2020-01-01",
		o{"username": "ada", "timestamp": "2020-01-01T00:00:00Z"}),
	look("get_users_username_stats_by_day", "/users/bob/stats-by-day/2020-01-01/2020-12-30",
		o{"username": "bob", "startDate": "2020-01-01T00:00:00Z", "endDate": "2020-12-30T00:00:00Z"}),
	look("get_users_username_stats_by_day", "/users/me/stats-by-day/now-30d/now",
		o{"username": "me", "startDate": time.Now().AddDate(0, 0, -30).UTC().Format(time.RFC3339), "endDate": time.Now().
			UTC().Format(time.RFC3339)}),
	look("get_users_username_stats_by_thing", "/users/me/stats-by-thing/now-30d/now",
		o{"username": "me", "startDate": time.Now().AddDate(0, 0, -30).UTC().Format(time.RFC3339), "endDate": time.Now().
			UTC().Format(time.RFC3339)}),
	look("get_users_username_stats_by_thing", "/users/me/stats-by-thing/2020-01-01/2022-01-01",
		o{"username": "me", "startDate": "2020-01-01T00:00:00Z", "endDate": "2022-01-01T00:00:00Z"}),
	listed("get_users_username_recommended_things", "/users/me/recommended-things", o{"username": "me"}),
	look("get_users_username_recommended_tags", "/users/me/recommended-tags", o{"username": "me"}),
	look("get_users_username_groups", "/users/bob/groups", o{"username": "bob"}), look("get_groups", "/groups", o{}),
	look("get_printers_0_brands", "/printers/0/brands", o{}), look("get_printers_0_models", "/printers/0/models", o{}),
	look("get_programs_0_all", "/programs/0/all", o{}),
	change("post_things_thing_id_toggle_watch", "POST", "/things/2/toggle-watch", nil, o{"thing_id": "2"}, false),
	change("post_copies_copy_id_toggle_watch", "POST", "/copies/1/toggle-watch", nil, o{"copy_id": "1"}, false),
	change("post_collections_collection_id_watch", "POST", "/collections/1/watch", nil, o{"collection_id": "1"}, true),
	change("post_collections_collection_id_like", "POST", "/collections/1/like", nil, o{"collection_id": "1"}, true),
	change("post_collections_collection_id_like", "POST", "/collections/1/like", nil, o{"collection_id": "1"}, false),
	change("post_collections_collection_id_watch", "POST", "/collections/9/watch", nil, o{"collection_id": "9"}, true),
	listed("get_events", "/events", o{}), look("get_events_id", "/events/1", o{"id": "1"}),
	look("get_events_id", "/events/999", o{"id": "999"}),
	change("post_events_0_read_all", "POST", "/events/0/read-all", nil, o{}, false), change("delete_events_id", "DELETE",
		"/events/1", nil, o{"id": "1"}, false), change("delete_events_id", "DELETE", "/events/1", nil, o{"id": "1"}, false),
	look("get_things_thing_id_package_url", "/things/1/package-url", o{"thing_id": "1"}),
	listed("get_things_thing_id_prints", "/things/1/prints", o{"thing_id": "1"}),
	change("post_thingops_ids_copy", "POST", "/thingops/1,2/copy", o{"target_collection_id": 1},
		o{"ids": l{"1", "2"}, "target_collection_id": "1"}, false),
	change("post_thingops_ids_copy", "POST", "/thingops/1/copy", o{"target_collection_id": 1},
		o{"ids": l{"1"}, "target_collection_id": "1"}, true),
	change("post_collections", "POST", "/collections", o{"name": "Others"}, o{"name": "Others"}, false),
	change("post_thingops_ids_move", "POST", "/thingops/1/move", o{"source_collection_id": 1, "target_collection_id": 2},
		o{"ids": l{"1"}, "source_collection_id": "1", "target_collection_id": "2"}, false),
	change("post_collections_collection_id_move_thing_id", "POST", "/collections/2/move/2", nil,
		o{"collection_id": "2", "thing_id": "2"}, false),
	look("get_collections_thing_id_by_thing_id", "/collections/1/by-thing-id", o{"thing_id": "1"}),
	change("post_thingops_ids_remove", "POST", "/thingops/2/remove", o{"collection_id": 2},
		o{"ids": l{"2"}, "collection_id": "2"}, false),
	change("delete_things_thing_id_collections", "DELETE", "/things/1/collections", nil, o{"thing_id": "1"}, false),
	listed("get_copies_copy_id_root_comments", "/copies/1/root-comments", o{"copy_id": "1"}),
	listed("get_copies_copy_id_threaded_comments", "/copies/1/threaded-comments", o{"copy_id": "1"}),
	change("post_comments_0_markdown", "POST", "/comments/0/markdown", o{"body": "It *holds*. <script>"},
		o{"body": "It *holds*. <script>"}, false),

	look("get_categories", "/categories?return=complete", o{}), look("get_categories_slug", "/categories/tools",
		o{"slug": "tools"}),
	listed("get_categories_slug_things", "/categories/tools/things", o{"slug": "tools"}),
	listed("get_tags", "/tags", o{}), listed("get_tags_0_popular", "/tags/0/popular", o{}),
	look("get_tags_tag", "/tags/wall_mount", o{"tag": "wall_mount"}),
	look("get_tags_tag", "/tags/nowhere", o{"tag": "nowhere"}), listed("get_tags_tag_things", "/tags/Wall Mount/things",
		o{"tag": "Wall Mount"}), listed("get_tags_tag_search_tags", "/tags/wall/search-tags", o{"tag": "wall"}),
	{operation: "get_featured", method: "GET", path: "/featured", variables: o{}, before: func(s *servertest.Server) {
		s.Administrator().Query(`mutation { featureThing(input: {id: "1"}) { thing { id } } }`, nil, new(any))
	}},
	look("get_newest", "/newest?per_page=1&page=2", o{"after": "page:2", "per_page": 1}),
	look("get_popular", "/popular", o{"page": 1, "per_page": 30}),
	listed("get_search", "/search?license=ccsa&has_makes=1&posted_after=2020-01-01",
		o{"license": "CC_SA", "has_makes": true, "posted_after": "2020-01-01T00:00:00Z"}),
	listed("get_search_term", "/search/long+bracket?sort=newest", o{"term": "long bracket", "sort": "NEWEST"}),
	listed("get_search_term", "/search/bob?type=users", o{"term": "bob", "type": "USERS"}),
	listed("get_search_term", "/search/brac?type=makes", o{"term": "brac", "type": "MAKES"}),
	listed("get_search_term", "/search/hold?type=collections", o{"term": "hold", "type": "COLLECTIONS"}),
	listed("get_search_tag_tag", "/search/holder/tag", o{"tag": "holder"}), listed("get_search_term_autocomplete",
		"/search/lon/autocomplete", o{"term": "lon"}),

	change("delete_things_thing_id_images_image_id", "DELETE", "/things/2/images/11", nil,
		o{"thing_id": "2", "image_id": "11"}, true),
	change("delete_things_thing_id_images_image_id", "DELETE", "/things/2/images/11", nil,
		o{"thing_id": "2", "image_id": "11"}, true),
	change("delete_things_thing_id_files_file_id", "DELETE", "/things/1/files/3", nil,
		o{"thing_id": "1", "file_id": "3"}, true),
	change("delete_things_thing_id_files_file_id", "DELETE", "/things/1/files/3", nil, o{"thing_id": "1", "file_id": "3"},
		false),
	change("delete_things_thing_id", "DELETE", "/things/1", nil, o{"thing_id": "1"}, true),
	change("delete_things_thing_id", "DELETE", "/things/1", nil, o{"thing_id": "1"}, false),
	look("get_things_thing_id", "/things/2", o{"thing_id": "2"}), look("get_copies_copy_id", "/copies/1",
		o{"copy_id": "1"}),
	change("delete_copies_copy_id_images_image_id", "DELETE", "/copies/1/images/10", nil,
		o{"copy_id": "1", "image_id": "10"}, false), change("delete_copies_copy_id_images_image_id", "DELETE",
		"/copies/1/images/10", nil, o{"copy_id": "1", "image_id": "10"}, true),
	change("delete_copies_copy_id", "DELETE", "/copies/1", nil, o{"copy_id": "1"}, false),
	change("delete_copies_copy_id", "DELETE", "/copies/1", nil, o{"copy_id": "1"}, true),
	change("delete_collections_collection_id", "DELETE", "/collections/1", nil, o{"collection_id": "1"}, true),
	change("delete_collections_collection_id", "DELETE", "/collections/1", nil, o{"collection_id": "1"}, false),

	change("post_comments", "POST", "/comments", o{"body": "Hm.", "target_type": "thing", "target_id": 2},
		o{"body": "Hm.", "target_type": "THING", "target_id": "2"}, true),
	change("post_comments_comment_id_spam", "POST", "/comments/1/spam", nil, o{"comment_id": "1"}, false),
	change("post_comments_comment_id_spam", "POST", "/comments/5/spam", nil, o{"comment_id": "5"}, false),
	change("post_comments_comment_id_restore", "POST", "/comments/5/restore", nil, o{"comment_id": "5"}, false),
	change("post_copies_copy_id_restore", "POST", "/copies/1/restore", nil, o{"copy_id": "1"}, true),
	change("post_users_username_avatar_image", "POST", "/users/me/avatar-image", o{"filename": "me.png"},
		o{"username": "me", "filename": "me.png"}, false),
	change("post_users_username_cover_image", "POST", "/users/me/cover-image", o{"filename": "me.png"},
		o{"username": "me", "filename": "me.png"}, false),
	change("delete_users_username", "DELETE", "/users/ada", nil, o{"username": "ada"}, true),
	change("delete_users_username", "DELETE", "/users/bob", nil, o{"username": "bob"}, true),
}

type (
	o = map[string]any
	l = []any
)

// constants are operations whose response has nothing of the result of their document. It is
// constant, because this server does not have the type, or a URL that is built from the ID.
var constants = strings.Fields(
	"get_groups get_users_username_groups get_printers_0_brands get_printers_0_models get_programs_0_all get_things_thing_id_package_url")

// forModerators are operations for moderators. None of the callers is a moderator.
var forModerators = strings.Fields("post_copies_copy_id_restore post_comments_comment_id_restore")

// look is a step by ada that reads only.
func look(operation, path string, variables o) step {
	return step{operation: operation, method: "GET", path: path, variables: variables}
}

// listed is a look at a list with pages.
func listed(operation, path string, variables o) step {
	variables["page"], variables["per_page"] = 1, 30
	return look(operation, path, variables)
}

// change is a step that may change data.
func change(operation, method, path string, body, variables o, bob bool) step {
	return step{operation: operation, method: method, path: path, body: body, variables: variables, bob: bob}
}

// finalize is a step that attaches uploads to a target.
func finalize(targetType string, targetID int64, bob bool, ids ...int64) step {
	variables := o{"target_type": strings.Replace(strings.ToUpper(targetType), "COPY", "MAKE", 1),
		"target_id": servertest.ID(targetID)}
	var uploads l
	for i, id := range ids {
		uploads = append(uploads, o{"id": servertest.ID(id), "rank": 10 * (i + 1)})
	}
	variables["pending_uploads"] = uploads
	return step{operation: "post_files_0_finalize_files", method: "POST", path: "/files/0/FinalizeFiles",
		body: servertest.FinalizeBody(targetType, targetID, ids...), variables: variables, bob: bob}
}

// leadingField matches the name of a field at the start of an error message.
var leadingField = regexp.MustCompile(`^[A-Za-z_]+: `)

// TestParity checks that each REST operation and its GraphQL document are equivalent: same data,
// same status, same side effects.
func TestParity(t *testing.T) {
	servertest.Sequential(t)
	for _, name := range rest.Operations() {
		if !slices.ContainsFunc(paritySteps, func(s step) bool { return s.operation == name }) {
			t.Errorf("no step runs %s", name)
		}
	}
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			a, b := servertest.Start(t, engine), servertest.Start(t, engine)
			ada, bob := [2]*servertest.Client{a.User("ada"), b.User("ada")}, [2]*servertest.Client{a.User("bob"), b.User("bob")}
			for i, s := range paritySteps {
				who := ada
				if s.bob {
					who = bob
				}
				for _, server := range []*servertest.Server{a, b} {
					if s.before != nil {
						s.before(server)
					}
					server.Fold()
				}
				name := fmt.Sprintf("step %d, %s %s", i, s.method, s.path)
				viaREST, viaGraphQL := s.byREST(t, who[0]), s.byGraphQL(t, who[1])
				if got, want := servertest.CodeStatus[viaGraphQL.Code()], viaREST.StatusCode; got != want &&
					!(got == 200 && want == 302) {
					t.Errorf("%s: REST returns %d %s, GraphQL %q %+v", name, want, viaREST.Bytes, viaGraphQL.Code(), viaGraphQL.Errors)
					continue
				}
				golden(t, s.operation, viaREST, a.URL)
				if viaREST.StatusCode >= 300 {
					// The messages are equal after the name of the field, which is that of the parameter in REST.
					if e := viaGraphQL.Errors; len(e) > 0 && s.method != "HEAD" {
						text := strings.TrimPrefix(servertest.MustJSON(leadingField.ReplaceAllString(e[0].Message, "")), `"`)
						if !strings.Contains(string(viaREST.Bytes), text) {
							t.Errorf("%s: REST returns %s, GraphQL %q", name, viaREST.Bytes, e[0].Message)
						}
					}
					continue
				}
				var data struct{ Answer any }
				if err := json.Unmarshal(viaGraphQL.Data, &data); err != nil {
					t.Fatal(err)
				}
				var response any
				if err := json.Unmarshal(viaREST.Bytes, &response); err != nil {
					t.Fatal(err)
				}
				if string(viaREST.Bytes) == `{"ok":"ok"}` {
					continue
				}
				if slices.Contains(constants, s.operation) {
					continue
				}
				if s.method == "DELETE" || viaREST.Bytes[0] == '"' {
					continue
				}
				compared := 0
				for _, difference := range differences("", response, unwrap(data.Answer), &compared) {
					t.Errorf("%s: %s", name, difference)
				}
				if compared == 0 && string(viaREST.Bytes) != "[]" {
					t.Errorf("%s: nothing of %s is in %s", name, viaREST.Bytes, viaGraphQL.Data)
				}
			}
			for _, name := range rest.Operations() {
				if _, is := seen.Load(t.Name() + " " + name); !is && !slices.Contains(forModerators, name) {
					t.Errorf("no response of %s was compared with a golden file", name)
				}
			}
			// Do the work of the jobs now: otherwise the two servers do it at different times.
			for _, server := range []*servertest.Server{a, b} {
				for id := range int64(5) {
					if err := server.Store.Account.PurgeAccount(t.Context(), id); err != nil {
						t.Error(err)
					}
				}
				server.Fold()
			}
			for i, who := range []string{"ada", "bob"} {
				clients := [][2]*servertest.Client{ada, bob}[i]
				if one, two := everything(clients[0]), everything(clients[1]); one != two {
					t.Errorf("what %s sees afterwards\nby REST:    %s\nby GraphQL: %s", who, one, two)
				}
			}
		})
	}
}

func (s step) byREST(t *testing.T, c *servertest.Client) *servertest.Response {
	if s.file != "" {
		return c.PostForm(s.path, [][2]string{{"type", "model"}}, "file", s.file, servertest.Mesh(t, s.file))
	}
	if s.body == nil {
		return c.Do(s.method, s.path, nil)
	}
	return c.Do(s.method, s.path, s.body)
}

func (s step) byGraphQL(t *testing.T, c *servertest.Client) *servertest.Result {
	document := only(t, s.operation)
	if s.file != "" {
		return c.GraphQLUpload(document, map[string]any{"file": nil, "type": "MODEL"}, "file", s.file,
			servertest.Mesh(t, s.file))
	}
	return c.GraphQL(document, s.variables)
}

// only returns one operation of the stored documents, with the fragments that it uses.
func only(t *testing.T, name string) string {
	t.Helper()
	all, err := parser.ParseQuery(&ast.Source{Input: rest.Documents()})
	if err != nil {
		t.Fatal(err)
	}
	kept := &ast.QueryDocument{Operations: ast.OperationList{all.Operations.ForName(name)}}
	text := ""
	for changed := true; changed; {
		var b strings.Builder
		formatter.NewFormatter(&b).FormatQueryDocument(kept)
		text, changed = b.String(), false
		for _, f := range all.Fragments {
			if strings.Contains(text, "... "+f.Name) && kept.Fragments.ForName(f.Name) == nil {
				kept.Fragments, changed = append(kept.Fragments, f), true
			}
		}
	}
	return text
}

// unwrap removes a payload or a connection around an object.
func unwrap(v any) any {
	for {
		m, ok := v.(map[string]any)
		if ok {
			delete(m, "info") // REST has the Link header instead
		}
		if !ok || len(m) > 2 {
			return v
		}
		inner := v
		for _, key := range []string{"thing", "upload", "file", "list", "items", "files", "images", "image", "make",
			"comment", "collection", "user", "tags", "category", "collections"} {
			if in, ok := m[key]; ok && (len(m) == 1 || key == "items") {
				inner = in
			}
		}
		if fmt.Sprint(inner) == fmt.Sprint(v) {
			return v
		}
		v = inner
	}
}

// licenseName returns the name in REST of a LicenseInfo.
func licenseName(info map[string]any) wiretypes.License {
	return wiretypes.NameOf(license.ID(fmt.Sprint(info["id"])))
}

// differences returns the places where a REST response and a GraphQL response have different values
// under the same key.
func differences(key string, wire, graph any, compared *int) []string {
	wire, graph = alike(wire, graph)
	if info, ok := graph.(map[string]any); ok && key == "license" {
		graph = string(licenseName(info))
	}
	switch g := graph.(type) {
	case map[string]any:
		w, ok := wire.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v is no object", key, wire)}
		}
		var found []string
		for name, value := range g {
			// REST completes the parts by texts: see TestDetailsFromTexts.
			if in, there := w[name]; there && name != "fields" && name != "details_parts" {
				found = append(found, differences(name, in, value, compared)...)
			}
		}
		return found
	case []any:
		w, ok := wire.([]any)
		if !ok || len(w) != len(g) {
			return []string{fmt.Sprintf("%s: %v and %v", key, wire, graph)}
		}
		var found []string
		for i := range g {
			found = append(found, differences(key, w[i], g[i], compared)...)
		}
		return found
	}
	*compared++
	if w, g := plain(key, wire), plain(key, graph); w != g {
		return []string{fmt.Sprintf("%s: %v by REST, %v by GraphQL", key, wire, graph)}
	}
	return nil
}

var longLicense = map[string]string{
	"CC": "Creative Commons - Attribution", "CC_SA": "Creative Commons - Attribution - Share Alike",
	"PD0": "Creative Commons - Public Domain Dedication",
}

// alike undoes the special cases of REST: one object for a list of one, an array around one object,
// comments grouped by parent, and an empty object for null.
func alike(wire, graph any) (any, any) {
	list, isList := wire.([]any)
	nodes, hasNodes := graph.([]any)
	object, isObject := wire.(map[string]any)
	_, isNode := graph.(map[string]any)
	for _, key := range []string{"ids", "days"} { // REST returns only the value of this field
		if inner, ok := graph.(map[string]any); ok && isList && inner[key] != nil {
			return wire, inner[key]
		}
	}
	switch {
	case isList && isNode && len(list) == 1:
		return list[0], graph
	case isObject && hasNodes && len(nodes) == 1 && object["comments"] == nil:
		return wire, nodes[0]
	case wire == "" && graph == nil: // a missing text
		return nil, nil
	case isObject && len(object) == 0 && graph == nil:
		return nil, nil
	case isObject && hasNodes && object["comments"] != nil:
		byID := make(map[any]any)
		for _, thread := range object["comments"].(map[string]any) {
			for _, comment := range thread.([]any) {
				byID[fmt.Sprint(comment.(map[string]any)["id"])] = comment
			}
		}
		var flat []any
		for _, node := range nodes {
			flat = append(flat, byID[node.(map[string]any)["id"]])
		}
		return flat, graph
	}
	return wire, graph
}

// plain converts a value of either API to a common form, as the specification of the legacy wire
// format defines it.
func plain(key string, v any) string {
	text := fmt.Sprint(v)
	switch key {
	case "is_published", "is_wip", "needs_moderation", "is_printable":
		return map[string]string{"true": "1", "false": "0", "PUBLISHED": "1", "DRAFT": "0"}[text] +
			map[bool]string{true: text}[text == "0" || text == "1"]
	case "license":
		if long := longLicense[text]; long != "" {
			return long
		}
	case "default_license": // the code
		return strings.ReplaceAll(strings.ToLower(text), "_", "-")
	case "threejs_url":
		if v == nil {
			return "" // REST returns null as ""
		}
	case "hash":
		if raw, err := hex.DecodeString(text); err == nil {
			return base64.StdEncoding.EncodeToString(raw)
		}
	case "last_active": // saved every few seconds, and checked by TestLastActive
		return ""
	case "date", "added", "modified", "created_at", "registered", "time":
		for _, layout := range []string{time.RFC3339Nano, time.DateTime} {
			if at, err := time.Parse(layout, text); err == nil {
				// The two servers are called one after the other, so times differ slightly.
				return at.UTC().Truncate(time.Hour).String()
			}
		}
	}
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return u.Path
	}
	return text
}

// everything returns all data that a user can see, without times and URLs.
func everything(c *servertest.Client) string {
	const file = "id name kind state size contentType sha256 rank downloadCount creator { username }"
	var seen []string
	for id := 1; id < 9; id++ {
		r := c.GraphQL(`query ($id: ID!) {
			file(id: $id) { `+file+` target { __typename } }
			thing(id: $id) { name state license description isWip tags { name thingCount } category { name thingCount } likeCount collectCount remixCount commentCount rootCommentCount isFeatured isLiked ancestors { nodes { id } } comments { nodes { id body isDeleted parent { id } } } files { `+file+` } fileCount makeCount downloadCount }
			collection(id: $id) { name description thingCount things { totalCount nodes { id } } }
			comment(id: $id) { body isDeleted replyCount replies { nodes { id } } creator { username } }
			make(id: $id) { name state description likeCount commentCount likers { totalCount nodes { username } } files { `+file+` } thing { id } }
		}`, map[string]any{"id": id})
		seen = append(seen, string(r.Data))
	}
	r := c.GraphQL(`{ me { username firstName bio location defaultLicense thingCount makeCount likeCount collectionCount likedThings { nodes { id } } downloads { totalCount nodes { file { id } thing { id } } } downloadedThings { totalCount nodes { id } } } }`, nil)
	return strings.Join(append(seen, string(r.Data)), "\n")
}
