package previews_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models/previews"
	"github.com/meshyard/meshyard/test/servertest"
)

// derivedObjects returns the contents of the objects below derived/ in the bucket of a server, by
// path.
func derivedObjects(t *testing.T, s *servertest.Server) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(strings.TrimPrefix(s.Settings.BucketURL, "file://"),
		bucket.DerivedPrefix, "*"))
	if err != nil {
		t.Fatal(err)
	}
	objects := make(map[string]string)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		objects[path] = string(b)
	}
	return objects
}

func removeAll(t *testing.T, objects map[string]string) {
	t.Helper()
	for path := range objects {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLostRenditionsAreMadeAgain checks that a rendition whose object is missing is generated
// again. Meanwhile, images are replaced by the default image, others get 503, and no request gets
// 500.
func TestLostRenditionsAreMadeAgain(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, nobody := s.User("ada"), s.Client("")
		thing := ada.Thing("Lost")
		id := ada.Upload("a.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl"))
		ada.Finalize("thing", thing, id).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		if _, err := s.Store.Previews.GeneratePreview(t.Context()); err != nil {
			t.Fatal(err)
		}
		f := servertest.Settled(t, ada, id)
		if f.Thumbnail == nil || f.ThreejsURL == nil || f.GlbURL == nil {
			t.Fatalf("got %+v", f)
		}
		before := derivedObjects(t, s)
		standIn := nobody.Get(s.URL + "/renders/default/model.png").Bytes
		for _, c := range []struct {
			url     string
			standIn bool
		}{{f.Thumbnail.URL, true}, {strings.Replace(f.Thumbnail.URL, "full", "thumb_large", 1), true}, {*f.ThreejsURL, false},
			{*f.GlbURL, false}} {
			removeAll(t, derivedObjects(t, s))
			for range 2 { // the first time it is missing, the second time queued
				r := nobody.Get(c.url)
				status := map[bool]int{true: 200, false: 503}[c.standIn]
				r.Want(t, status)
				if r.Header.Get("Cache-Control") != "no-store" || c.standIn != bytes.Equal(r.Bytes, standIn) || !c.standIn &&
					r.Header.Get("Retry-After") == "" {
					t.Errorf("%s: %d bytes, %v", c.url, len(r.Bytes), r.Header)
				}
			}
			if made, err := s.Store.Previews.GeneratePreview(t.Context()); !made || err != nil {
				t.Errorf("%s: nothing was queued: %v", c.url, err)
			}
			if made, err := s.Store.Previews.GeneratePreview(t.Context()); made || err != nil {
				t.Errorf("%s: it was queued twice: %v", c.url, err)
			}
			for path, b := range derivedObjects(t, s) {
				if before[path] != b {
					t.Errorf("%s is made with other bytes", path)
				}
			}
			if r := nobody.Get(c.url); r.StatusCode != 200 || c.standIn && bytes.Equal(r.Bytes, standIn) {
				t.Errorf("%s is still missing: %d", c.url, r.StatusCode)
			}
		}

		// An operator can queue all previews that lack an object.
		if n, err := s.Store.Previews.SchedulePreviews(t.Context(), previews.AgainMissing); n != 0 || err != nil {
			t.Errorf("%d previews miss an object although all are there: %v", n, err)
		}
		removeAll(t, derivedObjects(t, s))
		if n, err := s.Store.Previews.SchedulePreviews(t.Context(), previews.AgainMissing); n != 1 || err != nil {
			t.Errorf("%d previews miss an object, want 1: %v", n, err)
		}
		if made, err := s.Store.Previews.GeneratePreview(t.Context()); !made || err != nil {
			t.Error(made, err)
		}
		servertest.SoundCatalogue(t, s)
	})
}

