package rest_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestFormUpload uploads by a form in three steps, as most existing clients do.
func TestFormUpload(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		stl, png := servertest.Mesh(t, "hschendel_simple_bin.stl"), servertest.Mesh(t, "lib3mf_thumbnail.png")
		f := servertest.Stage(t, w.Ada, fmt.Sprintf("/things/%d/files", w.Thing), "cube.stl")
		to := f.Fields["success_action_redirect"]
		w.Ada.Do("POST", to, nil).Want(t, 404) // no file was posted yet
		r := f.Post(w.Ada, stl, "bucket").Want(t, 200)
		if r.Header.Get("Location") != to {
			t.Errorf("Location %q, want %q", r.Header.Get("Location"), to)
		}
		f.Post(w.Ada, stl).Want(t, 200) // posted again, as after a lost response
		o := servertest.ReadObject(t, w.Ada.Do("POST", to, "null"))
		if o["name"] != "cube.stl" || o["size"] != float64(len(stl)) || fmt.Sprintf("%s/files/%v/finalize", s.URL,
			o["id"]) != to {
			t.Errorf("finalized %v", o)
		}
		servertest.ReadObject(t, w.Ada.Get(to))
		f.Post(w.Ada, stl).Want(t, 403) // it is finalized already

		picture := servertest.Stage(t, w.Ada, fmt.Sprintf("/things/%d/files/", w.Thing), "cube.png")
		picture.Post(w.Ada, png).Want(t, 200)
		if o := servertest.ReadObject(t, w.Ada.Do("POST", picture.Fields["success_action_redirect"], nil)); len(
			o["sizes"].([]any)) != 15 {
			t.Errorf("picture %v", o)
		}

		// A make that is created with an image becomes visible when the image is finalized.
		made := servertest.Stage(t, w.Bob, fmt.Sprintf("/things/%d/copies", w.Thing), "made.png")
		if r := w.Ada.GraphQL(`{ make(id: 1) { id } }`, nil); r.Code() != "FORBIDDEN" {
			t.Errorf("a draft of a make: %+v", r.Errors)
		}
		made.Post(w.Bob, png).Want(t, 200)
		servertest.ReadObject(t, w.Bob.Do("POST", made.Fields["success_action_redirect"], nil))
		more := servertest.Stage(t, w.Bob, "/copies/1/images", "more.png")
		more.Post(w.Bob, png).Want(t, 200)
		servertest.ReadObject(t, w.Bob.Do("POST", more.Fields["success_action_redirect"], nil))
		var make struct {
			Make struct{ Files []struct{ Name string } }
		}
		w.Ada.Query(`{ make(id: 1) { files { name } } }`, nil, &make)
		if len(make.Make.Files) != 2 {
			t.Errorf("the make's files: %v", make.Make.Files)
		}
		w.Ada.Do("POST", "/copies/1/images", servertest.Object{"filename": "x.png"}).Want(t, 403)
		w.Bob.Do("POST", fmt.Sprintf("/things/%d/files", w.Thing), servertest.Object{"filename": "x.stl"}).Want(t, 403)
		w.Ada.Do("POST", "/things/999/files", servertest.Object{"filename": "x.stl"}).Want(t, 404)
		w.Ada.Do("POST", fmt.Sprintf("/things/%d/files", w.Thing), nil).Want(t, 400)
		servertest.NothingLeft(t, s, 8)
	})
}

// TestFormIsSigned checks that a form with a modified field is rejected, and so is an empty file or
// one that is too large.
func TestFormIsSigned(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		f := servertest.Stage(t, w.Ada, fmt.Sprintf("/things/%d/files", w.Thing), "cube.stl")
		other := servertest.Stage(t, w.Ada, fmt.Sprintf("/things/%d/files", w.Thing), "other.stl")
		for _, name := range servertest.FormFields {
			changed := servertest.UploadForm{Action: f.Action, Fields: map[string]string{}}
			maps.Copy(changed.Fields, f.Fields)
			changed.Fields[name] = other.Fields[name]
			if other.Fields[name] == f.Fields[name] {
				changed.Fields[name] += "x"
			}
			if r := changed.Post(w.Ada, stl); r.StatusCode != http.StatusForbidden {
				t.Errorf("with %s changed: %d %s, want 403", name, r.StatusCode, r.Bytes)
			}
		}
		for _, name := range []string{"key", "policy", "signature"} {
			f.Post(w.Ada, stl, name).Want(t, 403)
		}
		f.Post(w.Ada, nil).Want(t, 400)
		f.Post(w.Ada, make([]byte, s.Settings.UploadLimit+1)).Want(t, 400)
		w.Nobody.Do("POST", f.Action, "key=x").Want(t, 400)
		f.Post(w.Ada, stl).Want(t, 200)
		servertest.NothingLeft(t, s, 6)
	})
}

// TestFormExpires checks that a form expires together with its pending upload.
func TestFormExpires(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		f := servertest.Stage(t, ada, fmt.Sprintf("/things/%d/files", ada.Thing("One")), "cube.stl")
		time.Sleep(1200 * time.Millisecond)
		f.Post(ada, servertest.Mesh(t, "hschendel_simple_bin.stl")).Want(t, 403)
	}, func(c *config.Settings) { c.PendingTTL = time.Second })
}

