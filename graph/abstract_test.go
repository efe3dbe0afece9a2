package graph_test

import (
	"slices"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/link"
	"github.com/meshyard/meshyard/models/moderation"
	"github.com/meshyard/meshyard/models/printer"
	"github.com/meshyard/meshyard/models/social"
	"github.com/meshyard/meshyard/models/webhook"
)

func is[I any](object any) bool {
	_, ok := object.(I)
	return ok
}

// TestAbstractTypes checks that the Go interfaces of the interfaces and unions of the schema are
// implemented by the objects in the schema, and by no other ones.
func TestAbstractTypes(t *testing.T) {
	implements := map[string]func(any) bool{
		"Node": is[model.Node], "Actor": is[model.Actor], "Attachable": is[model.Attachable],
		"Commentable": is[model.Commentable],
		"Likeable":    is[model.Likeable], "FeedItem": is[model.FeedItem], "SearchHit": is[model.SearchHit],
		"ReportTarget":       is[model.ReportTarget],
		"NotificationTarget": is[model.NotificationTarget],
	}
	objects := map[string]any{
		"Thing": new(models.Thing), "Make": new(models.Make), "Comment": new(models.Comment),
		"Collection": new(models.Collection),
		"User":       new(models.User), "File": new(models.File), "Category": new(models.Category), "Tag": new(models.Tag),
		"Notification": new(social.Notification), "Report": new(moderation.Report), "Webhook": new(webhook.Webhook),
		"Session":         new(account.Session),
		"WebhookDelivery": new(webhook.Delivery), "AccessToken": new(account.Token),
		"ModerationEntry": new(models.ModerationEntry),
		"LinkImport":      new(link.Import), "Printer": new(printer.Printer), "PrintJob": new(printer.Job),
	}
	schema := graph.New(nil).Schema()
	for name, definition := range schema.Types {
		if !definition.IsAbstractType() {
			continue
		}
		if implements[name] == nil {
			t.Errorf("%s is not tested", name)
			continue
		}
		possible := schema.GetPossibleTypes(definition)
		for _, object := range possible {
			if objects[object.Name] == nil {
				t.Errorf("%s is not tested", object.Name)
			}
		}
		for object, value := range objects {
			want := slices.ContainsFunc(possible, func(d *ast.Definition) bool { return d.Name == object })
			if got := implements[name](value); got != want {
				t.Errorf("%s implements %s: got %t, want %t", object, name, got, want)
			}
		}
	}
}
