package graphql_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestFieldsAlone checks that each field of the objects in lists has the same value if it is
// selected alone, so that the query reads only some columns, as if it is selected together with all
// others.
func TestFieldsAlone(t *testing.T) {
	schema := graph.New(nil).Schema()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		g := &gallery{s: s, db: servertest.OpenDB(t, s)}
		thing := ada.Thing("Gear")
		model := ada.Upload("a.stl", []byte("solid a"))
		vars := servertest.Object{
			"id": fmt.Sprint(thing), "file": servertest.ID(model),
			"avatar": servertest.ID(ada.Upload("a.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))),
			"cover":  servertest.ID(ada.Upload("c.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))),
		}
		ada.Finalize("thing", thing, model).Want(t, 200)
		ada.Query(`mutation ($id: ID!, $file: ID!, $avatar: ID!, $cover: ID!) {
			updateThing(input: {id: $id, tags: ["Gear"], isNsfw: true, isAiGenerated: true, license: PD0, description: "Text."}) { thing { id } }
			updateFile(input: {id: $file, note: "A note.", rank: 3}) { file { id } }
			publishThing(input: {id: $id}) { thing { id } }
			updateProfile(input: {avatarId: $avatar, coverId: $cover, firstName: "Ada", lastName: "Lovelace", location: "London", defaultLicense: PD0}) { user { id } }
		}`, vars, new(any))
		bob.Query(`mutation ($id: ID!) {
			likeThing(input: {id: $id}) { thing { id } }
			followUser(input: {username: "ada"}) { user { id } }
			createComment(input: {target: {type: THING, id: $id}, body: "Nice."}) { comment { id } }
		}`, vars, new(any))
		bob.Do("GET", "/files/"+servertest.ID(model)+"/download", nil).Want(t, 302)
		g.exec(t, "UPDATE previews SET state = 'done', picture = 'png', width = 640, height = 480, threejs = true, glb = true")
		g.exec(t, "UPDATE things SET view_count = 5, remix_count = 4, make_count = 3, collect_count = 2, featured_at = published_at")
		for _, counts := range []string{"changed", "folded"} {
			for typeName, path := range map[string][]string{
				"Thing":      {},
				"User":       {"creator"},
				"File":       {"files"},
				"MediaImage": {"defaultImage"},
				"Image":      {"defaultImage", "thumbnail"},
				"Tag":        {"tags"},
			} {
				var fields []string
				for _, f := range schema.Types[typeName].Fields {
					switch {
					case f.Name == "popularity", f.Name == "recommendedTags": // bob may not read them
					case f.Name == "openIn": // each link is another one
					case f.Arguments.ForName("first") == nil && f.Arguments.ForName("from") == nil:
						fields = append(fields, selection(schema, f))
					}
				}
				read := func(selected string) map[string]json.RawMessage {
					t.Helper()
					for _, field := range slices.Backward(path) {
						selected = field + " { " + selected + " }"
					}
					var response struct {
						Things struct{ Nodes json.RawMessage }
					}
					bob.Query(`{ things(first: 1) { nodes { `+selected+` } } }`, nil, &response)
					values := onlyObject(t, response.Things.Nodes)
					for _, field := range path {
						values = onlyObject(t, values[field])
					}
					return values
				}
				whole := read(strings.Join(fields, " "))
				if len(whole) != len(fields) {
					t.Fatalf("%s: %d values of %d fields", typeName, len(whole), len(fields))
				}
				for _, field := range fields {
					name, _, _ := strings.Cut(field, " ")
					if d := cmp.Diff(string(whole[name]), string(read(field)[name])); d != "" {
						t.Errorf("counts %s: %s.%s is another alone (-together +alone):\n%s", counts, typeName, name, d)
					}
				}
			}
			s.Fold()
		}
	})
}

// onlyObject decodes an object, or the only object of a list.
func onlyObject(t *testing.T, text json.RawMessage) map[string]json.RawMessage {
	t.Helper()
	list := []map[string]json.RawMessage{{}}
	if strings.HasPrefix(string(text), "{") {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	if err := json.Unmarshal(text, &list); err != nil || len(list) != 1 {
		t.Fatalf("%d objects in %s: %v", len(list), text, err)
	}
	return list[0]
}

// selection returns the selection of a field. Of an object it selects the ID or, if it has none,
// its fields without a selection set.
func selection(schema *ast.Schema, f *ast.FieldDefinition) string {
	of := schema.Types[f.Type.Name()]
	if of.IsLeafType() {
		return f.Name
	}
	if of.Fields.ForName("id") != nil {
		return f.Name + " { id }"
	}
	inner := []string{"__typename"}
	for _, f := range of.Fields {
		if schema.Types[f.Type.Name()].IsLeafType() {
			inner = append(inner, f.Name)
		}
	}
	return f.Name + " { " + strings.Join(inner, " ") + " }"
}
