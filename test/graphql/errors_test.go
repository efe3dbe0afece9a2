package graphql_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestAllFaultsOfAnInput checks that one response reports all errors of an input.
func TestAllFaultsOfAnInput(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, admin := s.User("ada"), s.Administrator()
		thing := ada.Thing("One")
		input := servertest.Object{
			"name": " ", "license": "CC", "category": "No such category", "description": strings.Repeat("x", 70_000),
			"tags": servertest.ManyErrors(101), "ancestorIds": servertest.ManyErrors(21),
		}
		const create = `mutation ($input: CreateThingInput!) { createThing(input: $input) { thing { id } } }`
		for _, c := range []struct {
			name, document string
			variables      servertest.Object
			want           []string // path and code
			limits         []int64
		}{
			{"create", create, servertest.Object{"input": input},
				[]string{"input.name REQUIRED", "input.description TOO_LONG", "input.tags TOO_MANY", "input.ancestorIds TOO_MANY",
					"input.category NOT_FOUND"},
				[]int64{0, 65_535, 100, 20, 0}},
			{"unknown category alone", create, servertest.Object{"input": servertest.Object{"name": "n", "license": "CC",
				"category": "None", "description": ""}},
				[]string{"input.category NOT_FOUND"}, []int64{0}},
			{"collection", `mutation ($input: CreateCollectionInput!) { createCollection(input: $input) { collection { id } } }`,
				servertest.Object{"input": servertest.Object{"name": "", "description": strings.Repeat("x", 70_000)}},
				[]string{"input.name REQUIRED", "input.description TOO_LONG"}, []int64{0, 65_535}},
			{"update", `mutation ($input: UpdateThingInput!) { updateThing(input: $input) { thing { id } } }`,
				servertest.Object{"input": servertest.Object{"id": thing, "name": "", "category": "None"}},
				[]string{"input.name REQUIRED", "input.category NOT_FOUND"}, []int64{0, 0}},
			{"token", `mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }`,
				servertest.Object{"input": servertest.Object{"name": strings.Repeat("x", 201), "scopes": []string{},
					"expiresAt": "2020-01-01T00:00:00Z"}},
				[]string{"input.name TOO_LONG", "input.scopes REQUIRED", "input.expiresAt OUT_OF_RANGE"}, []int64{200, 0, 0}},
			{"webhook", `mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret } }`,
				servertest.Object{"input": servertest.Object{"url": "http://a.example", "events": []string{},
					"description": strings.Repeat("x", 201)}},
				[]string{"input.url INVALID", "input.description TOO_LONG", "input.events REQUIRED"}, []int64{0, 200, 0}},
			{"application", `mutation ($input: CreateApplicationInput!) { createApplication(input: $input) { clientSecret } }`,
				servertest.Object{"input": servertest.Object{"name": "", "redirectUris": []string{"ftp://a", "b"}}},
				[]string{"input.name REQUIRED", "input.redirectUris. INVALID", "input.redirectUris. INVALID"}, []int64{0, 0, 0}},
			{"publish", `mutation ($id: ID!) { updateThing(input: {id: $id, description: ""}) { thing { id } } publishThing(input: {id: $id}) { thing { id } } }`,
				servertest.Object{"id": thing}, []string{"input.id DESCRIPTION_REQUIRED", "input.id MODEL_REQUIRED"},
				[]int64{0, 0}},
			{"argument", `{ things(first: 101) { nodes { id } } }`, nil, []string{"first OUT_OF_RANGE"}, []int64{100}},
			{"argument below 1", `{ things(first: 0) { nodes { id } } }`, nil, []string{"first OUT_OF_RANGE"}, []int64{0}},
			{"literal beyond 32 bits", `{ things(first: 3000000000) { nodes { id } } }`, nil, []string{"first OUT_OF_RANGE"},
				[]int64{0}},
			{"variable beyond 32 bits", `query ($n: Int) { things(first: $n) { nodes { id } } }`,
				servertest.Object{"n": -3_000_000_000},
				[]string{"first OUT_OF_RANGE"}, []int64{0}},
			{"variable beyond 64 bits", `query ($n: Int) { things(first: $n) { nodes { id } } }`,
				servertest.Object{"n": json.Number("30000000000000000000")},
				[]string{"first OUT_OF_RANGE"}, []int64{0}},
			{"triangles beyond 64 bits", `query ($n: Int64) { things(filter: {minTriangles: $n}) { nodes { id } } }`,
				servertest.Object{"n": json.Number("30000000000000000000")},
				[]string{"filter.minTriangles OUT_OF_RANGE"}, []int64{0}},
			{"no integer", `query ($n: Int) { things(first: $n) { nodes { id } } }`, servertest.Object{"n": 1.5},
				[]string{"first INVALID"}, []int64{0}},
			{"variable", `query ($id: ID!) { thing(id: $id) { id } }`, servertest.Object{"id": servertest.Object{}},
				[]string{"id INVALID"}, []int64{0}},
		} {
			client := ada
			if c.name == "application" {
				client = admin
			}
			result := client.GraphQL(c.document, c.variables)
			if len(result.Errors) != 1 || result.Code() != "BAD_USER_INPUT" {
				t.Errorf("%s: got %+v, want one error", c.name, result.Errors)
				continue
			}
			var got []string
			var limits []int64
			for _, f := range result.Errors[0].Extensions.Fields {
				path := make([]string, len(f.Path))
				for i, key := range f.Path {
					path[i], _ = key.(string)
				}
				got, limits = append(got, strings.Join(path, ".")+" "+string(f.Code)), append(limits, f.Limit)
				if c.name != "publish" && !strings.Contains(result.Errors[0].Message, f.Message) {
					t.Errorf("%s: the message %q does not contain %q", c.name, result.Errors[0].Message, f.Message)
				}
			}
			if !reflect.DeepEqual(got, c.want) || !reflect.DeepEqual(limits, c.limits) {
				t.Errorf("%s: got %q %d, want %q %d", c.name, got, limits, c.want, c.limits)
			}
		}
		// REST reports the same errors, with the names of its parameters.
		var refused struct {
			Message string
			Errors  []string
		}
		ada.Do("POST", "/things/", servertest.Object{"name": "", "license": "cc", "category": "Art",
			"tags": servertest.ManyErrors(101)}).Want(t, 400, &refused)
		if len(refused.Errors) != 2 || !strings.HasPrefix(refused.Message, "name: must not be blank; tags: ") {
			t.Errorf("POST /things/: got %+v", refused)
		}
	})
}

