package graph

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/models"
)

// longTexts lists the long texts that each field reads. A field of an interface has the long texts
// of all types that implement it.
var longTexts = map[string][]models.LongText{
	"Thing.description":      {models.ThingDescription},
	"Thing.instructions":     {models.ThingInstructions},
	"Thing.detailsParts":     {models.ThingDetails},
	"Thing.printSettings":    {models.ThingDetails},
	"Make.description":       {models.MakeDescription},
	"Comment.body":           {models.CommentBody},
	"User.bio":               {models.UserBio},
	"Collection.description": {models.CollectionDescription},
	"SearchEdge.highlights":  {models.ThingDescription, models.MakeDescription, models.CollectionDescription},
}

// extras lists the extras that each field reads. As in longTexts, interface fields are listed too.
var extras = map[string]models.Extra{
	"Actor.avatarUrl":        models.UserAvatar,
	"User.avatarUrl":         models.UserAvatar,
	"User.isFollowed":        models.UserFollowed,
	"Likeable.isLiked":       models.ThingLiked,
	"Thing.isLiked":          models.ThingLiked,
	"Thing.isCollected":      models.ThingCollected,
	"Thing.isWatched":        models.ThingWatched,
	"Thing.descriptionHtml":  models.ThingDescriptionHTML,
	"Thing.instructionsHtml": models.ThingInstructionsHTML,
	"Thing.fileCount":        models.ThingFileCounts,
	"Thing.tags":             models.ThingTags,
	"Thing.category":         models.ThingCategory,
	"Attachable.creator":     models.ThingCreator,
	"Commentable.creator":    models.ThingCreator,
	"Likeable.creator":       models.ThingCreator,
	"Thing.creator":          models.ThingCreator,
}

// parts maps sets of column groups to the fields that need them. A field that is not listed needs
// all column groups, except fields of the types in withoutParts. The image of a thing is read with
// the groups that Thing.defaultImage needs.
var parts = map[models.Extra][]string{
	0: {
		"Query.things", "Query.newest", "Query.popular", "Query.featured", "Query.tag", "Query.category", "Query.makes", "Query.comments",
		"Query.collections", "Query.search", "Query.thing",
		"Thing.id", "Thing.nodeId", "Thing.name", "Thing.state", "Thing.createdAt", "Thing.publishedAt", "Thing.creator", "Thing.files",
		"Thing.tags", "Thing.fileCount", "Thing.isLiked", "Thing.isCollected", "Thing.description", "Thing.descriptionHtml", "Thing.comments",
		"Thing.makes", "Thing.remixes", "Thing.ancestors",
		"Make.id", "Make.nodeId", "Make.thing", "Make.creator", "Make.name", "Make.description", "Make.descriptionHtml", "Make.state",
		"Make.createdAt", "Make.updatedAt", "Make.publishedAt", "Make.isLiked", "Make.comments",
		"Comment.id", "Comment.nodeId", "Comment.creator", "Comment.body", "Comment.bodyHtml", "Comment.parent", "Comment.replies",
		"Comment.isDeleted", "Comment.createdAt",
		"Collection.id", "Collection.nodeId", "Collection.name", "Collection.description", "Collection.descriptionHtml", "Collection.creator",
		"Collection.visibility", "Collection.thingCount", "Collection.things", "Collection.isLiked", "Collection.likeCount",
		"Collection.createdAt", "Collection.updatedAt",
		"User.id", "User.nodeId", "User.username", "User.firstName", "User.lastName", "User.createdAt", "User.avatarUrl", "User.role",
		"User.isFollowed", "User.bio", "User.bioHtml", "User.things", "User.makes", "User.likedThings", "User.collections", "User.followers",
		"User.following",
		"File.id", "File.nodeId", "File.name", "File.kind", "File.state", "File.size", "File.rank", "File.createdAt", "File.publicUrl",
		"Tag.name", "Tag.slug", "Tag.things",
		"MediaImage.id", "MediaImage.name", "MediaImage.rank", "MediaImage.isRendering", "MediaImage.url", "MediaImage.thumbnail",
		"MediaImage.createdAt",
	},
	models.FilePreview | models.FileStates | models.FileOther: {
		"Thing.defaultImage", "Make.defaultImage", "Collection.cover", "File.thumbnail",
	},

	models.ThingOther: {
		"Thing.isNsfw", "Thing.isAiGenerated", "Thing.license", "Thing.isWip", "Thing.isDerivative", "Thing.isFeatured", "Thing.featuredAt",
		"Thing.updatedAt",
	},
	models.ThingCounts:    {"Thing.makeCount", "Thing.commentCount", "Thing.rootCommentCount", "Thing.likeCount", "Thing.collectCount", "Thing.remixCount", "Thing.viewCount"},
	models.ThingDownloads: {"Thing.downloadCount"},
	models.UserOther:      {"User.location", "User.coverUrl"},
	models.UserCounts:     {"User.thingCount", "User.makeCount", "User.likeCount", "User.collectionCount", "User.followerCount", "User.followingCount"},
	models.FileOther:      {"File.contentType", "File.sha256", "File.md5", "File.isAvailable", "File.note", "File.finalizedAt"},
	models.FileDownloads:  {"File.downloadCount"},
	models.TagCounts:      {"Tag.thingCount"},
	models.MakeCounts:     {"Make.likeCount", "Make.commentCount", "Make.rootCommentCount"},
	models.CommentOther:   {"Comment.replyCount", "Comment.updatedAt"},
}

