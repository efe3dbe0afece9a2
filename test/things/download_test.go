package things_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestDownloadsCountExactly checks that each GET of a tracked download counts once and a HEAD
// never, while the counts are folded continuously.
func TestDownloadsCountExactly(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		path := fmt.Sprintf("/files/%d/download", w.Public)
		servertest.Together(60, func(i int) int {
			switch i % 3 {
			case 0:
				w.Ada.Do(http.MethodHead, path, nil).Want(t, 302)
			case 1:
				w.Bob.Get(path).Want(t, 302)
			default:
				if _, err := s.Store.Activity.FoldDownloads(context.Background()); err != nil {
					t.Error(err)
				}
				w.Ada.Get(path).Want(t, 302)
			}
			return 0
		})
		for _, fold := range []bool{false, true} {
			if fold {
				if _, err := s.Store.Activity.FoldDownloads(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			if o := servertest.ReadObject(t, w.Ada.Get(fmt.Sprintf("/files/%d", w.Public))); o["download_count"] != 40.0 {
				t.Errorf("folded %v: download_count %v, want 40", fold, o["download_count"])
			}
		}
		var unfolded int
		if err := servertest.OpenDB(t, s).SQL().QueryRow("SELECT count(*) FROM new_downloads").Scan(&unfolded); err != nil ||
			unfolded != 0 {
			t.Errorf("%d downloads are not folded (%v)", unfolded, err)
		}
		var me struct {
			Me struct{ Downloads struct{ TotalCount int } }
		}
		w.Bob.Query(`{ me { downloads { totalCount } } }`, nil, &me)
		if me.Me.Downloads.TotalCount != 20 {
			t.Errorf("bob's history has %d entries, want 20", me.Me.Downloads.TotalCount)
		}
		for name, id := range map[string]int64{"a missing file": 999, "another's pending upload": w.Others,
			"one's pending upload": w.Pending} {
			if status := w.Ada.Do(http.MethodHead, fmt.Sprintf("/files/%d/download", id), nil).StatusCode; status != 404 {
				t.Errorf("HEAD of the download of %s: %d, want 404", name, status)
			}
		}
		to := w.Ada.Do(http.MethodHead, fmt.Sprintf("/files/%d/download", w.Hidden), nil).Want(t, 302).Header.Get("Location")
		s.Client("").Get(to).Want(t, 200)
		w.Bob.Do(http.MethodHead, fmt.Sprintf("/files/%d/download", w.Hidden), nil).Want(t, 403)
		w.Ada.Do(http.MethodHead, fmt.Sprintf("/files/%d/finalize", w.Pending), nil).Want(t, http.StatusMethodNotAllowed)
		w.Ada.Do(http.MethodHead, fmt.Sprintf("/files/%d", w.Public), nil).Want(t, 200)
	})
}

// TestHistoryByCursor checks that paging through a history returns each entry once, the latest
// first, also while it grows.
func TestHistoryByCursor(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		path := fmt.Sprintf("/files/%d/download", w.Public)
		for range 7 {
			w.Bob.Get(path).Want(t, 302)
		}
		var after any
		seen, last := 0, "~"
		for more := true; more; {
			var page struct {
				Me struct {
					Downloads struct {
						Nodes    []struct{ CreatedAt string }
						PageInfo struct {
							HasNextPage bool
							EndCursor   string
						}
					}
				}
			}
			w.Bob.Query(`query ($after: String) { me { downloads(first: 2, after: $after) { nodes { createdAt } pageInfo { hasNextPage endCursor } } } }`, map[string]any{"after": after}, &page)
			d := page.Me.Downloads
			for _, n := range d.Nodes {
				if n.CreatedAt > last {
					t.Errorf("%s comes after %s", n.CreatedAt, last)
				}
				last = n.CreatedAt
			}
			seen, after, more = seen+len(d.Nodes), d.PageInfo.EndCursor, d.PageInfo.HasNextPage
			w.Bob.Get(path).Want(t, 302)
		}
		if seen != 7 {
			t.Errorf("saw %d entries, want the 7 that were there at the start", seen)
		}
		for name, c := range map[string]struct{ arguments, field string }{
			"no entries": {"first: 0", "first"}, "too many": {"first: 101", "first"}, "fewer than none": {"first: -1", "first"},
			"no cursor": {`after: "x"`, "after"}, "a cursor of another list": {`after: "ZG93bmxvYWRlZFRoaW5nczox"`, "after"},
		} {
			r := w.Bob.GraphQL(`{ me { downloads(`+c.arguments+`) { totalCount } } }`, nil)
			if r.Code() != "BAD_USER_INPUT" || r.Errors[0].Extensions.Field != c.field {
				t.Errorf("%s: %+v, want BAD_USER_INPUT of %s", name, r.Errors, c.field)
			}
		}
		if r := w.Ada.GraphQL(`{ user(username: "bob") { downloads { totalCount } } }`, nil); r.Code() != "FORBIDDEN" {
			t.Errorf("another's history: %+v", r.Errors)
		}
	})
}

