package operation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestPathsOfFaults checks that the path of each fault begins with the argument, wherever the fault
// is found and whatever the name of the variable is.
func TestPathsOfFaults(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		admin := s.Administrator()
		s.User("ada")
		ids := make([]string, 101)
		for i := range ids {
			ids[i] = servertest.ID(int64(i + 1))
		}
		const create, rename = `mutation ($i: CreateCollectionInput!) { createCollection(input: $i) { collection { id } } }`,
			`mutation ($from: String!, $to: String!) { renameUser(input: {username: $from, newUsername: $to}) { user { id } } }`
		long := strings.Repeat("x", 300)
		for _, c := range []struct {
			document  string
			variables servertest.Object
			code      string // of the error
			want      string // path and code of the fault
			field     string
		}{
			{`query ($tags: [String!]) { things(filter: {tags: $tags}) { nodes { id } } }`,
				servertest.Object{"tags": servertest.ManyErrors(101)}, "BAD_USER_INPUT", "[filter tags] TOO_MANY", "tags"},
			{`query ($f: ThingFilter) { things(filter: $f) { nodes { id } } }`,
				servertest.Object{"f": servertest.Object{"ids": ids}}, "BAD_USER_INPUT", "[filter ids] TOO_MANY", "ids"},
			{`query ($f: SearchFilter) { search(filter: $f) { nodes { __typename } } }`,
				servertest.Object{"f": servertest.Object{"tags": servertest.ManyErrors(101)}}, "BAD_USER_INPUT",
				"[filter tags] TOO_MANY", "tags"},
			{`query ($p: String) { users(filter: {prefix: $p}) { nodes { id } } }`, servertest.Object{"p": long},
				"BAD_USER_INPUT", "[filter prefix] TOO_LONG", "prefix"},
			{`query ($q: String!) { search(query: $q) { nodes { __typename } } }`, servertest.Object{"q": long},
				"BAD_USER_INPUT", "[query] TOO_LONG", "query"},
			{create, servertest.Object{"i": servertest.Object{}}, "BAD_USER_INPUT", "[input name] REQUIRED", "name"},
			{create, servertest.Object{"i": servertest.Object{"name": nil}}, "BAD_USER_INPUT", "[input name] REQUIRED", "name"},
			{create, servertest.Object{"i": servertest.Object{"name": "c", "visibility": "nope"}}, "BAD_USER_INPUT",
				"[input visibility] INVALID", "visibility"},
			{create, servertest.Object{"i": servertest.Object{"name": true}}, "BAD_USER_INPUT", "[input name] INVALID", "name"},
			{create, nil, "BAD_USER_INPUT", "[input] REQUIRED", "input"},
			{`mutation ($n: String!) { createCollection(input: {name: $n}) { collection { id } } }`, nil, "BAD_USER_INPUT",
				"[input name] REQUIRED", "name"},
			{`query ($f: ThingFilter) { ...q } fragment q on Query { things(filter: $f) { nodes { id } } }`,
				servertest.Object{"f": servertest.Object{"licenses": []string{"CC", "nope"}}},
				"BAD_USER_INPUT", "[filter licenses 1] INVALID", "licenses[1]"},
			{`query ($b: Boolean!) { me @include(if: $b) { id } }`, nil, "BAD_USER_INPUT", "[b] REQUIRED", "b"},
			// A nullable variable is valid in a place with a default value, unless it is null.
			{`query ($n: Int) { randomThings(first: $n) { id } }`, servertest.Object{"n": nil}, "BAD_USER_INPUT",
				"[first] REQUIRED", "first"},
			{`query ($t: SearchType) { search(type: $t) { totalCount } }`, servertest.Object{"t": nil}, "BAD_USER_INPUT",
				"[type] REQUIRED", "type"},
			{`mutation ($d: String) { createCollection(input: {name: "c", description: $d}) { collection { id } } }`,
				servertest.Object{"d": nil},
				"BAD_USER_INPUT", "[input description] REQUIRED", "description"},
			{`mutation ($n: Boolean, $f: [PendingUploadInput!]) { createThing(input: {name: "a", license: CC, category: "Art", isNsfw: $n, files: $f}) { thing { id } } }`,
				servertest.Object{"f": nil}, "BAD_USER_INPUT", "[input files] REQUIRED", "files"},
			{rename, servertest.Object{"from": "ada", "to": "staff"}, "CONFLICT", "[input newUsername] DUPLICATE",
				"newUsername"},
			{`mutation ($t: [String!]!) { createThing(input: {name: "a", license: CC, category: "Art", tags: $t}) { thing { id } } }`, servertest.Object{"t": []string{"a", long}},
				"BAD_USER_INPUT", "[input tags 1] TOO_LONG", "tags[1]"},
			{`query ($t: [String!]) { things(filter: {allTags: $t}) { nodes { id } } }`,
				servertest.Object{"t": []string{"a", long}}, "BAD_USER_INPUT", "[filter allTags 1] TOO_LONG", "allTags[1]"},
			{`mutation ($n: String!) { createApplication(input: {name: $n, redirectUris: []}) { clientSecret } }`,
				servertest.Object{"n": " "}, "BAD_USER_INPUT", "[input name] REQUIRED", "name"},
			{`mutation ($u: [String!]!) { createApplication(input: {name: "a", redirectUris: $u}) { clientSecret } }`,
				servertest.Object{"u": []string{"https://a.example", "b"}},
				"BAD_USER_INPUT", "[input redirectUris 1] INVALID", "redirectUris[1]"},
			{`mutation ($u: String!) { createWebhook(input: {url: $u, events: [FILE_PROCESSED]}) { secret } }`,
				servertest.Object{"u": "https://a.example/" + strings.Repeat("x", 2_000)},
				"BAD_USER_INPUT", "[input url] TOO_LONG", "url"},
			{`mutation ($at: DateTime!) { createInvitation(input: {expiresAt: $at}) { url } }`,
				servertest.Object{"at": "2020-01-01T00:00:00Z"},
				"BAD_USER_INPUT", "[input expiresAt] OUT_OF_RANGE", "expiresAt"},
			{`query ($t: String!) { renderMarkdown(text: $t) }`, servertest.Object{"t": strings.Repeat("x", 65_536)},
				"BAD_USER_INPUT", "[text] TOO_LONG", "text"},
			{rename, servertest.Object{"from": "ada", "to": ""}, "BAD_USER_INPUT", "[input newUsername] INVALID", "newUsername"},
		} {
			r := admin.GraphQL(c.document, c.variables)
			if len(r.Errors) != 1 || len(r.Errors[0].Extensions.Fields) != 1 {
				t.Errorf("%s: got %+v, want one fault", c.document, r.Errors)
				continue
			}
			e := r.Errors[0].Extensions
			if got := fmt.Sprint(e.Fields[0].Path, " ", e.Fields[0].Code); got != c.want || e.Field != c.field ||
				e.Code != c.code {
				t.Errorf("%s: got %s, field %q, %s; want %s, field %q, %s", c.document, got, e.Field, e.Code, c.want, c.field,
					c.code)
			}
		}
	})
}