// partsOf has the column groups that each listed field needs.
var partsOf = func() map[string]models.Extra {
	of := make(map[string]models.Extra)
	for part, fields := range parts {
		for _, field := range fields {
			of[field] = part
		}
	}
	return of
}()

// withoutParts are types whose fields need no columns of things, users and files.
var withoutParts = []string{
	"ThingConnection", "ThingEdge", "MakeConnection", "MakeEdge", "CommentConnection", "CommentEdge", "CollectionConnection", "CollectionEdge",
	"UserConnection", "UserEdge", "TagConnection", "TagEdge", "SearchConnection", "SearchEdge", "PageInfo", "Image",
}

// categoryFields are the fields of a category that do not need the complete category tree.
var categoryFields = []string{"__typename", "id", "nodeId", "name", "slug", "parent", "things"}

// needs are the long texts and the extras that an operation can read.
type needs struct {
	texts  []models.LongText
	extras models.Extra
}

// needsOf returns the needs of an operation.
func needsOf(operation *ast.OperationDefinition) needs {
	texts, needed, tree := []models.LongText{}, models.Extra(0), false
	seen := make(map[*ast.FragmentDefinition]bool)
	var visit func(ast.SelectionSet)
	visit = func(set ast.SelectionSet) {
		for _, s := range set {
			switch s := s.(type) {
			case *ast.Field:
				if s.ObjectDefinition != nil {
					field := s.ObjectDefinition.Name + "." + s.Name
					if part, known := partsOf[field]; known {
						needed |= part
					} else if s.Name != "__typename" && !slices.Contains(withoutParts, s.ObjectDefinition.Name) {
						needed |= models.AllParts
					}
					texts = append(texts, longTexts[field]...)
					needed |= extras[field]
					tree = tree || s.ObjectDefinition.Name == "Category" && !slices.Contains(categoryFields, s.Name)
				}
				visit(s.SelectionSet)
			case *ast.InlineFragment:
				visit(s.SelectionSet)
			case *ast.FragmentSpread:
				if !seen[s.Definition] {
					seen[s.Definition] = true
					visit(s.Definition.SelectionSet)
				}
			}
		}
	}
	visit(operation.SelectionSet)
	if tree {
		needed &^= models.ThingCategory
	}
	// Lists are slower if counts and avatars are joined too, and a biography would be read again for
	// each thing of the same creator.
	if needed&models.OfUser != 0 || slices.Contains(texts, models.UserBio) {
		needed &^= models.ThingCreator
	}
	return needs{texts, needed}
}

// has returns a function that reports whether an extra was read with an object.
func has[O interface{ Has(models.Extra) bool }](extra models.Extra) func(O) bool {
	return func(o O) bool { return o.Has(extra) }
}

// readOrLoad returns read of each object if isRead is true for all of them, otherwise the result of
// load.
func readOrLoad[O, V any](objs []O, isRead func(O) bool, read func(O) V, load func() ([]V, error)) ([]V, error) {
	values := make([]V, len(objs))
	for i, o := range objs {
		if !isRead(o) {
			return load()
		}
		values[i] = read(o)
	}
	return values, nil
}
