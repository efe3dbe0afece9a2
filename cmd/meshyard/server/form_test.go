package server_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/config"
)

// form is the upload form of a staged upload, as a client receives it.
type form struct {
	Action string            `json:"action"`
	Fields map[string]string `json:"fields"`
}

var formFields = []string{"AWSAccessKeyId", "bucket", "key", "acl", "success_action_redirect", "policy", "signature", "Content-Type", "Content-Disposition"}

func stage(t *testing.T, c *servertest.Client, path, name string) form {
	t.Helper()
	var f form
	c.Do("POST", path, object{"filename": name}).Want(t, 200, &f)
	for _, field := range formFields {
		if f.Fields[field] == "" {
			t.Errorf("the form has no %s: %v", field, f.Fields)
		}
	}
	if len(f.Fields) != len(formFields) || f.Action != c.URL+"/upload_file_storage" {
		t.Errorf("form %+v", f)
	}
	return f
}

// post submits a form as clients do, without a token and with the fields in random order.
func (f form) post(c *servertest.Client, file []byte, leave ...string) *servertest.Response {
	var fields [][2]string
	for name, value := range f.Fields {
		if !strings.Contains(strings.Join(leave, " "), name) {
			fields = append(fields, [2]string{name, value})
		}
	}
	nobody := *c
	nobody.Token = ""
	return nobody.PostForm(f.Action, fields, "file", "x", file)
}

// TestFormUpload uploads by a form in three steps, as most existing clients do.
func TestFormUpload(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := newWorld(t, s)
		stl, png := servertest.Mesh(t, "hschendel_simple_bin.stl"), servertest.Mesh(t, "lib3mf_thumbnail.png")
		f := stage(t, w.ada, fmt.Sprintf("/things/%d/files", w.thing), "cube.stl")
		to := f.Fields["success_action_redirect"]
		w.ada.Do("POST", to, nil).Want(t, 404) // no file was posted yet
		r := f.post(w.ada, stl, "bucket").Want(t, 200)
		if r.Header.Get("Location") != to {
			t.Errorf("Location %q, want %q", r.Header.Get("Location"), to)
		}
		f.post(w.ada, stl).Want(t, 200) // posted again, as after a lost response
		o := read(t, w.ada.Do("POST", to, "null"))
		if o["name"] != "cube.stl" || o["size"] != float64(len(stl)) || fmt.Sprintf("%s/files/%v/finalize", s.URL, o["id"]) != to {
			t.Errorf("finalized %v", o)
		}
		read(t, w.ada.Get(to))
		f.post(w.ada, stl).Want(t, 403) // it is finalized already

		picture := stage(t, w.ada, fmt.Sprintf("/things/%d/files/", w.thing), "cube.png")
		picture.post(w.ada, png).Want(t, 200)
		if o := read(t, w.ada.Do("POST", picture.Fields["success_action_redirect"], nil)); len(o["sizes"].([]any)) != 15 {
			t.Errorf("picture %v", o)
		}

		// A make that is created with an image becomes visible when the image is finalized.
		made := stage(t, w.bob, fmt.Sprintf("/things/%d/copies", w.thing), "made.png")
		if r := w.ada.GraphQL(`{ make(id: 1) { id } }`, nil); r.Code() != "FORBIDDEN" {
			t.Errorf("a draft of a make: %+v", r.Errors)
		}
		made.post(w.bob, png).Want(t, 200)
		read(t, w.bob.Do("POST", made.Fields["success_action_redirect"], nil))
		more := stage(t, w.bob, "/copies/1/images", "more.png")
		more.post(w.bob, png).Want(t, 200)
		read(t, w.bob.Do("POST", more.Fields["success_action_redirect"], nil))
		var make struct {
			Make struct{ Files []struct{ Name string } }
		}
		w.ada.Query(`{ make(id: 1) { files { name } } }`, nil, &make)
		if len(make.Make.Files) != 2 {
			t.Errorf("the make's files: %v", make.Make.Files)
		}
		w.ada.Do("POST", "/copies/1/images", object{"filename": "x.png"}).Want(t, 403)
		w.bob.Do("POST", fmt.Sprintf("/things/%d/files", w.thing), object{"filename": "x.stl"}).Want(t, 403)
		w.ada.Do("POST", "/things/999/files", object{"filename": "x.stl"}).Want(t, 404)
		w.ada.Do("POST", fmt.Sprintf("/things/%d/files", w.thing), nil).Want(t, 400)
		nothingLeft(t, s, 8)
	})
}