// TestMessagesOfInputs checks that messages about inputs of the wrong type say what is wrong and
// what is allowed, in the words of GraphQL.
func TestMessagesOfInputs(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		for _, c := range []struct {
			document  string
			variables servertest.Object
			want      string
		}{
			{`query ($n: Int64) { things(filter: {minTriangles: $n}) { nodes { id } } }`, servertest.Object{"n": 1.5},
				"minTriangles: must be an integer of at most 64 bits (got 1.5)"},
			{`{ things(filter: {minTriangles: 1.5}) { nodes { id } } }`, nil,
				"minTriangles: must be an integer of at most 64 bits (got 1.5)"},
			{`{ things(filter: {minTriangles: true}) { nodes { id } } }`, nil,
				"minTriangles: must be an integer of at most 64 bits (got true)"},
			{`query ($n: Int) { things(first: $n) { nodes { id } } }`, servertest.Object{"n": 3.5},
				"first: must be an integer of at most 32 bits"},
			{`query ($n: Int) { things(first: $n) { nodes { id } } }`, servertest.Object{"n": "many"},
				"first: must be an integer of at most 32 bits"},
			{`query ($n: Int) { things(first: $n) { nodes { id } } }`, servertest.Object{"n": 3_000_000_000},
				"first: must be an integer of at most 32 bits (got 3000000000)"},
			{`{ things(first: 3000000000) { nodes { id } } }`, nil,
				"first: must be an integer of at most 32 bits (got 3000000000)"},
			{`query ($id: ID!) { thing(id: $id) { id } }`, servertest.Object{"id": servertest.Object{}}, "id: must be an ID"},
			{`query ($id: ID!) { thing(id: $id) { id } }`, nil, "id: is required"},
			{`query ($id: ID!) { thing(id: $id) { id } }`, servertest.Object{"id": nil}, "id: must not be null"},
			{`mutation ($i: CreateTokenInput!) { createToken(input: $i) { secret } }`,
				servertest.Object{"i": servertest.Object{"name": "a", "scopes": []any{nil}}}, "scopes[0]: must not be null"},
			{`query ($id: ID!) { thing(id: $id) { id } }`, servertest.Object{"id": "x"}, `id: must be a decimal id (got "x")`},
			{`query ($q: String!) { search(query: $q) { nodes { __typename } } }`, servertest.Object{"q": true},
				"query: must be a String"},
			{`query ($f: ThingFilter) { things(filter: $f) { nodes { id } } }`,
				servertest.Object{"f": servertest.Object{"minSize": "wide"}}, "minSize: must be a Float"},
			{`query ($f: ThingFilter) { things(filter: $f) { nodes { id } } }`,
				servertest.Object{"f": servertest.Object{"minSize": "NaN"}}, "minSize: must be a finite number"},
			{`query ($f: ThingFilter) { things(filter: $f) { nodes { id } } }`,
				servertest.Object{"f": servertest.Object{"maxSize": "-Infinity"}}, "maxSize: must be a finite number"},
			{`query ($f: ThingFilter) { things(filter: $f) { nodes { id } } }`,
				servertest.Object{"f": servertest.Object{"isWip": 1}}, "isWip: must be a Boolean"},
			{`query ($f: ThingFilter) { things(filter: $f) { nodes { id } } }`,
				servertest.Object{"f": servertest.Object{"licenses": []any{servertest.Object{}}}},
				"licenses[0]: must be the name of an enum value"},
			{`mutation ($f: Upload!) { uploadFile(input: {file: $f}) { file { id } } }`,
				servertest.Object{"f": servertest.Object{}}, "file: must be a file of a multipart request"},
			{`query ($f: ThingFilter) { things(filter: $f) { nodes { id } } }`, servertest.Object{"f": 5},
				"filter: must be an input object of the type ThingFilter"},
			{`query ($at: DateTime) { things(filter: {publishedAfter: $at}) { nodes { id } } }`, servertest.Object{"at": 5},
				"publishedAfter: must be a time as in RFC 3339, such as 2026-01-31T12:00:00Z (got 5)"},
			{`query ($v: Boolean = true) { me { id ...Name @include(if: $v) } } fragment Name on User { username }`,
				servertest.Object{"v": nil}, "v: must not be null"},
			{`query ($v: Boolean = true) { me { id ... { username @skip(if: $v) } } }`, servertest.Object{"v": nil},
				"v: must not be null"},
			{`subscription ($v: Boolean = true) { fileProcessing(id: 1) @skip(if: $v) { state } }`, servertest.Object{"v": nil},
				"v: must not be null"},
			{`query ($id: ID = "1") { thing(id: $id) { id } }`, servertest.Object{"id": nil}, "id: must not be null"},
			{`query A { me { id } } query B { me { id } }`, nil,
				"operationName: is required, because the document has 2 operations"},
		} {
			r := ada.GraphQL(c.document, c.variables)
			if len(r.Errors) != 1 || r.Code() != "BAD_USER_INPUT" || !strings.HasSuffix(r.Errors[0].Message, c.want) {
				t.Errorf("%s %v: got %+v, want %s", c.document, c.variables, r.Errors, c.want)
			}
		}
		if r := ada.Operation(`query A { me { id } }`, "C", nil); r.Code() != "BAD_USER_INPUT" ||
			r.Errors[0].Message != `operationName: the document has no operation "C"` {
			t.Errorf("unknown operation: %+v", r.Errors)
		}
		r := ada.GraphQL(`{ me { id } thing(id: "x") { id } }`, nil)
		if want := "[{1 13}] [thing]"; len(r.Errors) != 1 || fmt.Sprint(r.Errors[0].Locations, " ",
			r.Errors[0].Path) != want {
			t.Errorf("an argument of the wrong type: %+v, want the location and path %s", r.Errors, want)
		}
		for document, want := range map[string]string{
			`{ thing(id: 1) { name ... on Thing { parts: files(first: 200) { id ...Same } } } } fragment Same on File { mesh { duplicates { totalCount } } }`:                                                 ", above all in thing.parts.mesh.duplicates",
			`query ($n: Int = 100) { a: things(first: $n) { ...Page } b: things(first: $n) { ...Page } } fragment Page on ThingConnection { nodes { descriptionHtml instructionsHtml creator { bioHtml } } }`: "shorter lists",
		} {
			if r := ada.GraphQL(document, nil); r.Code() != "TOO_LARGE" || !strings.HasSuffix(r.Errors[0].Message, want) {
				t.Errorf("%s: got %+v, want TOO_LARGE and %s", document, r.Errors, want)
			}
		}
	})
}

