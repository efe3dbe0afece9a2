package graphql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestObjectsByNodeID checks that every object can be queried by its nodeId, that hidden objects
// cannot, and that fields of interfaces need no fragments.
func TestObjectsByNodeID(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing, hidden := ada.Thing("Bracket"), ada.Thing("Draft")
		ada.Finalize("thing", thing, ada.Upload("a.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")))
		ada.Publish(thing)
		bob.Query(`mutation { createComment(input: {target: {type: THING, id: 1}, body: "Nice."}) { comment { id } } createMake(input: {thingId: 1, name: "Mine"}) { make { id } }
			createCollection(input: {name: "Best"}) { collection { id } } likeThing(input: {id: 1}) { thing { id } } }`, nil, new(any))
		var objects map[string]struct{ NodeID, Typename string }
		ada.Query(`query ($hidden: ID!) { hidden: thing(id: $hidden) { nodeId typename: __typename } }`,
			servertest.Object{"hidden": servertest.ID(hidden)}, &objects)
		draft := objects["hidden"].NodeID
		clear(objects)
		bob.Query(`{ thing(id: 1) { nodeId typename: __typename } make(id: 1) { nodeId typename: __typename } comment(id: 1) { nodeId typename: __typename }
			collection(id: 1) { nodeId typename: __typename } user(username: "ada") { nodeId typename: __typename } file(id: 1) { nodeId typename: __typename }
			category(slug: "art") { nodeId typename: __typename } }`, nil, &objects)
		ids := []string{}
		for name, o := range objects {
			var found struct {
				Node struct{ NodeID, Typename string }
			}
			bob.Query(`query ($id: ID!) { node(nodeId: $id) { nodeId typename: __typename } }`,
				servertest.Object{"id": o.NodeID}, &found)
			if found.Node != o || o.NodeID == "" {
				t.Errorf("%s: got %+v, want %+v", name, found.Node, o)
			}
			ids = append(ids, o.NodeID)
		}
		var found struct{ Nodes []*struct{ NodeID string } }
		bob.Query(`query ($ids: [ID!]!) { nodes(nodeIds: $ids) { nodeId } }`,
			servertest.Object{"ids": append(ids, draft, "nonsense")}, &found)
		for i, id := range ids {
			if found.Nodes[i] == nil || found.Nodes[i].NodeID != id {
				t.Errorf("node %d: got %+v, want %s", i, found.Nodes[i], id)
			}
		}
		if len(found.Nodes) != len(ids)+2 || found.Nodes[len(ids)] != nil || found.Nodes[len(ids)+1] != nil {
			t.Errorf("nodes that are hidden or do not exist: got %+v, want nulls", found.Nodes)
		}
		for _, id := range []string{draft, "nonsense", "", "VGhpbmc6OTk5"} {
			if code := bob.GraphQL(`query ($id: ID!) { node(nodeId: $id) { nodeId } }`, servertest.Object{"id": id}).
				Code(); code != "NOT_FOUND" {
				t.Errorf("node %q: got %q, want NOT_FOUND", id, code)
			}
		}
		r := bob.GraphQL(`{ comment(id: 1) { target { name creator { username } comments(first: 1) { nodes { body } } } } file(id: 1) { target { creator { username } files { name } } }
			node(nodeId: "VGhpbmc6MQ") { ... on Likeable { name isLiked creator { id } } ... on Commentable { commentCount creator { username } } } }`, nil)
		want := `{"comment":{"target":{"name":"Bracket","creator":{"username":"ada"},"comments":{"nodes":[{"body":"Nice."}]}}},"file":{"target":{"creator":{"username":"ada"},"files":[{"name":"a.stl"}]}},` +
			`"node":{"name":"Bracket","isLiked":true,"creator":{"id":"1","username":"ada"},"commentCount":1}}`
		if got := string(r.Data); got != want {
			t.Errorf("by interfaces: got %s %v, want %s", got, r.Errors, want)
		}
	})
}