// TestErrorsNameSentFields checks that REST errors have the names of parameters, not those of the
// GraphQL input fields that the parameters set.
func TestErrorsNameSentFields(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("One")
		var collection, comment struct{ ID int64 }
		ada.Do("POST", "/collections", servertest.Object{"name": "Parts"}).Want(t, 200, &collection)
		ada.Do("POST", fmt.Sprintf("/things/%d/comments", ada.Thing("Two")), servertest.Object{"body": "a"}).
			Want(t, 200, &comment)
		long := strings.Repeat("x", 70_000)
		for _, c := range []struct {
			method, path string
			body         any
			want         []string
		}{
			{"POST", "/files/0/FinalizeFiles", servertest.Object{"pending_uploads": []any{}, "target_type": "thing",
				"target_id": thing}, []string{"pending_uploads"}},
			{"POST", "/things", servertest.Object{"name": "A", "license": "cc", "category": "Art",
				"ancestors": servertest.ManyErrors(21)}, []string{"ancestors"}},
			{"POST", "/things", servertest.Object{"name": "", "license": "cc", "category": "Art",
				"ancestors": servertest.ManyErrors(21)}, []string{"name", "ancestors"}},
			{"PATCH", fmt.Sprint("/things/", thing), servertest.Object{"ancestors": servertest.ManyErrors(21),
				"tags": servertest.ManyErrors(101)}, []string{"tags", "ancestors"}},
			{"PATCH", fmt.Sprint("/collections/", collection.ID), servertest.Object{"featured_thing_id": thing},
				[]string{"featured_thing_id"}},
			{"PATCH", "/users/me", servertest.Object{"first_name": long}, []string{"first_name"}},
			{"PATCH", "/users/me", servertest.Object{"first_name": long, "last_name": long},
				[]string{"first_name", "last_name"}},
			{"POST", fmt.Sprintf("/things/%d/comments", thing), servertest.Object{"body": "a", "parent_id": comment.ID},
				[]string{"parent_id"}},
			{"GET", "/search/?term=" + long[:300], nil, []string{"term"}},
			{"GET", "/search/" + long[:300], nil, []string{"term"}},
			{"GET", "/users/me/search/" + long[:300], nil, []string{"term"}},
			{"GET", "/users/me/stats-by-day/2026-02-01/2026-01-01", nil, []string{"endDate"}},
			{"GET", "/users/me/stats-by-day/2016-02-01/2026-01-01", nil, []string{"endDate"}},
			{"POST", fmt.Sprintf("/things/%d/files", thing), servertest.Object{"filename": ""}, []string{"filename"}},
			{"POST", fmt.Sprintf("/things/%d/copies", thing), servertest.Object{"filename": " "}, []string{"filename"}},
			{"POST", "/users/me/avatar-image", servertest.Object{"filename": ".."}, []string{"filename"}},
		} {
			var refused struct {
				Message string
				Errors  []string
			}
			r := ada.Do(c.method, c.path, c.body)
			if err := json.Unmarshal(r.Bytes, &refused); err != nil {
				t.Fatalf("%s %.60s: %v", c.method, c.path, err)
			}
			all := append([]string{refused.Message}, refused.Errors...)
			if r.StatusCode < 400 || len(c.want) > 1 && len(refused.Errors) != len(c.want) {
				t.Errorf("%s %.60s: got %d %.300q, want errors about %q", c.method, c.path, r.StatusCode, all, c.want)
			}
			for i, text := range all {
				want := c.want[max(i-1, 0)]
				if !strings.HasPrefix(text, want+":") && !strings.HasPrefix(text, want+"[") {
					t.Errorf("%s %.60s: got %.300q, want it to begin with %s", c.method, c.path, text, want)
				}
			}
		}
	})
}