// TestBytes checks that content is served as RFC 9110 requires (ranges, If-Range, ETag,
// conditions), and only to those who have access.
func TestBytes(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		stl := string(servertest.Mesh(t, "hschendel_simple_bin.stl"))
		get := func(address string, headers ...string) *servertest.Response {
			r := w.Nobody.Request(http.MethodGet, address, nil)
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			return w.Nobody.Send(r)
		}
		info := servertest.ReadObject(t, w.Ada.Get(fmt.Sprintf("/files/%d", w.Public)))
		for _, address := range []string{info["direct_url"].(string), info["public_url"].(string)} {
			etag := get(address).Want(t, 200).Header.Get("ETag")
			for _, c := range []struct {
				status  int
				body    string
				headers []string
			}{
				{206, stl[10:20], []string{"Range", "bytes=10-19"}},
				{206, stl[len(stl)-5:], []string{"Range", "bytes=-5"}},
				{416, "", []string{"Range", "bytes=100000-"}},
				{200, stl, []string{"Range", "lines=1-2"}},
				{206, stl[:1], []string{"Range", "bytes=0-0", "If-Range", etag}},
				{200, stl, []string{"Range", "bytes=0-0", "If-Range", `"other"`}},
				{304, "", []string{"If-None-Match", etag}},
				{200, stl, []string{"If-None-Match", `"other"`}},
				{412, "", []string{"If-Match", `"other"`}},
			} {
				r := get(address, c.headers...)
				if r.StatusCode != c.status || c.body != "" && string(r.Bytes) != c.body {
					t.Errorf("%s with %q: %d and %d bytes, want %d and %d", address, c.headers, r.StatusCode, len(r.Bytes), c.status,
						len(c.body))
				}
				if c.status >= 400 && (r.Header.Get("X-Error") != http.StatusText(c.status) ||
					!strings.Contains(string(r.Bytes), `"message"`)) {
					t.Errorf("%s with %q: X-Error %q and %s", address, c.headers, r.Header.Get("X-Error"), r.Bytes)
				}
			}
		}
		// A draft's content is accessible by a signed URL until it expires.
		hidden := servertest.ReadObject(t, w.Ada.Get(fmt.Sprintf("/files/%d", w.Hidden)))
		address, _, _ := strings.Cut(hidden["public_url"].(string), "?")
		get(address).Want(t, 403)
		get(hidden["public_url"].(string)).Want(t, 200)
		signed, err := url.Parse(w.Ada.Get(fmt.Sprintf("/files/%d/download", w.Hidden)).Want(t, 302).Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		get(signed.String()).Want(t, 200)
		change := func(name, value string) string {
			u, q := *signed, signed.Query()
			q.Set(name, value)
			u.RawQuery = q.Encode()
			return u.String()
		}
		bare := *signed
		bare.RawQuery = ""
		for name, address := range map[string]string{
			"no signature": bare.String(), "another signature": change("signature", strings.Repeat("A", 43)),
			"a later end": change("expires", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)),
			"no end":      change("expires", ""), "an end that passed": change("expires", "1"),
			"another's id": strings.Replace(signed.String(), fmt.Sprintf("/blobs/%d/", w.Hidden),
				fmt.Sprintf("/blobs/%d/", w.Pending), 1),
		} {
			if status := get(address).StatusCode; status != 403 && status != 404 {
				t.Errorf("%s: %d, want 403 or 404", name, status)
			}
		}
		for _, path := range []string{"/download:", "/download:x", "/download:0", "/download:-1", "/blobs/x/y",
			"/blobs/999/y", fmt.Sprintf("/download:%d", w.Pending)} {
			get(path).Want(t, 404)
		}
		get(fmt.Sprintf("/download:%d/", w.Public)).Want(t, 200)
	})
}

// TestLostContent checks that the response for a file whose object is missing from the bucket is
// 404, that a ZIP archive with the file ends early, and that the log names the object.
func TestLostContent(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			log := new(servertest.LogBuffer)
			s := servertest.RunLogging(t, servertest.Settings(t, engine),
				slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
			w := servertest.NewWorld(t, s)
			objects, err := filepath.Glob(filepath.Join(s.Settings.Data, "bucket", "files", "*"))
			if err != nil || len(objects) != 1 {
				t.Fatalf("the objects are %q (%v), want one", objects, err)
			}
			if err := os.Remove(objects[0]); err != nil {
				t.Fatal(err)
			}
			path := fmt.Sprintf("/files/%d", w.Public)
			file := servertest.ReadObject(t, w.Ada.Get(path))
			const want = `{"error":"Not Found","code":404,"type":"NOT_FOUND","message":"the content of this file is missing from the storage of the server"}` + "\n"
			for _, url := range []string{file["public_url"].(string), file["direct_url"].(string), w.Ada.Get(path+"/download").
				Want(t, 302).Header.Get("Location")} {
				if r := s.Client("").Get(strings.TrimPrefix(url, s.URL)); r.StatusCode != 404 || string(r.Bytes) != want {
					t.Errorf("GET %s: got %d %s, want 404 %s", url, r.StatusCode, r.Bytes, want)
				}
			}
			lost := log.With(t, "msg", "the content of a file is missing from the bucket")
			if len(lost) != 3 || lost[0]["level"] != "ERROR" || !strings.Contains(fmt.Sprint(lost[0]["error"]), "files/") {
				t.Errorf("got the log lines %v, want three errors with the key", lost)
			}
			response, err := http.Get(fmt.Sprintf("%s/thing:%d/zip", s.URL, w.Thing))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if _, err := io.Copy(io.Discard, response.Body); err == nil {
				t.Error("the archive with the missing file is complete")
			}
			if n := len(log.With(t, "msg", "the content of a file is missing from the bucket")); n != 4 {
				t.Errorf("got %d log lines after the archive, want 4", n)
			}
		})
	}
}