// TestSchemaConventions checks conventions of the schema that apply to all nouns: the meaning of
// null in updates, the result of a filter with an unknown value, and that pairs of mutations undo
// each other.
func TestSchemaConventions(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing := ada.Thing("Bracket")
		ada.Finalize("thing", thing, ada.Upload("a.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")),
			ada.Upload("a.png", servertest.Mesh(t, "lib3mf_thumbnail.png")))
		ada.Publish(thing)
		ids := servertest.Object{"id": servertest.ID(thing)}
		ada.Query(`mutation { createCollection(input: {name: "Best", description: "All."}) { collection { id } } }`, nil,
			new(any))
		check := func(c *servertest.Client, document, want string) {
			t.Helper()
			r := c.GraphQL(document, ids)
			got := string(r.Data)
			if len(r.Errors) > 0 {
				got = r.Code() + " " + r.Errors[0].Message
			}
			if got != want {
				t.Errorf("%s: got %s, want %s", document, got, want)
			}
		}
		check(ada, `mutation { updateProfile(input: {bio: "I print.", email: "ada@example.org"}) { user { bio email isViewer } } }`,
			`{"updateProfile":{"user":{"bio":"I print.","email":"ada@example.org","isViewer":true}}}`)
		check(ada, `mutation { updateProfile(input: {location: "London"}) { user { bio email } } }`,
			`{"updateProfile":{"user":{"bio":"I print.","email":"ada@example.org"}}}`)
		check(ada, `mutation { updateProfile(input: {bio: null, email: null}) { user { bio email location } } }`,
			`{"updateProfile":{"user":{"bio":"","email":null,"location":"London"}}}`)
		check(ada, `mutation ($id: ID!) { updateThing(input: {id: $id, tags: ["gear"], description: "A."}) { thing { description tags { name } } } }`,
			`{"updateThing":{"thing":{"description":"A.","tags":[{"name":"gear"}]}}}`)
		check(ada, `mutation ($id: ID!) { updateThing(input: {id: $id, tags: null}) { thing { description tags { name } } } }`, `{"updateThing":{"thing":{"description":"A.","tags":[]}}}`)
		check(ada, `mutation ($id: ID!) { updateThing(input: {id: $id, name: null}) { thing { name } } }`,
			"BAD_USER_INPUT name: must not be null")
		check(ada, `mutation { updateMake(input: {id: 1, name: null}) { make { name } } }`,
			"BAD_USER_INPUT name: must not be null")
		check(ada, `mutation ($id: ID!, $none: String) { updateThing(input: {id: $id, license: null, description: $none}) { thing { name } } }`, "BAD_USER_INPUT license: must not be null")
		check(ada, `query ($id: ID!) { thing(id: $id) { fileCount models: fileCount(kinds: [MODEL]) files { kind } } }`,
			`{"thing":{"fileCount":2,"models":1,"files":[{"kind":"MODEL"},{"kind":"IMAGE"}]}}`)
		for _, filter := range []string{`creators: "nobody"`, `tags: "unknown"`, `allTags: "unknown"`, `categoryIds: 999999`,
			`creatorIds: 999999`, `ids: 999999`, `ids: []`} {
			check(bob, `{ things(filter: {`+filter+`}) { totalCount nodes { id } } search(filter: {`+filter+`}) { totalCount } }`, `{"things":{"totalCount":0,"nodes":[]},"search":{"totalCount":0}}`)
		}
		for _, verb := range []string{"like", "watch"} {
			for _, noun := range []string{"thing", "collection"} {
				is := map[string]string{"like": "isLiked", "watch": "isWatched"}[verb]
				for _, prefix := range []string{"", "un"} {
					field := prefix + verb + strings.ToUpper(noun[:1]) + noun[1:]
					document, id := `mutation { `+field+`(input: {id: 1}) { `+noun+` { `+is+` } } }`,
						map[string]string{"": "true", "un": "false"}[prefix]
					want := `{"` + field + `":{"` + noun + `":{"` + is + `":` + id + `}}}`
					check(bob, document, want)
					check(bob, document, want)
				}
			}
		}
	})
}