// TestFaultsNameSentInputs checks the path and the code of faults that models find without knowing
// the input.
func TestFaultsNameSentInputs(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := fmt.Sprint(ada.Thing("One"))
		other := fmt.Sprint(ada.Thing("Two"))
		model := fmt.Sprint(ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl")))
		attached := fmt.Sprint(ada.Upload("b.stl", servertest.Mesh(t, "hschendel_simple_bin.stl")))
		var made struct {
			FinalizeFiles    struct{ Files []struct{ ID string } }
			StageUpload      struct{ Upload struct{ FileID string } }
			CreateCollection struct{ Collection struct{ ID string } }
		}
		ada.Query(`mutation ($file: ID!, $other: ID!) {
			finalizeFiles(input: {files: [{id: $file}], target: {type: THING, id: $other}}) { files { id } }
			stageUpload(input: {name: "c.stl", target: {type: THING, id: $other}}) { upload { fileId } }
			createCollection(input: {name: "c"}) { collection { id } }
		}`, servertest.Object{"file": attached, "other": other}, &made)
		staged, collection := made.StageUpload.Upload.FileID, made.CreateCollection.Collection.ID
		for _, c := range []struct{ mutation, message, path, code string }{
			{`likeThing(input: {id: ` + thing + `}) { thing { id } }`, "id: thing " + thing + " is your own", "[input id]",
				"INVALID"},
			{`toggle(input: {what: LIKE, target: {type: THING, id: ` + thing + `}}) { isOn }`, "target: thing " + thing +
				" is your own", "[input target]", "INVALID"},
			{`createComment(input: {body: "a"}) { comment { id } }`,
				"target: is missing: a comment is on a thing or a make, or replies to another", "[input target]", "REQUIRED"},
			{`finalizeFiles(input: {files: [{id: ` + model + `}, {id: 9999}], target: {type: THING, id: ` + thing +
				`}}) { files { id } }`,
				"pending upload 9999 does not exist", "[input files 1 id]", "NOT_FOUND"},
			{`createThing(input: {name: "n", license: CC, category: "Art", files: [{id: ` + model +
				`}, {id: 9999}]}) { thing { id } }`,
				"pending upload 9999 does not exist", "[input files 1 id]", "NOT_FOUND"},
			{`finalizeFiles(input: {files: [{id: ` + attached + `}], target: {type: THING, id: ` + thing +
				`}}) { files { id } }`,
				"file " + attached + " is already attached to thing " + other, "[input files 0 id]", "DUPLICATE"},
			{`finalizeFiles(input: {files: [{id: ` + model + `}, {id: ` + staged + `}], target: {type: THING, id: ` + thing +
				`}}) { files { id } }`,
				"pending upload " + staged + " has no bytes yet", "[input files 1 id]", "NOT_FOUND"},
			{`updateThing(input: {id: ` + thing + `, ancestorIds: [` + other + `, 9999]}) { thing { id } }`,
				"thing 9999 does not exist", "[input ancestorIds 1]", "NOT_FOUND"},
			{`moveThings(input: {collectionId: ` + collection + `, thingIds: [9999, ` + other + `]}) { thingIds }`,
				"thing 9999 does not exist", "[input thingIds 0]", "NOT_FOUND"},
			{`addToCollection(input: {collectionId: ` + collection + `, thingId: 9999}) { collection { id } }`,
				"thing 9999 does not exist", "[input thingId]", "NOT_FOUND"},
			{`moveThings(input: {collectionId: ` + collection + `, fromCollectionId: 9999, thingIds: [` + other +
				`]}) { thingIds }`,
				"collection 9999 does not exist", "[input fromCollectionId]", "NOT_FOUND"},
			{`reorderFiles(input: {target: {type: THING, id: ` + other + `}, fileIds: [` + attached + `, ` + attached +
				`]}) { files { id } }`,
				"fileIds: " + attached + " is given twice", "[input fileIds]", "DUPLICATE"},
			{`reorderFiles(input: {target: {type: THING, id: ` + other + `}, fileIds: [` + model + `]}) { files { id } }`,
				"fileIds: " + model + " is not on thing " + other, "[input fileIds]", "INVALID"},
			{`deletePendingUpload(input: {id: ` + attached + `}) { deletedId }`,
				"file " + attached + " is finalized: it is not a pending upload any more", "[input id]", "INVALID"},
			{`createMake(input: {thingId: 9999}) { make { id } }`, "thing 9999 does not exist", "[input thingId]", "NOT_FOUND"},
			{`createComment(input: {parentId: 9999, body: "a"}) { comment { id } }`, "comment 9999 does not exist",
				"[input parentId]", "NOT_FOUND"},
			{`createMake(input: {thingId: ` + thing + `, pictureName: " "}) { make { id } }`,
				"pictureName: the file name must not be blank", "[input pictureName]", "REQUIRED"},
			{`stageUpload(input: {name: "..", target: {type: THING, id: ` + thing + `}}) { upload { fileId } }`,
				`name: the file name must not be ".."`, "[input name]", "INVALID"},
			{`finalizeFiles(input: {files: [], target: {type: THING, id: ` + thing + `}}) { files { id } }`,
				"files: must have at least one entry", "[input files]", "REQUIRED"},
			{`updateProfile(input: {avatarId: ` + model + `}) { user { id } }`,
				"the avatar of a user must be one image (PNG, JPEG, GIF, WebP or AVIF)", "[input avatarId]", "INVALID"},
		} {
			r := ada.GraphQL(`mutation { `+c.mutation+` }`, nil)
			if len(r.Errors) != 1 || len(r.Errors[0].Extensions.Fields) != 1 {
				t.Errorf("%s: got %+v, want one fault", c.mutation, r.Errors)
				continue
			}
			fault := r.Errors[0].Extensions.Fields[0]
			if r.Errors[0].Message != c.message || fmt.Sprint(fault.Path) != c.path || string(fault.Code) != c.code {
				t.Errorf("%s: got %q at %v, %s; want %q at %s, %s", c.mutation, r.Errors[0].Message, fault.Path, fault.Code,
					c.message, c.path, c.code)
			}
		}
	})
}

