package rest_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// FuzzREST checks that no value of any parameter of a REST operation causes a 5xx status.
func FuzzREST(f *testing.F) {
	s := servertest.Start(servertest.Unlogged{TB: f}, "sqlite")
	ada := s.User("ada")
	thing := ada.Thing("Fox")
	file := ada.Upload("fox.stl", []byte("solid a\nendsolid a\n"))
	known := map[string]any{"thing_id": thing, "file_id": file, "username": "ada", "term": "fox", "tag": "fox",
		"slug": "tools", "image_id": file}
	w := newRestWorld(f, s, known, nil)
	for i := range w.operations {
		f.Add(uint16(i), uint8(i), "now-7d/d||+1y", "1")
	}
	for i, text := range servertest.HostileTexts {
		f.Add(uint16(7*i), uint8(i), text, `["`+text+`"]`)
	}
	f.Fuzz(func(t *testing.T, operation uint16, parameter uint8, text, value string) {
		c := ada.For(t)
		op := w.operations[int(operation)%len(w.operations)]
		path := op.path
		for i, name := range op.inPath {
			in := fmt.Sprint(known[name])
			if int(parameter)%(1+len(op.inPath)) == i && text != "" && !strings.Contains(text, "..") && text != "." {
				in = url.PathEscape(text)
			}
			path = strings.ReplaceAll(path, "{"+name+"}", in)
		}
		query := make(url.Values)
		if len(op.inQuery) > 0 {
			query.Set(op.inQuery[int(parameter)%len(op.inQuery)], text)
		}
		body := value // sent as it is, or as the value of one property
		if len(op.inBody) > 0 && parameter >= 32 {
			body = fmt.Sprintf(`{%q:%s}`, op.inBody[int(parameter)%len(op.inBody)], value)
		}
		if op.method == http.MethodGet || op.method == http.MethodHead {
			body = ""
		}
		r := c.Request(op.method, path+"?"+query.Encode(), body)
		if parameter%2 == 0 {
			r.Header.Set("Content-Type", "application/json")
		}
		response := c.Send(r)
		if t.Failed() {
			t.Logf("%s %s %q: %d %s", op.method, path, body, response.StatusCode, response.Bytes)
		}
		if response.StatusCode >= 500 || response.StatusCode >= 400 && response.Header.Get("X-Error") == "" {
			t.Errorf("%s %s %q: %d %.300s", op.method, path+"?"+query.Encode(), body, response.StatusCode, response.Bytes)
		}
	})
}
