package rest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/rest/published"
)

// TestEveryPublishedOperation checks that each operation of the published interface is either
// served or refused with a reason.
func TestEveryPublishedOperation(t *testing.T) {
	served, refused := make(map[string]bool), make(map[string]bool)
	for _, r := range routes {
		served[published.Shape(r.method, r.path)] = true
	}
	for _, u := range unservedOperations {
		shape := published.Shape(u.method, u.path)
		if refused[shape] {
			t.Errorf("%s %s: twice among the refusals", u.method, u.path)
		}
		if u.reason == "" {
			t.Errorf("%s %s: refused without a reason", u.method, u.path)
		}
		refused[shape] = true
	}
	known := make(map[string]bool)
	for _, op := range published.Operations() {
		shape := published.Shape(op.Method, op.Path)
		known[shape] = true
		switch {
		case served[shape] && refused[shape]:
			t.Errorf("%s %s: served and refused: remove its row from unservedOperations", op.Method, op.Path)
		case !served[shape] && !refused[shape]:
			t.Errorf("%s %s: neither served nor refused", op.Method, op.Path)
		}
	}
	for shape := range refused {
		if !known[shape] {
			t.Errorf("%s: refused, but not part of the published interface", shape)
		}
	}
}

// misplaced are parameters of the published table that belong to other operations: a new comment
// has no id yet, and all notifications are marked as read at once.
var misplaced = map[string]bool{"POST /comments comment_id": true, "POST /events/0/read-all id": true}

// TestEveryPublishedParameter checks that the OpenAPI description lists and explains each parameter
// of the published interface.
func TestEveryPublishedParameter(t *testing.T) {
	text, err := OpenAPI(graph.New(nil), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tags() {
		if name["description"] == "" {
			t.Errorf("the group %s has no description", name["name"])
		}
	}
	type operation struct {
		Parameters []struct{ Name, Description string }
		Body       struct {
			Content map[string]struct {
				Schema struct {
					Properties map[string]struct{ Description string }
				}
			}
		} `json:"requestBody"`
	}
	var described struct {
		Paths map[string]map[string]operation
	}
	if err := json.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	known := make(map[string]map[string]bool) // by shape
	for path, methods := range described.Paths {
		for method, op := range methods {
			names := make(map[string]bool)
			check := func(name, description string) {
				names[name] = true
				if description == "" {
					t.Errorf("%s %s: %s has no description", method, path, name)
				}
			}
			for _, p := range op.Parameters {
				check(p.Name, p.Description)
			}
			for _, content := range op.Body.Content {
				for name, p := range content.Schema.Properties {
					check(name, p.Description)
				}
			}
			known[published.Shape(strings.ToUpper(method), path)] = names
		}
	}
	for _, op := range published.Operations() {
		names := known[published.Shape(op.Method, op.Path)]
		for _, p := range op.Parameters {
			_, rest, _ := strings.Cut(p, ":")
			name, _, _ := strings.Cut(strings.Replace(rest, "!", "", 1), ":")
			if names != nil && !names[name] && !misplaced[op.Method+" "+op.Path+" "+name] {
				t.Errorf("%s %s: the description lacks the parameter %s", op.Method, op.Path, name)
			}
		}
	}
}

// TestDocumentsListRefusals checks that the README names the first path segment of each refused
// operation, and that the guide lists each one with its reason.
func TestDocumentsListRefusals(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := Guide(graph.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range unservedOperations {
		if noun := strings.Split(u.path, "/")[1]; !strings.Contains(string(readme), "`/"+noun) {
			t.Errorf("the README does not name /%s", noun)
		}
		if row := "| `" + u.method + " " + u.path + "` | " + u.reason + " |"; !strings.Contains(string(guide), row) {
			t.Errorf("the guide lacks %s", row)
		}
	}
}

// TestDocumentsNameTheCallToFinalize checks that the OpenAPI description and the guide show which
// REST operation finalizes uploads. Readers need it because the published interface marks that
// operation as deprecated.
func TestDocumentsNameTheCallToFinalize(t *testing.T) {
	const call = "POST /files/0/FinalizeFiles"
	text, err := OpenAPI(graph.New(nil), "")
	if err != nil {
		t.Fatal(err)
	}
	var reference struct {
		Info  struct{ Description string }
		Paths map[string]map[string]struct{ Description string }
	}
	if err := json.Unmarshal(text, &reference); err != nil {
		t.Fatal(err)
	}
	guide, err := Guide(graph.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	for where, said := range map[string][2]string{
		"the reference begins":    {reference.Info.Description, call},
		"the guide begins":        {strings.Split(string(guide), "\n## ")[0], call},
		"FinalizeFiles":           {reference.Paths["/files/0/FinalizeFiles"]["post"].Description, "continues to support it"},
		"uploadFile":              {reference.Paths["/files/0/uploadFile"]["post"].Description, call},
		"the old way to finalize": {reference.Paths["/files/{file_id}/finalize"]["get"].Description, call},
	} {
		if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(said[0], "`", ""), "\n", " "), said[1]) {
			t.Errorf("%s without %q: %.300q", where, said[1], said[0])
		}
	}
}
