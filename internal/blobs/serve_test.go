package blobs

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/meshyard/meshyard/internal/bucket"
)

const testTag = `"abc"`

// ask serves key as a handler would and returns the response and its body.
func ask(t *testing.T, b *bucket.Bucket, key string, follow bool, change func(*http.Request)) (*http.Response, []byte) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("ETag", testTag)
		h.Set("Content-Type", "model/stl")
		h.Set("Content-Disposition", `attachment; filename="cube.stl"`)
		h.Set("Cache-Control", "private, immutable")
		h.Set("X-Content-Type-Options", "nosniff")
		if err := Serve(b)(w, r, key); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	change(r)
	client := server.Client()
	if !follow {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}

func plainGet(*http.Request) {}

func wantHeaders(t *testing.T, h http.Header, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got := h.Get(name); got != value {
			t.Errorf("header %s is %q, want %q", name, got, value)
		}
	}
}

func TestMain(m *testing.M) {
	// The AWS SDK must find these credentials and no others.
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		os.Setenv(name, value)
	}
	os.Exit(m.Run())
}

func openBucket(t *testing.T, url string) *bucket.Bucket {
	t.Helper()
	b, err := bucket.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func openDirectory(t *testing.T) *bucket.Bucket { return openBucket(t, "file://"+t.TempDir()) }

func openS3(t *testing.T) *bucket.Bucket {
	backend := s3mem.New()
	if err := backend.CreateBucket("models"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return openBucket(t, "s3://models?region=us-east-1&use_path_style=true&endpoint="+url.QueryEscape(server.URL))
}

// TestDelivery checks the two other ways in which the bytes of an S3 bucket reach clients: from
// this process, and from another URL of the service.
func TestDelivery(t *testing.T) {
	t.Parallel()
	data := random(100_000)
	t.Run("streamed", func(t *testing.T) {
		t.Parallel()
		b := openS3(t)
		u := put(t, b, data)
		if err := b.Deliver(t.Context(), bucket.Delivery{Stream: true}); err != nil {
			t.Fatal(err)
		}
		resp, body := ask(t, b, u.Key, false, plainGet)
		if resp.StatusCode != http.StatusOK || !bytes.Equal(body, data) {
			t.Errorf("got %d with %d bytes, want 200 with %d", resp.StatusCode, len(body), len(data))
		}
		resp, body = ask(t, b, u.Key, false, func(r *http.Request) { r.Header.Set("Range", "bytes=10-19") })
		if resp.StatusCode != http.StatusPartialContent || !bytes.Equal(body, data[10:20]) {
			t.Errorf("range: got %d %x, want 206 %x", resp.StatusCode, body, data[10:20])
		}
		if err := Serve(b)(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil), "pending/gone"); !errors.Is(
			err, bucket.ErrNotExist) {
			t.Errorf("a missing object: got %v, want ErrNotExist", err)
		}
	})
	t.Run("from a public URL", func(t *testing.T) {
		t.Parallel()
		backend := s3mem.New()
		if err := backend.CreateBucket("models"); err != nil {
			t.Fatal(err)
		}
		service := gofakes3.New(backend).Server()
		internal, public := httptest.NewServer(service), httptest.NewServer(service)
		defer internal.Close()
		defer public.Close()
		b := openBucket(t, "s3://models?region=us-east-1&use_path_style=true&endpoint="+url.QueryEscape(internal.URL))
		u := put(t, b, data)
		if err := b.Deliver(t.Context(), bucket.Delivery{PublicURL: public.URL}); err != nil {
			t.Fatal(err)
		}
		resp, _ := ask(t, b, u.Key, false, plainGet)
		if to := resp.Header.Get("Location"); !strings.HasPrefix(to, public.URL+"/models/") ||
			!strings.Contains(to, "X-Amz-Signature=") {
			t.Errorf("redirected to %q, want a signed URL at %s", to, public.URL)
		}
		if resp, body := ask(t, b, u.Key, true, plainGet); resp.StatusCode != http.StatusOK || !bytes.Equal(body, data) {
			t.Errorf("followed: got %d with %d bytes, want 200 with %d", resp.StatusCode, len(body), len(data))
		}
	})
}

// put stores data as a pending upload.
func put(t *testing.T, b *bucket.Bucket, data []byte) bucket.Upload {
	t.Helper()
	u, err := b.Put(t.Context(), bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// random returns n bytes that look random and are the same in every run.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// onBothBuckets runs a test on a directory and on S3.
func onBothBuckets(t *testing.T, test func(*testing.T, *bucket.Bucket)) {
	t.Parallel()
	t.Run("directory", func(t *testing.T) { test(t, openDirectory(t)) })
	t.Run("s3", func(t *testing.T) { test(t, openS3(t)) })
}

func TestServeMissing(t *testing.T) { onBothBuckets(t, testServeMissing) }

func TestServeHeadAndNotModified(t *testing.T) { onBothBuckets(t, testServeHeadAndNotModified) }

func testServeMissing(t *testing.T, b *bucket.Bucket) {
	w := httptest.NewRecorder()
	w.Header().Set("ETag", testTag)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if err := Serve(b)(w, r, bucket.ContentKey(strings.Repeat("ab", 32))); !errors.Is(err, bucket.ErrNotExist) {
		t.Errorf("serve of missing content: %v, want ErrNotExist", err)
	}
	if w.Flushed || w.Body.Len() > 0 || len(w.Header()) != 1 {
		t.Errorf("something was written: %v %q", w.Header(), w.Body)
	}
}

func testServeHeadAndNotModified(t *testing.T, b *bucket.Bucket) {
	u := put(t, b, random(1000))
	resp, body := ask(t, b, u.Key, false, func(r *http.Request) { r.Method = http.MethodHead })
	if resp.StatusCode != http.StatusOK || len(body) > 0 {
		t.Errorf("HEAD: %s with %d bytes, want 200 and none", resp.Status, len(body))
	}
	wantHeaders(t, resp.Header, map[string]string{
		"Content-Length": "1000", "Accept-Ranges": "bytes", "ETag": testTag, "Content-Type": "model/stl",
		"X-Content-Type-Options": "nosniff",
	})
	for _, match := range []string{testTag, "W/" + testTag, `"x", ` + testTag, "*"} {
		resp, body := ask(t, b, u.Key, false, func(r *http.Request) { r.Header.Set("If-None-Match", match) })
		if resp.StatusCode != http.StatusNotModified || len(body) > 0 {
			t.Errorf("If-None-Match %s: %s with %d bytes, want 304 and none", match, resp.Status, len(body))
		}
		wantHeaders(t, resp.Header, map[string]string{"ETag": testTag, "Cache-Control": "private, immutable"})
	}
	resp, body = ask(t, b, u.Key, true, func(r *http.Request) { r.Header.Set("If-None-Match", `"x"`) })
	if resp.StatusCode != http.StatusOK || !bytes.Equal(body, random(1000)) {
		t.Errorf("If-None-Match of another: %s with %d bytes, want 200 and all", resp.Status, len(body))
	}
}

func TestServeDirectory(t *testing.T) {
	t.Parallel()
	b := openDirectory(t)
	data := random(1000)
	u := put(t, b, data)
	for _, test := range []struct {
		name    string
		headers map[string]string
		status  int
		body    []byte
		length  string
	}{
		{"whole", nil, 200, data, "1000"},
		{"range", map[string]string{"Range": "bytes=10-19"}, 206, data[10:20], "10"},
		{"end", map[string]string{"Range": "bytes=-5"}, 206, data[995:], "5"},
		{"If-Range", map[string]string{"Range": "bytes=10-19", "If-Range": testTag}, 206, data[10:20], "10"},
		{"If-Range of another", map[string]string{"Range": "bytes=10-19", "If-Range": `"x"`}, 200, data, "1000"},
	} {
		resp, body := ask(t, b, u.Key, false, func(r *http.Request) {
			for name, value := range test.headers {
				r.Header.Set(name, value)
			}
		})
		if resp.StatusCode != test.status || !bytes.Equal(body, test.body) {
			t.Errorf("%s: %s with %d bytes, want %d with %d", test.name, resp.Status, len(body), test.status, len(test.body))
		}
		wantHeaders(t, resp.Header, map[string]string{
			"Content-Length": test.length, "ETag": testTag, "Content-Type": "model/stl", "Cache-Control": "private, immutable",
			"Content-Disposition": `attachment; filename="cube.stl"`,
		})
	}
	if resp, _ := ask(t, b, u.Key, false,
		func(r *http.Request) { r.Header.Set("Range", "bytes=2000-") }); resp.StatusCode != 416 {
		t.Errorf("range beyond the end: %s, want 416", resp.Status)
	}
}

func TestServeS3(t *testing.T) {
	t.Parallel()
	b := openS3(t)
	data := random(1000)
	u := put(t, b, data)
	resp, body := ask(t, b, u.Key, false, plainGet)
	if resp.StatusCode != http.StatusFound || len(body) > 0 {
		t.Errorf("serve: %s with %d bytes, want 302 and none", resp.Status, len(body))
	}
	wantHeaders(t, resp.Header, map[string]string{
		"Cache-Control": "no-store", "ETag": "", "Content-Disposition": "", "X-Content-Type-Options": "nosniff",
	})
	address, err := resp.Location()
	if err != nil {
		t.Fatal(err)
	}
	if got := address.Query().Get("X-Amz-Expires"); got != "300" {
		t.Errorf("the address is signed for %s s, want 300: %s", got, address)
	}

	resp, body = ask(t, b, u.Key, true, plainGet)
	if resp.StatusCode != http.StatusOK || !bytes.Equal(body, data) {
		t.Errorf("following: %s with %d bytes, want 200 and %d", resp.Status, len(body), len(data))
	}
	wantHeaders(t, resp.Header, map[string]string{
		"Content-Type": "model/stl", "Content-Disposition": `attachment; filename="cube.stl"`,
		"Cache-Control": "private, immutable",
	})
	resp, body = ask(t, b, u.Key, true, func(r *http.Request) { r.Header.Set("Range", "bytes=10-19") })
	if resp.StatusCode != http.StatusPartialContent || !bytes.Equal(body, data[10:20]) {
		t.Errorf("following with a range: %s with %d bytes, want 206 and 10", resp.Status, len(body))
	}
}