// TestFormIsSigned checks that a form with a modified field is rejected, and so is an empty file or
// one that is too large.
func TestFormIsSigned(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := newWorld(t, s)
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		f := stage(t, w.ada, fmt.Sprintf("/things/%d/files", w.thing), "cube.stl")
		other := stage(t, w.ada, fmt.Sprintf("/things/%d/files", w.thing), "other.stl")
		for _, name := range formFields {
			changed := form{f.Action, map[string]string{}}
			maps.Copy(changed.Fields, f.Fields)
			changed.Fields[name] = other.Fields[name]
			if other.Fields[name] == f.Fields[name] {
				changed.Fields[name] += "x"
			}
			if r := changed.post(w.ada, stl); r.StatusCode != http.StatusForbidden {
				t.Errorf("with %s changed: %d %s, want 403", name, r.StatusCode, r.Bytes)
			}
		}
		for _, name := range []string{"key", "policy", "signature"} {
			f.post(w.ada, stl, name).Want(t, 403)
		}
		f.post(w.ada, nil).Want(t, 400)
		f.post(w.ada, make([]byte, s.Settings.UploadLimit+1)).Want(t, 400)
		w.nobody.Do("POST", f.Action, "key=x").Want(t, 400)
		f.post(w.ada, stl).Want(t, 200)
		nothingLeft(t, s, 6)
	})
}

// TestFormExpires checks that a form expires together with its pending upload.
func TestFormExpires(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		f := stage(t, ada, fmt.Sprintf("/things/%d/files", ada.Thing("One")), "cube.stl")
		time.Sleep(1200 * time.Millisecond)
		f.post(ada, servertest.Mesh(t, "hschendel_simple_bin.stl")).Want(t, 403)
	}, func(c *config.Settings) { c.PendingTTL = time.Second })
}

// TestFormOfASuspendedUser checks that a form that was signed before its user was suspended stores
// no file until the suspension is lifted.
func TestFormOfASuspendedUser(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, admin := s.User("ada"), s.Administrator()
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		f := stage(t, ada, fmt.Sprintf("/things/%d/files", ada.Thing("One")), "cube.stl")
		admin.Query(`mutation { suspendUser(input: {username: "ada", reason: "Spam."}) { user { id } } }`, nil, new(any))
		if r := f.post(ada, stl).Want(t, 403); !strings.Contains(string(r.Bytes), "suspended") {
			t.Errorf("a suspended user gets %s", r.Bytes)
		}
		nothingLeft(t, s, 1)
		admin.Query(`mutation { unsuspendUser(input: {username: "ada", reason: "A mistake."}) { user { id } } }`, nil, new(any))
		f.post(ada, stl).Want(t, 200)
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
			f := stage(t, ada, fmt.Sprintf("/things/%d/files", thing), "cube.stl")
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
			if r := send(ada, "/files/0/uploadFile", file+kind(value)).Want(t, 400); !strings.Contains(string(r.Bytes), "type: must be one of") {
				t.Errorf("type %.20q after the file: %s", value, r.Bytes)
			}
		}
		nothingLeft(t, s, 9)
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
			{"POST", "/files/0/FinalizeFiles", "pending_uploads: ", 400, object{"pending_uploads": []any{}, "target_id": thing, "target_type": "thing"}},
			{"POST", "/files/0/FinalizeFiles", "pending_uploads: ", 400, object{"pending_uploads": []any{object{"id": 1}, object{"id": 1}}, "target_id": thing, "target_type": "thing"}},
			{"POST", "/files/0/FinalizeFiles", "target_type: must be one of comment, copy, make, thing", 400, object{"pending_uploads": []any{object{"id": 1}}, "target_id": thing, "target_type": "collection"}},
			{"POST", "/comments", "target_type: must be one of comment, copy, make, thing", 400, object{"body": "a", "target_id": thing, "target_type": "user"}},
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