// TestFailuresKeepSiblings checks that an error of one field does not remove the data of other
// fields from the response.
func TestFailuresKeepSiblings(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		ada.Thing("Bracket")
		for document, want := range map[string]string{
			`{ user(username: "ada") { username downloads { totalCount } watchedThings { totalCount } notifications { totalCount } } me { username } }`:                                                 `{"user":{"username":"ada","downloads":null,"watchedThings":null,"notifications":null},"me":{"username":"bob"}}`,
			`{ thing(id: 1) { name } file(id: 9) { id } make(id: 9) { id } node(nodeId: "x") { nodeId } moderationLog { totalCount } applications { name } me { username } }`:                           `{"thing":null,"file":null,"make":null,"node":null,"moderationLog":null,"applications":null,"me":{"username":"bob"}}`,
			`mutation { a: createCollection(input: {name: "A"}) { collection { name } } b: deleteThing(input: {id: 1}) { deletedId } c: createCollection(input: {name: "C"}) { collection { name } } }`: `{"a":{"collection":{"name":"A"}},"b":null,"c":null}`,
			`mutation { a: followUser(input: {username: "ada"}) { user { username } } b: updateImage(input: {id: 9, rank: 1}) { image { id } } }`:                                                       `{"a":{"user":{"username":"ada"}},"b":null}`,
		} {
			if r := bob.GraphQL(document, nil); string(r.Data) != want || len(r.Errors) == 0 {
				t.Errorf("%s: got %s %v, want %s and errors", document, r.Data, r.Errors, want)
			}
		}
	})
}

// TestRefusedRootFields queries each field of Query and Mutation without a token, and checks that
// its error does not remove the data of another field.
func TestRefusedRootFields(t *testing.T) {
	schema := graph.New(nil).Schema()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		anonymous := s.User("ada").For(t)
		anonymous.Token = ""
		refused := 0
		for _, root := range []*ast.Definition{schema.Query, schema.Mutation} {
			for _, field := range root.Fields {
				if strings.HasPrefix(field.Name, "__") || takesUpload(schema, field) {
					continue
				}
				document := fmt.Sprintf("%s { sibling: __typename %s }", strings.ToLower(root.Name), minimal(schema, field))
				got := anonymous.GraphQL(document, nil)
				if got.Code() != "UNAUTHENTICATED" {
					continue // a public field, such as the name of the server
				}
				refused++
				if want := fmt.Sprintf(`{"sibling":"%s","%s":null}`, root.Name, field.Name); string(got.Data) != want {
					t.Errorf("%s: got %s, want %s", document, got.Data, want)
				}
			}
		}
		if total := len(schema.Query.Fields) + len(schema.Mutation.Fields); refused < total*9/10 {
			t.Errorf("%d of %d fields were refused", refused, total)
		}
	}, servertest.Privately)
}

// takesUpload reports whether a field takes a file, which a document in JSON cannot contain.
func takesUpload(schema *ast.Schema, field *ast.FieldDefinition) bool {
	for _, a := range field.Arguments {
		if input := schema.Types[a.Type.Name()]; input.Kind == ast.InputObject && input.Fields.ForName("file") != nil {
			return input.Fields.ForName("file").Type.Name() == "Upload"
		}
	}
	return false
}

// minimal returns a selection of a field with its required arguments only.
func minimal(schema *ast.Schema, field *ast.FieldDefinition) string {
	var arguments []string
	for _, a := range field.Arguments {
		if a.Type.NonNull {
			arguments = append(arguments, a.Name+": "+minimalValue(schema, a.Type))
		}
	}
	text := field.Name
	if len(arguments) > 0 {
		text += "(" + strings.Join(arguments, ", ") + ")"
	}
	if schema.Types[field.Type.Name()].IsCompositeType() {
		text += " { __typename }"
	}
	return text
}

// minimalValue returns a value of a type with the required fields of input objects only.
func minimalValue(schema *ast.Schema, of *ast.Type) string {
	if of.Elem != nil {
		return "[" + minimalValue(schema, of.Elem) + "]"
	}
	switch d := schema.Types[of.Name()]; {
	case d.Kind == ast.Enum:
		return d.EnumValues[0].Name
	case d.Kind == ast.InputObject:
		var fields []string
		for i, f := range d.Fields {
			if f.Type.NonNull || i == 0 && d.Directives.ForName("oneOf") != nil {
				fields = append(fields, f.Name+": "+minimalValue(schema, f.Type))
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case of.Name() == "Boolean":
		return "true"
	case of.Name() == "Int", of.Name() == "Float", of.Name() == "Int64":
		return "1"
	case of.Name() == "DateTime":
		return `"2020-01-01T00:00:00Z"`
	}
	return `"1"`
}
