package blobs_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/blobs"
	"github.com/meshyard/meshyard/internal/bucket"
)

const content = "0123456789"

// handler serves file 1 to everyone and file 2 with a signature. Other files do not exist.
func handler(t *testing.T) blobs.Handler {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return blobs.Handler{
		Find: func(_ *http.Request, id int64, by blobs.Address) (blobs.Blob, error) {
			if id == 2 && by == blobs.Stale {
				return blobs.Blob{}, errors.New("expired")
			}
			if id != 1 && (id != 2 || by != blobs.Signed) {
				return blobs.Blob{}, errors.New("not for you")
			}
			return blobs.Blob{Key: path, Name: "a.stl", ContentType: "model/stl", ETag: "abc"}, nil
		},
		Signed: func(_ int64, query url.Values, _ time.Time) (signed, takenDown bool) {
			return query.Get("signature") == "good", false
		},
		Serve: func(w http.ResponseWriter, r *http.Request, key string) error {
			f, err := os.Open(key)
			if err != nil {
				return err
			}
			defer f.Close()
			http.ServeContent(w, r, "", time.Unix(1_000_000_000, 0), f)
			return nil
		},
		Fail:    func(w http.ResponseWriter, _ *http.Request, err error) { writeError(w, http.StatusTeapot, err.Error()) },
		Status:  writeError,
		Missing: func(w http.ResponseWriter) { writeError(w, http.StatusNotFound, "nothing") },
	}
}

func writeError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": status, "message": message})
}

// start serves a handler at both paths, behind one that sets a header of its own.
func start(t *testing.T, h blobs.Handler) string {
	mux := http.NewServeMux()
	mux.Handle("GET /blobs/{file_id}/{name}", h)
	mux.Handle("/", h)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func get(t *testing.T, method, address string, header http.Header) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		r.Header = header
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestRanges(t *testing.T) {
	t.Parallel()
	address := start(t, handler(t)) + "/download:1"
	for value, want := range map[string]struct {
		status int
		body   string
	}{
		"bytes=2-4": {206, "234"}, "BYTES=2-4": {206, "234"}, "bytes= 2-4 ,": {206, "234"}, "bytes=-3": {206, "789"},
		"bytes=7-": {206, "789"}, "bytes=002-04": {206, "234"},
		"bytes=0-999999999999999999999": {206, content}, "bytes=-999999999999999999999": {206, content},
		"bytes=8-9223372036854775808": {206, "89"},
		"bytes=abc":                   {200, content}, "bytes=5-2": {200, content}, "lines=1-2": {200, content},
		"bytes=": {200, content}, "bytes=-": {200, content}, "bytes=,": {200, content}, "bytes": {200, content},
		"bytes=1-2-3": {200, content}, "bytes=+1-2": {200, content}, "bytes=1-2,x": {200, content},
		"bytes=99999999999999999999-99999999999999999998": {200, content},
		"bytes=10-": {416, ""}, "bytes=-0": {416, ""}, "bytes=999999999999999999999-": {416, ""},
		"bytes=" + strings.Repeat("0-0,", 16) + "0-0": {200, content}, "bytes=0-0,100-": {206, "0"},
	} {
		response, body := get(t, http.MethodGet, address, http.Header{"Range": {value}})
		if response.StatusCode != want.status || want.body != "" && body != want.body {
			t.Errorf("Range %q: %d %q, want %d %q", value, response.StatusCode, body, want.status, want.body)
		}
	}
	response, body := get(t, http.MethodGet, address, http.Header{"Range": {"bytes=0-0,2-2"}})
	if response.StatusCode != 206 || !strings.HasPrefix(response.Header.Get("Content-Type"), "multipart/byteranges") ||
		len(body) < 2 {
		t.Errorf("two ranges: %d %s", response.StatusCode, response.Header.Get("Content-Type"))
	}
	if response, body := get(t, http.MethodGet, address,
		http.Header{"Range": {"bytes=0-0", "bytes=1-1"}}); response.StatusCode != 200 || body != content {
		t.Errorf("two headers: %d %q, want the whole file", response.StatusCode, body)
	}
}

// TestFailuresOfServe checks that error responses have the documented body and no headers that
// describe the file.
func TestFailuresOfServe(t *testing.T) {
	t.Parallel()
	address := start(t, handler(t)) + "/download:1"
	for name, c := range map[string]struct {
		status       int
		contentRange string
		header       http.Header
	}{
		"a range past the end": {416, "bytes */10", http.Header{"Range": {"bytes=10-"}}},
		"another ETag":         {412, "", http.Header{"If-Match": {`"other"`}}},
		"an earlier time":      {412, "", http.Header{"If-Unmodified-Since": {"Mon, 01 Jan 1990 00:00:00 GMT"}}},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			response, body := get(t, method, address, c.header)
			var failure struct {
				Code    int
				Message string
			}
			if method == http.MethodGet {
				if err := json.Unmarshal([]byte(body), &failure); err != nil || failure.Code != c.status || failure.Message == "" {
					t.Errorf("%s: body %q (%v), want an error of %d", name, body, err, c.status)
				}
			}
			h := response.Header
			if response.StatusCode != c.status || h.Get("Content-Type") != "application/json; charset=utf-8" ||
				h.Get("Cache-Control") != "no-store" || h.Get("Content-Range") != c.contentRange ||
				h.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s %s: %d %v, want %d", method, name, response.StatusCode, h, c.status)
			}
			for _, of := range []string{"ETag", "Content-Disposition", "Last-Modified", "Accept-Ranges",
				"Content-Security-Policy"} {
				if h.Get(of) != "" {
					t.Errorf("%s %s: %s is %q, want none", method, name, of, h.Get(of))
				}
			}
		}
	}
	if response, body := get(t, http.MethodGet, address,
		http.Header{"If-None-Match": {`"abc"`}}); response.StatusCode != 304 || body != "" ||
		response.Header.Get("ETag") != `"abc"` {
		t.Errorf("the same ETag: %d %q, want 304", response.StatusCode, body)
	}
	h := handler(t)
	h.Status = nil
	if response, _ := get(t, http.MethodGet, start(t, h)+"/download:1",
		http.Header{"Range": {"bytes=10-"}}); response.StatusCode != 416 {
		t.Errorf("without Status: %d, want 416", response.StatusCode)
	}
}