// TestRangeBeforeCost checks that a page that is too long is refused because of its length, even if
// its cost would exceed the limit.
func TestRangeBeforeCost(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		for _, arguments := range []string{"first: 250", "last: 250", "first: 2147483647"} {
			document := `{ things(` + arguments + `) { nodes { id description descriptionHtml creator { bio bioHtml } } } }`
			r := ada.GraphQL(document, nil)
			if name, _, _ := strings.Cut(arguments, ":"); len(r.Errors) != 1 || !strings.HasPrefix(r.Errors[0].Message,
				name+": must be between 1 and 100") {
				t.Errorf("%s: %+v", arguments, r.Errors)
			}
		}
	})
}

// TestOneStream checks that a subscription to several streams fails validation.
func TestOneStream(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	s.User("ada")
	token := s.Token("ada", "read")
	for _, document := range []string{
		`subscription { a: notifications { unreadCount } b: notifications { unreadCount } }`,
		`subscription { notifications @skip(if: true) { unreadCount } }`,
	} {
		r := s.Client(token).Request("POST", "/graphql", servertest.QueryBody(document))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "text/event-stream")
		if got := string(s.Client(token).Send(r).Bytes); !strings.Contains(got, `"GRAPHQL_VALIDATION_FAILED"`) {
			t.Errorf("%s: %s", document, got)
		}
		if got, _ := servertest.RefusedBySocket(t, s.URL, token, document); got != "GRAPHQL_VALIDATION_FAILED" {
			t.Errorf("%s by WebSocket: %s", document, got)
		}
	}
}