func TestDocumentErrors(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, "sqlite")
	ada := s.User("ada")
	for document, want := range map[string]apierror.Code{
		"{ me { id }":    apierror.ParseFailed,
		"{ mee { id } }": apierror.ValidationFailed,
		"query ($id: ID!) { thing(id: $id) { id } }": apierror.BadInput, // the variable is missing
	} {
		if result := ada.GraphQL(document, nil); result.Code() != string(want) {
			t.Errorf("%s: got %+v, want %s", document, result.Errors, want)
		}
	}
	if result := ada.GraphQL("{ mee { id } }", nil); !strings.Contains(result.Errors[0].Message, `Did you mean "me"`) {
		t.Errorf("got %+v, want a suggestion", result.Errors)
	}
	unknown := servertest.Object{"extensions": servertest.Object{"persistedQuery": servertest.Object{"version": 1,
		"sha256Hash": strings.Repeat("0", 64)}}}
	if r := servertest.Asked(ada, unknown); !strings.Contains(string(r.Bytes),
		`"message":"PersistedQueryNotFound","extensions":{"code":"PERSISTED_QUERY_NOT_FOUND"}`) {
		t.Errorf("unknown hash: got %s", r.Bytes)
	}
}

// TestErrorCodesAreDocumented checks that the tables of docs/errors.md contain every error code.
func TestErrorCodesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(meshtest.Root(), "docs", "errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(meshtest.Root(), "internal", "apierror", "apierror.go"))
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`(?:Field)?Code = "([A-Z_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 20 {
		t.Fatalf("found %d codes", len(codes))
	}
	for _, code := range codes {
		if !strings.Contains(string(doc), "| `"+code[1]+"` |") {
			t.Errorf("docs/errors.md does not list %s", code[1])
		}
	}
}

// TestInvalidJSON checks that both APIs report the position and the cause of a JSON syntax error.
func TestInvalidJSON(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		const body = "{\n  \"query\": \"{ me\n{ id } }\"\n}"
		const want = "request body: invalid JSON at line 2, column 17: invalid character '\\n' in string literal"
		var result servertest.Result
		servertest.Asked(ada, body).Want(t, http.StatusBadRequest, &result)
		if result.Code() != "BAD_USER_INPUT" || result.Errors[0].Message != want {
			t.Errorf("GraphQL: got %+v, want %s", result.Errors, want)
		}
		var fault struct{ Message string }
		if ada.Do(http.MethodPost, "/things/", body).Want(t, http.StatusBadRequest, &fault); fault.Message != want {
			t.Errorf("REST: got %q, want %q", fault.Message, want)
		}
	})
}
