package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/app/apptest"
)

// What hangs on a draft of a make is hidden with it, also where a comment stands between.
func TestDraftOfMakeHides(t *testing.T) {
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		w := newWorld(t, s)
		stl, png := apptest.Mesh(t, "hschendel_simple_bin.stl"), apptest.Mesh(t, "lib3mf_thumbnail.png")
		picture := stage(t, w.bob, fmt.Sprintf("/things/%d/copies", w.thing), "made.png")
		var made struct {
			CreateComment struct{ Comment struct{ ID string } }
		}
		w.bob.Query(`mutation { createComment(input: {target: {type: MAKE, id: 1}, body: "secret"}) { comment { id } } }`, nil, &made)
		file := w.bob.Upload("secret.stl", stl)
		w.bob.Finalize("comment", 1, file).Want(t, 200)
		path := fmt.Sprintf("/files/%d", file)
		w.bob.Get(path).Want(t, 200)
		for _, who := range []*apptest.Client{w.ada} { // who owns the thing, and not the make
			who.Get(path).Want(t, 403)
			who.Get(path+"/download").Want(t, 403)
			for _, document := range []string{`{ comment(id: 1) { body } }`, `{ make(id: 1) { name } }`, fmt.Sprintf(`{ file(id: %d) { target { ... on Comment { body } } } }`, file)} {
				if r := who.GraphQL(document, nil); r.Code() != "FORBIDDEN" {
					t.Errorf("%s: %s %+v", document, r.Data, r.Errors)
				}
			}
		}
		w.nobody.Get(fmt.Sprintf("/download:%d", file)).Want(t, 403)

		picture.post(w.bob, png).Want(t, 200)
		w.bob.Do("POST", picture.Fields["success_action_redirect"], nil).Want(t, 200)
		w.ada.Get(path).Want(t, 200)
		w.nobody.Get(fmt.Sprintf("/download:%d", file)).Want(t, 200)

		// A make whose picture cannot be staged is not made either.
		w.bob.Do("POST", fmt.Sprintf("/things/%d/copies", w.thing), object{"filename": ".."}).Want(t, 400)
		if r := w.bob.GraphQL(`{ make(id: 2) { id } }`, nil); r.Code() != "NOT_FOUND" {
			t.Errorf("half a make: %s", r.Data)
		}
	})
}

// Another's pending upload and a missing one answer with the same words on every operation.
func TestPendingUploadsAreNobodysBusiness(t *testing.T) {
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		w := newWorld(t, s)
		const missing = 999_999
		for name, call := range map[string]func(id int64) string{
			"info":     func(id int64) string { return string(w.ada.Get(fmt.Sprintf("/files/%d", id)).Bytes) },
			"download": func(id int64) string { return string(w.ada.Get(fmt.Sprintf("/files/%d/download", id)).Bytes) },
			"finalize": func(id int64) string {
				return string(w.ada.Do("POST", fmt.Sprintf("/files/%d/finalize", id), nil).Bytes)
			},
			"batch":  func(id int64) string { return string(w.ada.Finalize("thing", w.thing, id).Bytes) },
			"public": func(id int64) string { return string(w.nobody.Get(fmt.Sprintf("/download:%d", id)).Bytes) },
			"delete": func(id int64) string {
				r := w.ada.GraphQL(`mutation ($id: ID!) { deletePendingUpload(input: {id: $id}) { deletedId } }`, map[string]any{"id": id})
				return r.Code() + r.Errors[0].Message
			},
		} {
			if others, none := digitsOut(call(w.others)), digitsOut(call(missing)); others != none {
				t.Errorf("%s: %s for another's, %s for a missing one", name, others, none)
			}
		}
	})
}

func digitsOut(s string) string {
	out := []rune{}
	for _, r := range s {
		if r < '0' || r > '9' {
			out = append(out, r)
		}
	}
	return string(out)
}

// Text that no database or client could keep as it was sent is refused, wherever it is sent.
func TestBrokenText(t *testing.T) {
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		w := newWorld(t, s)
		for _, text := range []string{"a\xff", `a\ud800`, `\udd8a\ud83e`, `a\u0000b`} {
			for path, body := range map[string]string{
				"/things":                                `{"name":"` + text + `","license":"cc","category":"Art"}`,
				"/things/":                               `{"name":"a","license":"cc","category":"Art","tags":["` + text + `"]}`,
				fmt.Sprintf("/things/%d/files", w.thing): `{"filename":"` + text + `"}`,
				fmt.Sprintf("/things/%d/copies", w.thing): `{"filename":"a.png","description":"` + text + `"}`,
			} {
				w.ada.Do("POST", path, body).Want(t, 400)
			}
			for _, input := range []string{`name: $t, category: "Art"`, `name: "a", category: $t`, `name: "a", category: "Art", description: $t`} {
				r := w.ada.Request("POST", "/graphql", `{"query":`+mustJSON(`mutation ($t: String!) { createThing(input: {license: CC, `+input+`}) { thing { id } } }`)+`,"variables":{"t":"`+text+`"}}`)
				r.Header.Set("Content-Type", "application/json")
				if answer := string(w.ada.Send(r).Bytes); !strings.Contains(answer, `"BAD_USER_INPUT"`) {
					t.Errorf("%q as %s: %s", text, input, answer)
				}
			}
		}
	})
}