// TestFinalizedMeanwhile checks that a file whose object is gone is looked up again, once, because
// a finalized upload has another key.
func TestFinalizedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gone   int // the number of keys without an object
		status int
		found  int
	}{
		"the upload was finalized": {1, http.StatusOK, 2},
		"the object is lost":       {9, http.StatusTeapot, 2},
	} {
		h := handler(t)
		find, serve, found := h.Find, h.Serve, 0
		h.Find = func(r *http.Request, id int64, by blobs.Address) (blobs.Blob, error) {
			b, err := find(r, id, by)
			if found++; found <= c.gone {
				b.Key = "gone"
			}
			return b, err
		}
		h.Serve = func(w http.ResponseWriter, r *http.Request, key string) error {
			if key == "gone" {
				return bucket.ErrNotExist
			}
			return serve(w, r, key)
		}
		response, body := get(t, http.MethodGet, start(t, h)+"/download:1", nil)
		if response.StatusCode != c.status || (body == content) != (c.status == http.StatusOK) || found != c.found {
			t.Errorf("%s: %d %q after %d lookups, want %d after %d", name, response.StatusCode, body, found, c.status, c.found)
		}
	}
}

// TestTypesThatRun checks that browsers get content that could run scripts as bytes to download.
func TestTypesThatRun(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]struct{ contentType, disposition string }{
		"image/png": {"image/png", "inline"}, "image/jpeg": {"image/jpeg", "inline"}, "image/gif": {"image/gif", "inline"},
		"image/webp": {"image/webp", "inline"}, "image/avif": {"image/avif", "inline"},
		"image/heic": {"image/heic", "attachment"},
		"model/stl":  {"model/stl", "attachment"}, "text/plain; charset=utf-8": {"text/plain; charset=utf-8", "attachment"},
		"text/html; charset=utf-8": {"application/octet-stream", "attachment"},
		"application/xhtml+xml":    {"application/octet-stream", "attachment"},
		"text/xml; charset=utf-8":  {"application/octet-stream", "attachment"}, "image/svg+xml": {"application/octet-stream",
			"attachment"},
		"text/javascript": {"application/octet-stream", "attachment"},
	} {
		h := handler(t)
		find := h.Find
		h.Find = func(r *http.Request, id int64, by blobs.Address) (blobs.Blob, error) {
			b, err := find(r, id, by)
			b.ContentType = stored
			return b, err
		}
		response, _ := get(t, http.MethodGet, start(t, h)+"/download:1", nil)
		disposition, _, _ := strings.Cut(response.Header.Get("Content-Disposition"), ";")
		if got := response.Header.Get("Content-Type"); got != want.contentType || disposition != want.disposition {
			t.Errorf("%s: got %s as %s, want %s as %s", stored, got, disposition, want.contentType, want.disposition)
		}
	}
}

func TestAddressesThatDoNotHold(t *testing.T) {
	t.Parallel()
	base := start(t, handler(t))
	for path, want := range map[string]struct {
		status  int
		message string
	}{
		"/blobs/2/a.stl?expires=9&signature=good": {200, content}, "/blobs/1/a.stl?expires=9&signature=bad": {200, content},
		"/blobs/1/a.stl":                         {200, content},
		"/blobs/2/a.stl?expires=1&signature=bad": {418, "expired"}, "/blobs/2/a.stl?signature=": {418, "expired"},
		"/blobs/2/a.stl?expires=1": {418, "expired"},
		"/blobs/2/a.stl":           {418, "not for you"}, "/blobs/3/a.stl?signature=bad": {418, "not for you"},
		"/download:2?signature=good": {200, content}, "/download:1?signature=bad": {200, content},
		"/download:2": {418, "not for you"}, "/download:x": {404, "nothing"},
	} {
		if response, body := get(t, http.MethodGet, base+path, nil); response.StatusCode != want.status ||
			!strings.Contains(body, want.message) {
			t.Errorf("%s: %d %q, want %d and %q", path, response.StatusCode, body, want.status, want.message)
		}
	}
}

// counting is a response writer with ReadFrom, which the kernel copy needs.
type counting struct {
	*httptest.ResponseRecorder
	readFrom int
}

func (c *counting) ReadFrom(from io.Reader) (int64, error) {
	c.readFrom++
	return io.Copy(c.ResponseRecorder, from)
}

func TestReadFromIsReached(t *testing.T) {
	t.Parallel()
	h := handler(t)
	for value, want := range map[string]int{"": 200, "bytes=1-2": 206} {
		r := httptest.NewRequest(http.MethodGet, "/download:1", nil)
		if value != "" {
			r.Header.Set("Range", value)
		}
		w := &counting{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(w, r)
		if w.Code != want || w.readFrom != 1 {
			t.Errorf("Range %q: %d and %d calls of ReadFrom, want %d and 1", value, w.Code, w.readFrom, want)
		}
	}
	serve := h.Serve
	h.Serve = func(w http.ResponseWriter, r *http.Request, key string) error {
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("Flush through Unwrap: %v", err)
		}
		return serve(w, r, key)
	}
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/download:1", nil))
}
