package graph

import (
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

// longTextsOf returns the long texts that an operation may read.
func longTextsOf(operation *ast.OperationDefinition) []models.LongText {
	needed := []models.LongText{}
	seen := make(map[*ast.FragmentDefinition]bool)
	var visit func(ast.SelectionSet)
	visit = func(set ast.SelectionSet) {
		for _, s := range set {
			switch s := s.(type) {
			case *ast.Field:
				if s.ObjectDefinition != nil {
					needed = append(needed, longTexts[s.ObjectDefinition.Name+"."+s.Name]...)
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
	return needed
}
