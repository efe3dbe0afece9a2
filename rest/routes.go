package rest

import (
	"net/http"

	"github.com/meshyard/meshyard/rest/wire"
)

// route maps a documented operation to the stored document of the same name.
type route struct {
	method, path string
	operation    string
	responder    responder
	deprecated   *deprecation
}

const (
	get   = http.MethodGet // also HEAD, which is rejected if the operation changes data
	head  = http.MethodHead
	post  = http.MethodPost
	patch = http.MethodPatch
	del   = http.MethodDelete
)

// routes is the complete REST API. Every path is served with and without a trailing slash. The only
// other operation is the upload by form, which streams its file and needs no token; see form.go.
var routes = []route{
	{post, "/things", "post_things", payload[wire.ThingSchema](), nil},
	{get, "/things/{thing_id}", "get_things_thing_id", one[wire.ThingSchema](), nil},
	{patch, "/things/{thing_id}", "patch_things_thing_id", payload[wire.ThingSchema](), nil},
	{del, "/things/{thing_id}", "delete_things_thing_id", ok, nil},
	{post, "/things/{thing_id}/publish", "post_things_thing_id_publish", payload[wire.ThingSchema](), nil},
	{get, "/things/{thing_id}/files", "get_things_thing_id_files", fullList[wire.FileSchema](), nil},
	{post, "/things/{thing_id}/files", "post_things_thing_id_files", payload[wire.FormSchema](), nil},
	{get, "/things/{thing_id}/files/{file_id}", "get_things_thing_id_files_file_id",
		first("file", func(_ *http.Request, f *wire.FileSchema) *wire.FileSchema { return f }), nil},
	{del, "/things/{thing_id}/files/{file_id}", "delete_things_thing_id_files_file_id", ok, nil},
	{get, "/things/{thing_id}/images", "get_things_thing_id_images", images, nil},
	{get, "/things/{thing_id}/images/{image_id}", "get_things_thing_id_images_image_id", image, nil},
	{patch, "/things/{thing_id}/images/{image_id}", "patch_things_thing_id_images_image_id", ok, nil},
	{del, "/things/{thing_id}/images/{image_id}", "delete_things_thing_id_images_image_id", ok, nil},
	{get, "/things/{thing_id}/likes", "get_things_thing_id_likes", page[wire.UserSummary](), nil},
	{post, "/things/{thing_id}/likes", "post_things_thing_id_likes", ok, nil},
	{del, "/things/{thing_id}/likes", "delete_things_thing_id_likes", ok, nil},
	{get, "/things/{thing_id}/tags", "get_things_thing_id_tags", fullList[wire.Tag](), nil},
	{get, "/things/{thing_id}/categories", "get_things_thing_id_categories", fullList[wire.CategorySchema](), nil},
	{get, "/things/{thing_id}/ancestors", "get_things_thing_id_ancestors", page[wire.FullThingSchema](), nil},
	{get, "/things/{thing_id}/derivatives", "get_things_thing_id_derivatives", page[wire.FullThingSchema](), nil},
	{get, "/things/{thing_id}/copies", "get_things_thing_id_copies", page[wire.CopySchema](), nil},
	{post, "/things/{thing_id}/copies", "post_things_thing_id_copies", payload[wire.FormSchema](), nil},
	{get, "/things/{thing_id}/comments", "get_things_thing_id_comments", page[wire.CommentSchema](), nil},
	{post, "/things/{thing_id}/comments", "post_things_thing_id_comments", payload[wire.CommentSchema](), nil},
	{get, "/things/{thing_id}/root-comments", "get_things_thing_id_root_comments", page[wire.CommentSchema](), nil},
	{get, "/things/{thing_id}/threaded-comments", "get_things_thing_id_threaded_comments", threads, nil},
	{get, "/things/0/random", "get_things_0_random", bareList[wire.ShortThingSchema](), nil},
	{get, "/things/{thing_id}/package-url", "get_things_thing_id_package_url", one[wire.PackageSchema](), nil},
	{get, "/things/{thing_id}/prints", "get_things_thing_id_prints", page[wire.CopySchema](), nil},
	{del, "/things/{thing_id}/collections", "delete_things_thing_id_collections", ok, nil},
	{post, "/things/{thing_id}/toggle-watch", "post_things_thing_id_toggle_watch", one[wire.WatchedSchema](), nil},

	{post, "/files/0/uploadFile", "post_files_0_upload_file", payload[wire.IDSchema](), nil},
	{post, "/files/0/FinalizeFiles", "post_files_0_finalize_files", ok, toGraphQL},
	{get, "/files/{file_id}", "get_files_file_id", one[wire.FileSchema](), nil},
	{get, "/files/{file_id}/download", "get_files_file_id_download", redirect, nil},
	{head, "/files/{file_id}/download", "head_files_file_id_download", headRedirect, nil},
	{get, "/files/{file_id}/finalize", "get_files_file_id_finalize", fileOrImage, toFinalizeFiles},
	{post, "/files/{file_id}/finalize", "post_files_file_id_finalize", fileOrImage, toFinalizeFiles},

	{get, "/featured", "get_featured", page[wire.FeaturedSchema](), toFeatured},
	{get, "/newest", "get_newest", page[wire.ShortThingSchema](), toNewest},
	{get, "/popular", "get_popular", page[wire.ShortThingSchema](), toPopular},
	{get, "/search", "get_search", searchPage, nil},
	{get, "/search/{term}", "get_search_term", searchPage, nil},
	{get, "/search/{tag}/tag", "get_search_tag_tag", searchPage, nil},
	{get, "/search/{term}/autocomplete", "get_search_term_autocomplete", searchPage, nil},

	{get, "/users/{username}", "get_users_username", one[wire.UserSchema](), nil},
	{patch, "/users/{username}", "patch_users_username", payload[wire.UserSchema](), nil},
	{del, "/users/{username}", "delete_users_username", ok, nil},
	{post, "/users/{username}/avatar-image", "post_users_username_avatar_image", payload[wire.FormSchema](), nil},
	{post, "/users/{username}/cover-image", "post_users_username_cover_image", payload[wire.FormSchema](), nil},
	{get, "/users/{username}/things", "get_users_username_things", page[wire.FullThingSchema](), nil},
	{get, "/users/{username}/likes", "get_users_username_likes", page[wire.FullThingSchema](), nil},
	{get, "/users/{username}/favorites", "get_users_username_favorites", page[wire.FullThingSchema](), nil},
	{get, "/users/{username}/copies", "get_users_username_copies", page[wire.CopySchema](), nil},
	{get, "/users/{username}/collections", "get_users_username_collections", page[wire.CollectionSchema](), nil},
	{get, "/users/{username}/downloads", "get_users_username_downloads", page[wire.ThingSchema](), nil},
	{get, "/users/{username}/search/{term}", "get_users_username_search_term", searchPage, nil},
	{get, "/users/{username}/search", "get_users_username_search", searchPage, nil},
	{get, "/users/{username}/collections/all", "get_users_username_collections_all", page[wire.CollectionSchema](), nil},
	{get, "/users/{username}/collections/true", "get_users_username_collections_true", page[wire.CollectionSchema](), nil},
	{get, "/users/{username}/collections/false", "get_users_username_collections_false",
		page[wire.CollectionSchema](), nil},
	{get, "/users/{username}/followers", "get_users_username_followers", page[wire.UserSummary](), nil},
	{post, "/users/{username}/followers", "post_users_username_followers", ok, nil},
	{del, "/users/{username}/followers", "delete_users_username_followers", ok, nil},
	{get, "/users/{username}/following", "get_users_username_following", page[wire.UserSummary](), nil},
	{get, "/users/{username}/likesids", "get_users_username_likesids", bareIDs, nil},
	{get, "/users/{username}/all-collected-things", "get_users_username_all_collected_things",
		one[wire.CollectedSchema](), nil},
	{get, "/users/{username}/unread-message-count", "get_users_username_unread_message_count", listLength, nil},
	{get, "/users/{username}/event-count", "get_users_username_event_count", listLength, nil},
	{get, "/users/{username}/stats-by-day/{startDate}/{endDate}", "get_users_username_stats_by_day", stats, nil},
	{get, "/users/{username}/stats-by-thing/{startDate}/{endDate}", "get_users_username_stats_by_thing", stats, nil},
	{get, "/users/{username}/recommended-things", "get_users_username_recommended_things",
		page[wire.FullThingSchema](), nil},
	{get, "/users/{username}/recommended-tags", "get_users_username_recommended_tags", fullList[wire.Tag](), nil},
	{get, "/users/{username}/groups", "get_users_username_groups", emptyList, nil},

	{get, "/copies", "get_copies", page[wire.CopySchema](), nil},
	{get, "/copies/{copy_id}", "get_copies_copy_id", one[wire.CopySchema](), nil},
	{patch, "/copies/{copy_id}", "patch_copies_copy_id", payload[wire.CopySchema](), nil},
	{del, "/copies/{copy_id}", "delete_copies_copy_id", ok, nil},
	{get, "/copies/{copy_id}/images", "get_copies_copy_id_images", imageSummaries, nil},
	{post, "/copies/{copy_id}/images", "post_copies_copy_id_images", payload[wire.FormSchema](), nil},
	{patch, "/copies/{copy_id}/images/{image_id}", "patch_copies_copy_id_images_image_id", ok, nil},
	{del, "/copies/{copy_id}/images/{image_id}", "delete_copies_copy_id_images_image_id", ok, nil},
	{get, "/copies/{copy_id}/likes", "get_copies_copy_id_likes", page[wire.UserSummary](), nil},
	{post, "/copies/{copy_id}/likes", "post_copies_copy_id_likes", ok, nil},
	{del, "/copies/{copy_id}/likes", "delete_copies_copy_id_likes", ok, nil},
	{get, "/copies/{copy_id}/comments", "get_copies_copy_id_comments", page[wire.CommentSchema](), nil},
	{post, "/copies/{copy_id}/comments", "post_copies_copy_id_comments", payload[wire.CommentSchema](), nil},
	{get, "/copies/{copy_id}/root-comments", "get_copies_copy_id_root_comments", page[wire.CommentSchema](), nil},
	{get, "/copies/{copy_id}/threaded-comments", "get_copies_copy_id_threaded_comments", threads, nil},
	{post, "/copies/{copy_id}/toggle-watch", "post_copies_copy_id_toggle_watch", one[wire.WatchedSchema](), nil},
	{post, "/copies/{copy_id}/restore", "post_copies_copy_id_restore", payload[wire.CopySchema](), nil},

	{get, "/comments", "get_comments", page[wire.CommentSchema](), nil},
	{post, "/comments", "post_comments", payload[wire.CommentSchema](), nil},
	{get, "/comments/{comment_id}", "get_comments_comment_id", one[wire.CommentSchema](), nil},
	{patch, "/comments/{comment_id}", "patch_comments_comment_id", payload[wire.CommentSchema](), nil},
	{del, "/comments/{comment_id}", "delete_comments_comment_id", ok, nil},
	{get, "/comments/{comment_id}/replies", "get_comments_comment_id_replies", page[wire.CommentSchema](), nil},
	{post, "/comments/{comment_id}/reply", "post_comments_comment_id_reply", payload[wire.CommentSchema](), nil},
	{post, "/comments/{comment_id}/restore", "post_comments_comment_id_restore", payload[wire.CommentSchema](), nil},
	{post, "/comments/{comment_id}/spam", "post_comments_comment_id_spam", payload[wire.CommentSchema](), nil},
	{post, "/comments/0/markdown", "post_comments_0_markdown", bareText, nil},

	{get, "/categories", "get_categories", categories, nil},
	{get, "/categories/{slug}", "get_categories_slug", one[wire.CategorySchema](), nil},
	{get, "/categories/{slug}/things", "get_categories_slug_things", page[wire.FullThingSchema](), nil},
	{get, "/tags", "get_tags", page[wire.Tag](), nil},
	{get, "/tags/0/popular", "get_tags_0_popular", page[wire.Tag](), nil},
	{get, "/tags/{tag}", "get_tags_tag", one[wire.Tag](), nil},
	{get, "/tags/{tag}/things", "get_tags_tag_things", page[wire.FullThingSchema](), nil},
	{get, "/tags/{tag}/search-tags", "get_tags_tag_search_tags", page[wire.SearchTagSchema](), nil},

	{get, "/collections", "get_collections", page[wire.CollectionSchema](), nil},
	{post, "/collections", "post_collections", payload[wire.CollectionSchema](), nil},
	{get, "/collections/{collection_id}", "get_collections_collection_id", one[wire.CollectionSchema](), nil},
	{patch, "/collections/{collection_id}", "patch_collections_collection_id", payload[wire.CollectionSchema](), nil},
	{del, "/collections/{collection_id}", "delete_collections_collection_id", ok, nil},
	{get, "/collections/{collection_id}/things", "get_collections_collection_id_things", page[wire.CollectedThing](), nil},
	{post, "/collections/{collection_id}/thing/{thing_id}", "post_collections_collection_id_thing_thing_id", ok, nil},
	{del, "/collections/{collection_id}/thing/{thing_id}", "delete_collections_collection_id_thing_thing_id",
		removedThing, nil},
	{post, "/collections/{collection_id}/move/{thing_id}", "post_collections_collection_id_move_thing_id", ok, nil},
	{post, "/collections/{collection_id}/like", "post_collections_collection_id_like", one[wire.LikedSchema](), nil},
	{post, "/collections/{collection_id}/watch", "post_collections_collection_id_watch", one[wire.WatchedSchema](), nil},
	{get, "/collections/{thing_id}/by-thing-id", "get_collections_thing_id_by_thing_id",
		first("collection", func(_ *http.Request, c *wire.CollectionSchema) *wire.CollectionSchema { return c }), nil},

	{post, "/thingops/{ids}/copy", "post_thingops_ids_copy", one[wire.IDsSchema](), nil},
	{post, "/thingops/{ids}/move", "post_thingops_ids_move", one[wire.IDsSchema](), nil},
	{post, "/thingops/{ids}/remove", "post_thingops_ids_remove", one[wire.IDsSchema](), nil},

	{get, "/events", "get_events", page[wire.EventSchema](), nil},
	{get, "/events/{id}", "get_events_id", one[wire.EventSchema](), nil},
	{del, "/events/{id}", "delete_events_id", ok, nil},
	{post, "/events/0/read-all", "post_events_0_read_all", ok, nil},

	{get, "/groups", "get_groups", emptyList, nil},
	{get, "/printers/0/brands", "get_printers_0_brands", emptyList, nil},
	{get, "/printers/0/models", "get_printers_0_models", emptyList, nil},
	{get, "/programs/0/all", "get_programs_0_all", noPrograms, nil},
}

// Operations returns the names of the operations of all routes, in the order of the table.
func Operations() []string {
	names := make([]string, len(routes))
	for i, r := range routes {
		names[i] = r.operation
	}
	return names
}

// Paths returns the paths of all routes, in the order of the table.
func Paths() []string {
	paths := make([]string, len(routes))
	for i, r := range routes {
		paths[i] = r.path
	}
	return paths
}