// TestRenditionsInCaches checks that caches revalidate renditions within an hour, and that requests
// fail after a takedown. Three.js JSON is stored compressed, and decompressed for clients that do
// not accept gzip.
func TestRenditionsInCaches(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, nobody, admin := s.User("ada"), s.Client(""), s.Administrator()
		thing := ada.Thing("Cached")
		id := ada.Upload("a.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl"))
		ada.Finalize("thing", thing, id).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		if _, err := s.Store.Previews.GeneratePreview(t.Context()); err != nil {
			t.Fatal(err)
		}
		f := servertest.Settled(t, ada, id)

		get := func(url, encoding, tag string) *servertest.Response {
			r := nobody.Request(http.MethodGet, url, nil)
			r.Header.Set("Accept-Encoding", encoding)
			if tag != "" {
				r.Header.Set("If-None-Match", tag)
			}
			return nobody.Send(r)
		}
		packed, plain := get(*f.ThreejsURL, "gzip", ""), get(*f.ThreejsURL, "identity", "")
		z, err := gzip.NewReader(bytes.NewReader(packed.Bytes))
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(unpacked, plain.Bytes) {
			t.Errorf("%d bytes compressed, %d plain: %v", len(unpacked), len(plain.Bytes), err)
		}
		if packed.Header.Get("Content-Encoding") != "gzip" || plain.Header.Get("Content-Encoding") != "" ||
			packed.Header.Get("ETag") == plain.Header.Get("ETag") ||
			!slices.Contains(packed.Header.Values("Vary"), "Accept-Encoding") ||
			plain.Header.Get("Content-Length") != fmt.Sprint(len(plain.Bytes)) {
			t.Errorf("compressed %v, plain %v", packed.Header, plain.Header)
		}

		admin.Query(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "A weapon."}) { thing { id } } }`,
			map[string]any{"id": servertest.ID(thing)}, new(any))
		for _, url := range []string{f.Thumbnail.URL, *f.ThreejsURL, *f.GlbURL} {
			url, _, _ = strings.Cut(url, "?")
			if r := get(url, "gzip", packed.Header.Get("ETag")); r.StatusCode < 400 {
				t.Errorf("%s: %d after the takedown", url, r.StatusCode)
			}
		}
		if got := packed.Header.Get("Cache-Control"); got != "public, max-age=3600, must-revalidate" {
			t.Errorf("Cache-Control %q", got)
		}
	})
}

// TestOwnersTakeTurns checks that the files of an owner who recently used much processing time are
// processed after those of other owners.
func TestOwnersTakeTurns(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		upload := func(c *servertest.Client, n int) (ids []int64) {
			thing := c.Thing("Many")
			for i := range n {
				ids = append(ids, c.Upload("a.stl", append(servertest.Mesh(t, "hschendel_simple_bin.stl")[:84:84],
					bytes.Repeat([]byte{byte(i), byte(thing)}, 25)...)))
			}
			c.Finalize("thing", thing, ids...).Want(t, 200)
			return ids
		}
		upload(s.User("eve"), 12)
		// Eve's first file has taken a minute.
		if made, err := s.Store.Previews.GeneratePreview(t.Context()); !made || err != nil {
			t.Fatal(made, err)
		}
		db := servertest.OpenDB(t, s).SQL()
		if _, err := db.Exec("UPDATE previews SET took_ms = 60000 WHERE begun_at IS NOT NULL"); err != nil {
			t.Fatal(err)
		}
		ada, bob := s.User("ada"), s.User("bob")
		upload(ada, 5)
		upload(bob, 5)
		for range 10 {
			if made, err := s.Store.Previews.GeneratePreview(t.Context()); !made || err != nil {
				t.Fatal(made, err)
			}
		}
		left := servertest.RowsOf(t, s,
			"SELECT u.username FROM previews p JOIN users u ON u.id = p.owner_id WHERE p.state = 'waiting' GROUP BY u.username")
		if len(left) != 1 || !strings.Contains(left[0], "eve") {
			t.Errorf("files of %v wait, want those of eve alone", left)
		}
		for range 11 {
			if made, err := s.Store.Previews.GeneratePreview(t.Context()); !made || err != nil {
				t.Fatal(made, err)
			}
		}
		if made, err := s.Store.Previews.GeneratePreview(t.Context()); made || err != nil {
			t.Error("there is nothing left to do", made, err)
		}
	})
}
