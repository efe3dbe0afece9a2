package server_test

// permission is a row of the matrix for each of its scenes: an operation, or a field, and how it is called on both faces. What stands as $name in the texts
// is taken from the scene, or is the caller's own: $mine a draft, $upload a pending upload, $shelf a collection.
type permission struct {
	field  string
	scenes string // separated by ", "; none: it is about nothing in particular
	ask    string // the GraphQL document. What is called `is` in its answer is what the row shows
	routes string // operations of the REST face that come to the same, separated by blanks
	body   string // of their requests
}

// Each table of the matrix, and its rows.
var permissions = []struct {
	title, about string
	rows         []permission
}{
	{"Looking at one object", lookingIs, []permission{
		{"Query.thing", things, `{ thing(id: $thing) { id } }`, "get_things_thing_id get_things_thing_id_tags get_things_thing_id_categories get_things_thing_id_likes", ""},
		{"Thing.files", things, `{ thing(id: $thing) { files(kinds: [MODEL]) { is: name } } }`, "get_things_thing_id_files", ""},
		{"Thing.files, one", things, `{ thing(id: $thing) { files(ids: [$file]) { id } } }`, "get_things_thing_id_files_file_id", ""},
		{"Thing.images, one", things, `{ thing(id: $thing) { images(ids: [$image]) { id } } }`, "get_things_thing_id_images_image_id", ""},
		{"Thing.takedown", "thing " + down, `{ thing(id: $thing) { takedown { is: reason } } }`, "", ""},
		{"Thing.popularity", "thing " + published, `{ thing(id: $thing) { popularity { score } } }`, "", ""},
		{"Query.file", filesAndUploads, `{ file(id: $file) { id } }`, "get_files_file_id", ""},
		{"Query.file, finalized", files, `{ file(id: $file) { directUrl } }`, "head_files_file_id_download", ""},
		{"File.target", files, `{ file(id: $file) { target { ... on Thing { is: name } ... on Make { is: name } ... on Comment { is: body parent { is: body } replies { nodes { is: body } } } } } }`, "", ""},
		{"File.thumbnail", things, `{ file(id: $file) { thumbnail { url } } }`, "", ""},
		{"File.mesh", things, `{ file(id: $file) { mesh { triangles } } }`, "", ""},
		{"File.processing", filesAndUploads, `{ file(id: $file) { processing { state } } }`, "", ""},
		{"Subscription.fileProcessing", filesAndUploads, `subscription { fileProcessing(id: $file) { state } }`, "", ""},
		{"Query.make", makes, `{ make(id: $copy) { id } }`, "get_copies_copy_id get_copies_copy_id_likes", ""},
		{"Make.thing", makes, `{ make(id: $copy) { thing { is: name } } }`, "", ""},
		{"Make.files", makes, `{ make(id: $copy) { files { is: name } } }`, "get_copies_copy_id_images", ""},
		{"Make.image", makes, `{ make(id: $copy) { image { is: name } } }`, "", ""},
		{"Make.comments", makes, `{ make(id: $copy) { comments { totalCount nodes { is: body } } } }`, "get_copies_copy_id_comments", ""},
		{"Query.comment", comments, `{ comment(id: $comment) { id } }`, "get_comments_comment_id", ""},
		{"Comment.target", comments, `{ comment(id: $comment) { target { ... on Thing { is: name } } } }`, "", ""},
		{"Comment.files", comments, `{ comment(id: $comment) { files { is: name } } }`, "", ""},
		{"Comment.parent", comments, `{ comment(id: $comment) { parent { is: body } } }`, "", ""},
		{"Comment.replies", comments, `{ comment(id: $comment) { replies { totalCount nodes { is: body } } } }`, "get_comments_comment_id_replies", ""},
		{"Query.collection", "collection", `{ collection(id: $collection) { id } }`, "get_collections_collection_id", ""},
		{"Query.user", "user, user suspended", `{ user(username: $user) { id } }`, "get_users_username", ""},
		{"User.email", "user", `{ user(username: $user) { is: email } }`, "", ""},
		{"User.usage", "user", `{ user(username: $user) { usage { is: __typename } } }`, "", ""},
		{"User.suspension", "user suspended", `{ user(username: $user) { suspension { is: reason } } }`, "", ""},
		{"Query.me", "", `{ me { id } }`, "", ""},
	}},
	{"Lists, and what objects lead to", catalogueIs, []permission{
		{"Query.things", "catalogue", `{ things(first: 100) { totalCount nodes { is: name } } }`, "", ""},
		{"Query.things, of a creator", "catalogue", `{ things(first: 100, filter: {creator: $user}) { totalCount nodes { is: name } } }`, "", ""},
		{"Query.things, that a user likes", "catalogue", `{ things(first: 100, filter: {likedById: $userid}) { totalCount nodes { is: name } } }`, "", ""},
		{"Query.things, that a user made", "catalogue", `{ things(first: 100, filter: {madeById: $userid}) { totalCount nodes { is: name } } }`, "", ""},
		{"Query.featured", "catalogue", `{ featured(perPage: 100) { is: name } }`, "get_featured", ""},
		{"Query.newest", "catalogue", `{ newest(perPage: 100) { is: name } }`, "get_newest", ""},
		{"Query.popular", "catalogue", `{ popular(perPage: 100) { is: name } }`, "get_popular", ""},
		{"Query.search, facets", "catalogue", `{ search(first: 100) { totalCount facets { tags { tag { is: slug } } creators { count } } nodes { __typename } } }`, "", ""},
		{"Query.search", "catalogue", `{ search(first: 100) { totalCount nodes { ... on Thing { is: name } } } }`, "get_search", ""},
		{"Query.search, for words", "catalogue", `{ search(query: $term, first: 100) { totalCount nodes { ... on Thing { is: name } } } }`, "get_search_term get_search_term_autocomplete", ""},
		{"Query.search, under a tag", "catalogue", `{ search(filter: {tag: $tag}, first: 100) { totalCount nodes { ... on Thing { is: name } } } }`, "get_search_tag_tag", ""},
		{"Query.search, of a creator", "catalogue", `{ search(query: $term, filter: {creator: $user}, first: 100) { totalCount nodes { ... on Thing { is: name } } } }`, "get_users_username_search_term", ""},
		{"Query.search, for makes", "catalogue", `{ search(type: MAKES, first: 100) { totalCount nodes { ... on Make { is: name } } } }`, "", ""},
		{"Query.search, for collections", "catalogue", `{ search(type: COLLECTIONS, first: 100) { totalCount nodes { ... on Collection { is: name } } } }`, "", ""},
		{"Query.suggestions", "catalogue", `{ is: suggestions(query: $term) }`, "", ""},
		{"Query.categories", "", `{ categories { id } }`, "get_categories", ""},
		{"Query.category", "catalogue", `{ category(slug: $slug) { id } }`, "get_categories_slug", ""},
		{"Category.things", "catalogue", `{ category(slug: $slug) { things(first: 100) { totalCount nodes { is: name } } } }`, "get_categories_slug_things", ""},
		{"Query.tags", "catalogue", `{ tags(first: 100) { totalCount nodes { is: name } } }`, "get_tags get_tags_0_popular", ""},
		{"Query.tag", "catalogue", `{ tag(name: $tag) { id: slug } }`, "get_tags_tag get_tags_tag_search_tags", ""},
		{"Query.tag, on drafts alone", "", `{ tag(name: "unheard of") { id: slug } }`, "", ""},
		{"Tag.things", "catalogue", `{ tag(name: $tag) { things(first: 100) { totalCount nodes { is: name } } } }`, "get_tags_tag_things", ""},
		{"Thing.image", "catalogue", `{ things(first: 100) { nodes { image { is: name } } } }`, "", ""},
		{"Thing.images", "catalogue", `{ thing(id: $thing) { images { is: name } } }`, "get_things_thing_id_images", ""},
		{"Thing.ancestors", "catalogue", `{ thing(id: $thing) { ancestors { totalCount nodes { is: name } } } }`, "get_things_thing_id_ancestors", ""},
		{"Thing.remixes", "catalogue", `{ thing(id: $thing) { remixes { totalCount nodes { is: name } } } }`, "get_things_thing_id_derivatives", ""},
		{"Thing.makes", "catalogue", `{ thing(id: $thing) { makes { totalCount nodes { is: name } } } }`, "get_things_thing_id_copies", ""},
		{"Thing.comments", "catalogue", `{ thing(id: $thing) { comments { totalCount nodes { is: body } } } }`, "get_things_thing_id_comments get_things_thing_id_root_comments get_things_thing_id_threaded_comments", ""},
		{"Mesh.duplicates", "catalogue", `{ thing(id: $thing) { files(kinds: [MODEL]) { mesh { duplicates(first: 100) { totalCount nodes { is: name } } } } } }`, "", ""},
		{"Query.makes", "catalogue", `{ makes(first: 100) { totalCount nodes { is: name } } }`, "get_copies", ""},
		{"Query.comments", "catalogue", `{ comments(first: 100) { totalCount nodes { is: body } } }`, "get_comments", ""},
		{"Query.collections", "catalogue", `{ collections(first: 100) { totalCount nodes { is: name } } }`, "get_collections", ""},
		{"Collection.things", "catalogue", `{ collection(id: $collection) { things(first: 100) { totalCount nodes { is: name } } } }`, "get_collections_collection_id_things", ""},
		{"User.things", "catalogue", `{ user(username: $user) { things(first: 100) { totalCount nodes { is: name } } } }`, "get_users_username_things", ""},
		{"User.makes", "catalogue", `{ user(username: $user) { makes(first: 100) { totalCount nodes { is: name } } } }`, "get_users_username_copies", ""},
		{"User.likedThings", "catalogue", `{ user(username: $user) { likedThings(first: 100) { totalCount nodes { is: name } } } }`, "get_users_username_likes get_users_username_favorites", ""},
		{"User.collections", "catalogue", `{ user(username: $user) { collections(first: 100) { totalCount nodes { is: name } } } }`, "get_users_username_collections", ""},
		{"User.followers", "catalogue", `{ user(username: $user) { followers { totalCount } } }`, "", ""},
		{"User.following", "catalogue", `{ user(username: $user) { following { totalCount } } }`, "", ""},
		{"User.downloads", "catalogue", `{ user(username: $user) { downloads(first: 100) { totalCount } } }`, "", ""},
		{"Download.thing", "catalogue", `{ user(username: $user) { downloads(first: 100) { totalCount nodes { thing { is: name } } } } }`, "", ""},
		{"Download.file", "catalogue", `{ user(username: $user) { downloads(first: 100) { totalCount nodes { file { is: name } } } } }`, "", ""},
		{"User.downloadedThings", "catalogue", `{ user(username: $user) { downloadedThings(first: 100) { totalCount nodes { is: name } } } }`, "get_users_username_downloads", ""},
		{"Query.tokens", "catalogue", `{ tokens(first: 100) { totalCount nodes { is: name } } }`, "", ""},
		{"AccessToken.application", "catalogue", `{ tokens(first: 100) { nodes { application { is: name } } } }`, "", ""},
	}},
	{"Changing things and what hangs on them", changingIs, []permission{
		{"Mutation.createThing", "", `mutation { createThing(input: {name: "new", license: CC, category: "Tools"}) { thing { id } } }`, "post_things", `{"name": "new", "license": "cc", "category": "Tools"}`},
		{"Mutation.createThing, from it", "thing " + draft + ", thing " + down, `mutation { createThing(input: {name: "new", license: CC, category: "Tools", ancestorIds: [$thing]}) { thing { id } } }`, "post_things", `{"name": "new", "license": "cc", "category": "Tools", "ancestors": [$thing]}`},
		{"Mutation.createThing, with it", "upload pending", `mutation { createThing(input: {name: "new", license: CC, category: "Tools", files: [{id: $file}]}) { thing { id } } }`, "post_things", `{"name": "new", "license": "cc", "category": "Tools", "files": [{"id": $file}]}`},
		{"Mutation.updateThing", things, `mutation { updateThing(input: {id: $thing, instructions: "changed"}) { thing { id } } }`, "patch_things_thing_id", `{"instructions": "changed"}`},
		{"Mutation.publishThing", things, `mutation { publishThing(input: {id: $thing}) { thing { id } } }`, "post_things_thing_id_publish", ""},
		{"Mutation.deleteThing", things, `mutation { deleteThing(input: {id: $thing}) { deletedId } }`, "delete_things_thing_id", ""},
		{"Mutation.uploadFile", "", `mutation ($bytes: Upload!) { uploadFile(input: {file: $bytes}) { file { id } } }`, "post_files_0_upload_file", ""},
		{"Mutation.stageUpload, onto it", things, `mutation { stageUpload(input: {name: "a.stl", target: {type: THING, id: $thing}}) { upload { fileId } } }`, "post_things_thing_id_files", `{"filename": "a.stl"}`},
		{"Mutation.stageUpload, onto it", makes, `mutation { stageUpload(input: {name: "a.stl", target: {type: MAKE, id: $copy}}) { upload { fileId } } }`, "post_copies_copy_id_images", `{"filename": "a.stl"}`},
		{"Mutation.stageUpload, onto it", comments, `mutation { stageUpload(input: {name: "a.stl", target: {type: COMMENT, id: $comment}}) { upload { fileId } } }`, "", ""},
		{"Mutation.finalizeFiles, of it", "upload pending", `mutation { finalizeFiles(input: {files: [{id: $file}], target: {type: THING, id: $mine}}) { files { id } } }`, finalizing, `{"pending_uploads": [{"id": $file}], "target_id": $mine, "target_type": "thing"}`},
		{"Mutation.finalizeFiles, onto it", things, `mutation { finalizeFiles(input: {files: [{id: $upload}], target: {type: THING, id: $thing}}) { target { __typename } } }`, finalizing, `{"pending_uploads": [{"id": $upload}], "target_id": $thing, "target_type": "thing"}`},
		{"Mutation.finalizeFiles, onto it", makes, `mutation { finalizeFiles(input: {files: [{id: $upload}], target: {type: MAKE, id: $copy}}) { target { __typename } } }`, finalizing, `{"pending_uploads": [{"id": $upload}], "target_id": $copy, "target_type": "make"}`},
		{"Mutation.finalizeFiles, onto it", comments, `mutation { finalizeFiles(input: {files: [{id: $upload}], target: {type: COMMENT, id: $comment}}) { files { id } } }`, finalizing, `{"pending_uploads": [{"id": $upload}], "target_id": $comment, "target_type": "comment"}`},
		{"Mutation.finalizeFile", "upload staged, upload pending, thing " + published, `mutation { finalizeFile(id: $file) { id } }`, "post_files_file_id_finalize get_files_file_id_finalize", ""},
		{"Mutation.deletePendingUpload", "upload pending, thing " + published, `mutation { deletePendingUpload(input: {id: $file}) { deletedId } }`, "", ""},
		{"Mutation.updateImage", things, `mutation { updateImage(input: {id: $image, target: {type: THING, id: $thing}, rank: 7}) { image { id } } }`, "patch_things_thing_id_images_image_id", `{"rank": 7}`},
		{"Mutation.deleteImage", things, `mutation { deleteImage(input: {id: $image, target: {type: THING, id: $thing}}) { deletedId } }`, "delete_things_thing_id_images_image_id", ""},
		{"Mutation.updateFile, of a thing", picturesAndUploads, `mutation { updateFile(input: {id: $image, target: {type: THING, id: $thing}, rank: 7}) { file { id } } }`, "", ""},
		{"Mutation.updateFile", filesAndUploads, `mutation { updateFile(input: {id: $file, rank: 7}) { file { id } } }`, "", ""},
		{"Mutation.deleteFile, of a thing", picturesAndUploads, `mutation { deleteFile(input: {id: $file, target: {type: THING, id: $thing}}) { deletedId } }`, "delete_things_thing_id_files_file_id", ""},
		{"Mutation.deleteFile", filesAndUploads, `mutation { deleteFile(input: {id: $file}) { deletedId } }`, "", ""},
		{"Mutation.recordDownload", filesAndUploads, `mutation { recordDownload(input: {fileId: $file}) { url } }`, "get_files_file_id_download", ""},
	}},
	{"Taking part", takingPartIs, []permission{
		{"Mutation.createMake", things, `mutation { createMake(input: {thingId: $thing, pictureName: "a.png"}) { upload { fileId } } }`, "post_things_thing_id_copies", `{"filename": "a.png"}`},
		{"Mutation.updateMake", makes, `mutation { updateMake(input: {id: $copy, description: "changed"}) { make { id } } }`, "patch_copies_copy_id", `{"description": "changed"}`},
		{"Mutation.deleteMake", makes, `mutation { deleteMake(input: {id: $copy}) { deletedId } }`, "delete_copies_copy_id", ""},
		{"Mutation.createComment, on it", things, `mutation { createComment(input: {target: {type: THING, id: $thing}, body: "new"}) { comment { id } } }`, "post_things_thing_id_comments post_comments", `{"body": "new", "target_type": "thing", "target_id": $thing}`},
		{"Mutation.createComment, on it", makes, `mutation { createComment(input: {target: {type: MAKE, id: $copy}, body: "new"}) { comment { id } } }`, "post_copies_copy_id_comments post_comments", `{"body": "new", "target_type": "make", "target_id": $copy}`},
		{"Mutation.createComment, in reply", comments, `mutation { createComment(input: {parentId: $comment, body: "new"}) { comment { id } } }`, "post_comments_comment_id_reply", `{"body": "new"}`},
		{"Mutation.updateComment", comments, `mutation { updateComment(input: {id: $comment, body: "changed"}) { comment { id } } }`, "patch_comments_comment_id", `{"body": "changed"}`},
		{"Mutation.deleteComment", comments, `mutation { deleteComment(input: {id: $comment}) { comment { id } } }`, "delete_comments_comment_id", ""},
		{"Mutation.addLike", things, `mutation { addLike(input: {target: {type: THING, id: $thing}}) { target { __typename } } }`, "post_things_thing_id_likes", ""},
		{"Mutation.addLike", makes, `mutation { addLike(input: {target: {type: MAKE, id: $copy}}) { target { __typename } } }`, "post_copies_copy_id_likes", ""},
		{"Mutation.removeLike", things, `mutation { removeLike(input: {target: {type: THING, id: $thing}}) { target { __typename } } }`, "delete_things_thing_id_likes", ""},
		{"Mutation.removeLike", makes, `mutation { removeLike(input: {target: {type: MAKE, id: $copy}}) { target { __typename } } }`, "delete_copies_copy_id_likes", ""},
		{"Mutation.createCollection", "", `mutation { createCollection(input: {name: "collection"}) { collection { id } } }`, "post_collections", `{"name": "collection"}`},
		{"Mutation.updateCollection", "collection", `mutation { updateCollection(input: {id: $collection, description: "changed"}) { collection { id } } }`, "patch_collections_collection_id", `{"description": "changed"}`},
		{"Mutation.deleteCollection", "collection", `mutation { deleteCollection(input: {id: $collection}) { deletedId } }`, "delete_collections_collection_id", ""},
		{"Mutation.addToCollection, it", things, `mutation { addToCollection(input: {collectionId: $shelf, thingId: $thing}) { collection { id } } }`, "post_collections_collection_id_thing_thing_id", ""},
		{"Mutation.addToCollection, to it", "collection", `mutation { addToCollection(input: {collectionId: $collection, thingId: $mine}) { collection { id } } }`, "post_collections_collection_id_thing_thing_id", ""},
		{"Mutation.removeFromCollection, it", things, `mutation { removeFromCollection(input: {collectionId: $shelf, thingId: $thing}) { collection { id } } }`, "delete_collections_collection_id_thing_thing_id", ""},
		{"Mutation.removeFromCollection, from it", "collection", `mutation { removeFromCollection(input: {collectionId: $collection, thingId: $mine}) { collection { id } } }`, "delete_collections_collection_id_thing_thing_id", ""},
		{"Mutation.updateProfile", "user", `mutation { updateProfile(input: {username: $user, bio: "changed"}) { user { id } } }`, "patch_users_username", `{"bio": "changed"}`},
		{"Mutation.followUser", "user", `mutation { followUser(input: {username: $user}) { user { id } } }`, "", ""},
		{"Mutation.unfollowUser", "user", `mutation { unfollowUser(input: {username: $user}) { user { id } } }`, "", ""},
		{"Mutation.createToken, that writes", "", `mutation { createToken(input: {name: "new", scopes: [WRITE]}) { secret } }`, "", ""},
		{"Mutation.createToken, for the staff", "", `mutation { createToken(input: {name: "new", scopes: [ADMIN]}) { secret } }`, "", ""},
		{"Mutation.revokeToken", "token", `mutation { revokeToken(input: {id: $token}) { token { id } } }`, "", ""},
	}},
	{"What the staff does", staffIs, []permission{
		{"Query.moderationLog", "catalogue", `{ moderationLog(first: 100) { totalCount } }`, "", ""},
		{"ModerationEntry.thing", "catalogue", `{ moderationLog(last: 100) { nodes { thing { is: name } } } }`, "", ""},
		{"Query.deprecatedCalls", "catalogue", `{ deprecatedCalls { operation } }`, "", ""},
		{"Query.applications", "", `{ applications { id: clientId } }`, "", ""},
		{"Mutation.featureThing", things, `mutation { featureThing(input: {id: $thing}) { thing { id } } }`, "", ""},
		{"Mutation.takeDownThing", things, `mutation { takeDownThing(input: {id: $thing, reason: "because"}) { thing { id } } }`, "", ""},
		{"Mutation.restoreThing", things, `mutation { restoreThing(input: {id: $thing, reason: "because"}) { thing { id } } }`, "", ""},
		{"Mutation.suspendUser", "user member, user moderator", `mutation { suspendUser(input: {username: $user, reason: "because"}) { user { id } } }`, "", ""},
		{"Mutation.restoreUser", "user suspended", `mutation { restoreUser(input: {username: $user, reason: "because"}) { user { id } } }`, "", ""},
		{"Mutation.setUserRole", "user member, user moderator", `mutation { setUserRole(input: {username: $user, role: MODERATOR, reason: "because"}) { user { id } } }`, "", ""},
		{"Mutation.createApplication", "", `mutation { createApplication(input: {name: "program", redirectUris: []}) { application { id: clientId } } }`, "", ""},
		{"Mutation.deleteApplication", "application", `mutation { deleteApplication(input: {clientId: $app}) { deletedClientId } }`, "", ""},
	}},
}

// The scenes of rows that are about the same.
const (
	things             = "thing " + published + ", thing " + draft + ", thing " + down
	makes              = "make " + published + ", make " + draft + ", make " + down
	comments           = "comment " + published + ", comment " + draft + ", comment " + down
	files              = things + ", make " + published + ", make " + down + ", " + comments
	filesAndUploads    = files + ", upload pending, upload staged"
	picturesAndUploads = things + ", upload pending, upload staged"
	finalizing         = "post_files_0_finalize_files"
)
