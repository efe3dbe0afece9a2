//go:build browser

package viewer_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/web/viewer"
)

// A server has one model, which a test may change.
type server struct {
	URL string

	mu    sync.Mutex
	model viewer.Model
	err   error
	asked []string // paths and statuses of the requests for the state
}

func serve(t *testing.T, m viewer.Model) *server {
	t.Helper()
	s := &server{model: m}
	mux := http.NewServeMux()
	page := viewer.Handler(viewer.Options{
		Load: func(*http.Request, int64) (viewer.Model, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.model, s.err
		},
		Explain: func(_ context.Context, err error) (int, *apierror.Error) {
			return http.StatusNotFound, &apierror.Error{Message: err.Error()}
		},
		Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusForbidden)
		},
	})
	mux.HandleFunc("GET /view/", func(w http.ResponseWriter, r *http.Request) {
		response := &response{w, 200}
		page.ServeHTTP(response, r)
		if strings.HasSuffix(r.URL.Path, "/state") {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.asked = append(s.asked, r.URL.RequestURI()+" "+http.StatusText(response.status))
		}
	})
	of := write(t)
	for path, content := range map[string][]byte{
		"/model.json": of.threejs, "/empty.json": of.empty, "/points.json": of.points, "/model.glb": of.glb,
		"/textured.glb": of.textured, "/picture.png": dot(),
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	}
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

// answer is a response writer that records the status.
type response struct {
	http.ResponseWriter
	status int
}

func (a *response) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

func (s *server) change(m viewer.Model, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model, s.err = m, err
}

func dot() []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))) // a buffer never fails
	return b.Bytes()
}
