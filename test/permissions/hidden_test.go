package permissions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestDraftOfMakeHides checks that everything that is attached to a draft of a make is hidden with
// it, including files of comments.
func TestDraftOfMakeHides(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		stl, png := servertest.Mesh(t, "hschendel_simple_bin.stl"), servertest.Mesh(t, "lib3mf_thumbnail.png")
		picture := servertest.Stage(t, w.Bob, fmt.Sprintf("/things/%d/copies", w.Thing), "made.png")
		var made struct {
			CreateComment struct{ Comment struct{ ID string } }
		}
		w.Bob.Query(`mutation { createComment(input: {target: {type: MAKE, id: 1}, body: "secret"}) { comment { id } } }`,
			nil, &made)
		file := w.Bob.Upload("secret.stl", stl)
		w.Bob.Finalize("comment", 1, file).Want(t, 200)
		path := fmt.Sprintf("/files/%d", file)
		w.Bob.Get(path).Want(t, 200)
		// The owner of the thing does not own the make.
		for _, who := range []*servertest.Client{w.Ada} {
			who.Get(path).Want(t, 403)
			who.Get(path+"/download").Want(t, 403)
			for _, document := range []string{`{ comment(id: 1) { body } }`, `{ make(id: 1) { name } }`,
				fmt.Sprintf(`{ file(id: %d) { target { ... on Comment { body } } } }`, file)} {
				if r := who.GraphQL(document, nil); r.Code() != "FORBIDDEN" {
					t.Errorf("%s: %s %+v", document, r.Data, r.Errors)
				}
			}
		}
		w.Nobody.Get(fmt.Sprintf("/download:%d", file)).Want(t, 403)

		picture.Post(w.Bob, png).Want(t, 200)
		w.Bob.Do("POST", picture.Fields["success_action_redirect"], nil).Want(t, 200)
		w.Ada.Get(path).Want(t, 200)
		w.Nobody.Get(fmt.Sprintf("/download:%d", file)).Want(t, 200)

		// A make whose image cannot be staged is not created.
		w.Bob.Do("POST", fmt.Sprintf("/things/%d/copies", w.Thing), servertest.Object{"filename": ".."}).Want(t, 400)
		if r := w.Bob.GraphQL(`{ make(id: 2) { id } }`, nil); r.Code() != "NOT_FOUND" {
			t.Errorf("half a make: %s", r.Data)
		}
	})
}

// TestBrokenText checks that text that is not valid Unicode, or contains a null character, is
// rejected in every input.
func TestBrokenText(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		for _, text := range []string{"a\xff", `a\ud800`, `\udd8a\ud83e`, `a\u0000b`} {
			for path, body := range map[string]string{
				"/things":                                `{"name":"` + text + `","license":"cc","category":"Art"}`,
				"/things/":                               `{"name":"a","license":"cc","category":"Art","tags":["` + text + `"]}`,
				fmt.Sprintf("/things/%d/files", w.Thing): `{"filename":"` + text + `"}`,
				fmt.Sprintf("/things/%d/copies", w.Thing): `{"filename":"a.png","description":"` + text + `"}`,
			} {
				w.Ada.Do("POST", path, body).Want(t, 400)
			}
			for _, input := range []string{`name: $t, category: "Art"`, `name: "a", category: $t`,
				`name: "a", category: "Art", description: $t`} {
				r := w.Ada.Request("POST", "/graphql",
					`{"query":`+servertest.MustJSON(
						`mutation ($t: String!) { createThing(input: {license: CC, `+input+`}) { thing { id } } }`)+`,"variables":{"t":"`+text+`"}}`)
				r.Header.Set("Content-Type", "application/json")
				if response := string(w.Ada.Send(r).Bytes); !strings.Contains(response, `"BAD_USER_INPUT"`) {
					t.Errorf("%q as %s: %s", text, input, response)
				}
			}
		}
	})
}
