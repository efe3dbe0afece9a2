package graph

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/models"
)

// longTexts lists the long texts that each field needs. Where an interface has the field, the entry
// of the interface lists those of all its types.
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

// extras lists what is read with objects for each field, as longTexts does.
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
}

// parts lists the parts of the rows of objects that each field needs. All other fields need all
// parts, except those of the types in withoutParts.
var parts = map[string]models.Extra{
	"Query.things":   0,
	"Query.newest":   0,
	"Query.popular":  0,
	"Query.featured": 0,
	"Query.tag":      0,
	"Query.category": 0,

	"Thing.id":               0,
	"Thing.nodeId":           0,
	"Thing.name":             0,
	"Thing.state":            0,
	"Thing.createdAt":        0,
	"Thing.publishedAt":      0,
	"Thing.creator":          0,
	"Thing.files":            0,
	"Thing.tags":             0,
	"Thing.fileCount":        0,
	"Thing.defaultImage":     models.FilePreview | models.FileStates | models.FileOther,
	"Thing.isNsfw":           models.ThingOther,
	"Thing.isAiGenerated":    models.ThingOther,
	"Thing.license":          models.ThingOther,
	"Thing.isLiked":          0,
	"Thing.isCollected":      0,
	"Thing.makeCount":        models.ThingCounts,
	"Thing.commentCount":     models.ThingCounts,
	"Thing.rootCommentCount": models.ThingCounts,
	"Thing.likeCount":        models.ThingCounts,
	"Thing.collectCount":     models.ThingCounts,
	"Thing.remixCount":       models.ThingCounts,
	"Thing.viewCount":        models.ThingCounts,
	"Thing.downloadCount":    models.ThingDownloads,

	"User.id":              0,
	"User.nodeId":          0,
	"User.username":        0,
	"User.firstName":       0,
	"User.lastName":        0,
	"User.createdAt":       0,
	"User.avatarUrl":       0,
	"User.role":            0,
	"User.isFollowed":      0,
	"User.location":        models.UserOther,
	"User.coverUrl":        models.UserOther,
	"User.thingCount":      models.UserCounts,
	"User.makeCount":       models.UserCounts,
	"User.likeCount":       models.UserCounts,
	"User.collectionCount": models.UserCounts,
	"User.followerCount":   models.UserCounts,
	"User.followingCount":  models.UserCounts,

	"File.id":            0,
	"File.nodeId":        0,
	"File.name":          0,
	"File.kind":          0,
	"File.state":         0,
	"File.size":          0,
	"File.rank":          0,
	"File.createdAt":     0,
	"File.publicUrl":     0,
	"File.contentType":   models.FileOther,
	"File.sha256":        models.FileOther,
	"File.md5":           models.FileOther,
	"File.isAvailable":   models.FileOther,
	"File.note":          models.FileOther,
	"File.finalizedAt":   models.FileOther,
	"File.downloadCount": models.FileDownloads,
	"File.thumbnail":     models.FilePreview | models.FileStates | models.FileOther,

	"Tag.name":       0,
	"Tag.slug":       0,
	"Tag.things":     0,
	"Tag.thingCount": models.TagCounts,

	// The image of a thing was read with the parts that Thing.defaultImage needs.
	"MediaImage.id":          0,
	"MediaImage.name":        0,
	"MediaImage.rank":        0,
	"MediaImage.isRendering": 0,
	"MediaImage.url":         0,
	"MediaImage.thumbnail":   0,
	"MediaImage.createdAt":   0,
}

// withoutParts are types whose fields need no parts of the rows of things, users and files.
var withoutParts = []string{"ThingConnection", "ThingEdge", "PageInfo", "Image"}

// categoryFields are the fields of a category that do not need the tree of all categories.
var categoryFields = []string{"__typename", "id", "nodeId", "name", "slug", "parent", "things"}

// needsOf returns the long texts and the extras that an operation may read.
func needsOf(operation *ast.OperationDefinition) ([]models.LongText, models.Extra) {
	texts, needed, tree := []models.LongText{}, models.Extra(0), false
	seen := make(map[*ast.FragmentDefinition]bool)
	var visit func(ast.SelectionSet)
	visit = func(set ast.SelectionSet) {
		for _, s := range set {
			switch s := s.(type) {
			case *ast.Field:
				if s.ObjectDefinition != nil {
					field := s.ObjectDefinition.Name + "." + s.Name
					if part, known := parts[field]; known {
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
	return texts, needed
}

// has returns whether an extra was read with an object.
func has[O interface{ Has(models.Extra) bool }](extra models.Extra) func(O) bool {
	return func(o O) bool { return o.Has(extra) }
}

// readOrLoad returns what was read with each object if isRead holds for all of them, and otherwise
// what load returns.
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