// TestFormOfASuspendedUser checks that a form that was signed before its user was suspended stores
// no file until the suspension is lifted.
func TestFormOfASuspendedUser(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, admin := s.User("ada"), s.Administrator()
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		f := servertest.Stage(t, ada, fmt.Sprintf("/things/%d/files", ada.Thing("One")), "cube.stl")
		admin.Query(`mutation { suspendUser(input: {username: "ada", reason: "Spam."}) { user { id } } }`, nil, new(any))
		if r := f.Post(ada, stl).Want(t, 403); !strings.Contains(string(r.Bytes), "suspended") {
			t.Errorf("a suspended user gets %s", r.Bytes)
		}
		servertest.NothingLeft(t, s, 1)
		admin.Query(`mutation { unsuspendUser(input: {username: "ada", reason: "A mistake."}) { user { id } } }`, nil,
			new(any))
		f.Post(ada, stl).Want(t, 200)
	})
}

// TestFormTakesTheFilePartOnly checks that only the part named file is the file. Another part with
// a filename or a second file is rejected, and nothing is stored. The type may be before or after
// the file.
func TestFormTakesTheFilePartOnly(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("One")
		stl := string(servertest.Mesh(t, "hschendel_simple_bin.stl"))
		const boundary = "xxxxxxxxxxxx"
		part := func(header, body string) string {
			return "--" + boundary + "\r\nContent-Disposition: form-data; " + header + "\r\n\r\n" + body + "\r\n"
		}
		file := part(`name="file"; filename="cube.stl"`, stl)
		disposition := part(`name="Content-Disposition"; filename="cube.stl"`, "attachment")
		send := func(c *servertest.Client, path, body string) *servertest.Response {
			r := c.Request("POST", path, body+"--"+boundary+"--\r\n")
			r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
			return c.Send(r)
		}
		for name, c := range map[string]struct{ body, message string }{
			"another part with a filename before": {disposition + file, "file: only the part named file"},
			"another part with a filename after":  {file + disposition, "file: only the part named file"},
			"a second file":                       {file + file, "file: there must be one part named file"},
			"too many parts after the file":       {file + strings.Repeat(part(`name="x"`, "y"), 200), "body: at most"},
		} {
			f := servertest.Stage(t, ada, fmt.Sprintf("/things/%d/files", thing), "cube.stl")
			var staged string
			for name, value := range f.Fields {
				staged += part(`name="`+name+`"`, value)
			}
			for path, body := range map[string]string{"/files/0/uploadFile": c.body, "/upload_file_storage": staged + c.body} {
				r := send(ada, path, body).Want(t, 400)
				if !strings.Contains(string(r.Bytes), c.message) {
					t.Errorf("%s at %s: %s, want %q", name, path, r.Bytes, c.message)
				}
			}
			ada.Do("POST", f.Fields["success_action_redirect"], nil).Want(t, 404) // no file was stored
		}
		submit := part(`name="submit"`, "Upload")
		kind := func(value string) string { return part(`name="type"`, value) }
		for _, c := range []struct{ body, want string }{
			{kind("attachment") + file + submit, "ATTACHMENT"},
			{file + submit + kind("attachment"), "ATTACHMENT"},
			{file + kind("Model"), "MODEL"},
			{file + kind(""), "MODEL"},
			{kind("model") + file + kind("attachment"), "ATTACHMENT"}, // the last one applies
		} {
			var up struct{ ID int64 }
			send(ada, "/files/0/uploadFile", c.body).Want(t, 200, &up)
			var of struct{ File struct{ Kind string } }
			ada.Query(`query ($id: ID!) { file(id: $id) { kind } }`, map[string]any{"id": servertest.ID(up.ID)}, &of)
			if of.File.Kind != c.want {
				t.Errorf("%.60q … %.60q gives %s, want %s", c.body, c.body[max(0, len(c.body)-90):], of.File.Kind, c.want)
			}
		}
		for _, value := range []string{"stl", strings.Repeat("model", 100)} {
			if r := send(ada, "/files/0/uploadFile", file+kind(value)).Want(t, 400); !strings.Contains(string(r.Bytes),
				"type: must be one of") {
				t.Errorf("type %.20q after the file: %s", value, r.Bytes)
			}
		}
		servertest.NothingLeft(t, s, 9)
	})
}

// TestErrorsNameParameters checks that error messages use the names of the parameters of the REST
// operation.
func TestErrorsNameParameters(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("One")
		for _, c := range []struct {
			method, path, message string
			status                int
			body                  any
		}{
			{"POST", "/files/0/FinalizeFiles", "pending_uploads: ", 400, servertest.Object{"pending_uploads": []any{},
				"target_id": thing, "target_type": "thing"}},
			{"POST", "/files/0/FinalizeFiles", "pending_uploads: ", 400,
				servertest.Object{"pending_uploads": []any{servertest.Object{"id": 1}, servertest.Object{"id": 1}},
					"target_id": thing, "target_type": "thing"}},
			{"POST", "/files/0/FinalizeFiles", "target_type: must be one of comment, copy, make, thing", 400,
				servertest.Object{"pending_uploads": []any{servertest.Object{"id": 1}}, "target_id": thing,
					"target_type": "collection"}},
			{"POST", "/comments", "target_type: must be one of comment, copy, make, thing", 400,
				servertest.Object{"body": "a", "target_id": thing, "target_type": "user"}},
			{"GET", "/files/abc", `file_id: \"abc\" is not an id`, 404, nil},
			{"DELETE", "/things/1.5/images/7", `thing_id: \"1.5\" is not an id`, 404, nil},
		} {
			r := ada.Do(c.method, c.path, c.body).Want(t, c.status)
			if !strings.Contains(string(r.Bytes), `"message":"`+c.message) {
				t.Errorf("%s %s %v: %s, want a message that begins with %s", c.method, c.path, c.body, r.Bytes, c.message)
			}
		}
	})
}
