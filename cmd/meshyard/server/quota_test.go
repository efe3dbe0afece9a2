package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/config"
)

func quotas(bytes config.Size, pending, things int) func(*config.Settings) {
	return func(c *config.Settings) { c.QuotaBytes, c.QuotaPending, c.QuotaThings = bytes, pending, things }
}

type usage struct {
	Bytes, PendingUploads, ThingsToday           int64
	BytesLimit, PendingUploadsLimit, ThingsLimit *int64
}

func usageOf(c *servertest.Client) (u usage) {
	var data struct{ Me struct{ Usage usage } }
	c.Query(`{ me { usage { bytes bytesLimit pendingUploads pendingUploadsLimit thingsToday thingsLimit } } }`, nil, &data)
	return data.Me.Usage
}

// stands checks a user's storage and numbers of objects.
func stands(t *testing.T, c *servertest.Client, bytes, pending, things int64) {
	t.Helper()
	if u := usageOf(c); u.Bytes != bytes || u.PendingUploads != pending || u.ThingsToday != things {
		t.Errorf("%d bytes, %d pending, %d things; want %d, %d, %d", u.Bytes, u.PendingUploads, u.ThingsToday, bytes, pending, things)
	}
}

// solid returns the n bytes of a model that is unique for a name.
func solid(n int, name any) []byte {
	text := fmt.Sprint("solid ", name, "\n")
	return []byte(text + strings.Repeat(" ", n-len(text)))
}

const uploadMine = `mutation ($file: Upload!) { uploadFile(input: {file: $file}) { file { id } } }`

// TestBytesQuota checks that a user can store exactly the quota in both APIs together, and more
// after a deletion. Other users, and moderators, are not affected.
func TestBytesQuota(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, staff := s.User("ada"), s.User("bob"), s.Staff()
		first := ada.Upload("a.stl", solid(6000, "a"))
		thing := ada.Thing("A")
		ada.Finalize("thing", thing, first).Want(t, 200)
		stands(t, ada, 6000, 0, 1)
		ada.Upload("same.stl", solid(3000, "b"))
		stands(t, ada, 9000, 1, 1)

		over := ada.PostForm("/files/0/uploadFile", nil, "file", "c.stl", solid(1001, "c")).Want(t, 400)
		if !strings.Contains(string(over.Bytes), `"file: too large: you may store 10000 bytes in total, of which 1000 bytes are left"`) {
			t.Errorf("%s", over.Bytes)
		}
		r := ada.GraphQLUpload(uploadMine, object{"file": nil}, "file", "c.stl", solid(1001, "c"))
		if r.Code() != "TOO_LARGE" || r.Errors[0].Extensions.Field != "file" || r.Errors[0].Extensions.Limit != 10000 {
			t.Errorf("%+v", r.Errors)
		}
		ada.Upload("d.stl", solid(1000, "d"))
		stands(t, ada, 10000, 2, 1)
		ada.PostForm("/files/0/uploadFile", nil, "file", "e.stl", []byte("solid")).Want(t, 400)

		bob.Upload("same.stl", solid(6000, "a")) // content that files share counts for each owner
		stands(t, bob, 6000, 1, 0)
		staff.Upload("large.stl", solid(20000, "a"))
		if u := usageOf(staff); u.Bytes != 20000 || u.BytesLimit != nil || u.PendingUploadsLimit != nil || u.ThingsLimit != nil {
			t.Errorf("an administrator has limits: %+v", u)
		}
		if u := usageOf(ada); *u.BytesLimit != 10000 || u.PendingUploadsLimit != nil || u.ThingsLimit != nil {
			t.Errorf("limits %+v", u)
		}
		var of struct{ User struct{ Usage *usage } }
		ada.Query(`{ user(username: "bob") { usage { bytes } } }`, nil, &of)
		if of.User.Usage != nil {
			t.Errorf("ada sees bob's usage: %+v", of.User.Usage)
		}
		ada.Do(http.MethodDelete, fmt.Sprintf("/things/%d", thing), nil).Want(t, 200)
		stands(t, ada, 4000, 2, 0)
		pending := ada.Upload("f.stl", solid(6000, "f"))
		var gone struct{ DeletePendingUpload struct{ DeletedID string } }
		ada.Query(`mutation ($id: ID!) { deletePendingUpload(input: {id: $id}) { deletedId } }`, object{"id": servertest.ID(pending)}, &gone)
		stands(t, ada, 4000, 2, 0)
		s.Fold()
		stands(t, ada, 4000, 2, 0)
		if changed, err := s.Store.Recount(t.Context()); err != nil || changed != 0 {
			t.Errorf("recounting changes %d counts: %v", changed, err)
		}
		stands(t, ada, 4000, 2, 0)
	}, quotas(10000, 0, 0))
}

// TestFormUploadCounts checks that the bytes of a form upload count for the user who staged it, and
// that a repeated upload replaces the first one.
func TestFormUploadCounts(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("A")
		var staged struct {
			Action string
			Fields map[string]string
		}
		ada.Do("POST", fmt.Sprintf("/things/%d/files", thing), object{"filename": "a.stl"}).Want(t, 200, &staged)
		stands(t, ada, 0, 1, 1)
		send := func(n int) *servertest.Response {
			var b bytes.Buffer
			w := multipart.NewWriter(&b)
			for name, value := range maps.All(staged.Fields) {
				_ = w.WriteField(name, value)
			}
			part, _ := w.CreateFormFile("file", "a.stl")
			_, _ = part.Write(solid(n, "a"))
			w.Close()
			r := s.Client("").Request("POST", staged.Action, b.Bytes())
			r.Header.Set("Content-Type", w.FormDataContentType())
			return s.Client("").Send(r)
		}
		send(6000).Want(t, 200)
		send(9000).Want(t, 200)
		send(10001).Want(t, 400)
		stands(t, ada, 9000, 1, 1)
		send(10000).Want(t, 200)
		stands(t, ada, 10000, 1, 1)
		if r := ada.Do("POST", fmt.Sprintf("/things/%d/files", thing), object{"filename": "b.stl"}).Want(t, 400); !strings.Contains(string(r.Bytes), "at most 1 are allowed") {
			t.Errorf("%s", r.Bytes)
		}
	}, quotas(10000, 1, 0))
}

// TestQuotasAtOnce checks that concurrent requests do not exceed a quota, and that as many succeed
// as the quota allows.
func TestQuotasAtOnce(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		var mu sync.Mutex
		statuses := make(map[string]map[int]int)
		note := func(what string, status int) {
			mu.Lock()
			defer mu.Unlock()
			if statuses[what] == nil {
				statuses[what] = make(map[int]int)
			}
			statuses[what][status]++
		}
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				note("bytes", ada.PostForm("/files/0/uploadFile", nil, "file", "a.stl", solid(1000, i)).StatusCode)
			})
			all.Go(func() {
				note("pending", bob.PostForm("/files/0/uploadFile", nil, "file", "a.stl", solid(20, i)).StatusCode)
			})
			all.Go(func() {
				note("things", bob.Do("POST", "/things/", object{"name": "T", "license": "cc", "category": "Art"}).StatusCode)
			})
		}
		all.Wait()
		for what, want := range map[string]map[int]int{"bytes": {200: 10, 400: 40}, "pending": {200: 12, 400: 38}, "things": {200: 7, 429: 43}} {
			if !maps.Equal(statuses[what], want) {
				t.Errorf("%s: %v, want %v", what, statuses[what], want)
			}
		}
		stands(t, ada, 10000, 10, 0)
		stands(t, bob, 240, 12, 7)
		nothingLeft(t, s, 22)
	}, quotas(10999, 12, 7))
}

// TestThingsQuota checks that a user who has created the daily maximum of things receives the time
// until the next one is allowed, and that deleting a draft allows another one.
func TestThingsQuota(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		var ids []int64
		for range 2 {
			ids = append(ids, ada.Thing("A"))
		}
		r := ada.Do("POST", "/things/", object{"name": "T", "license": "cc", "category": "Art"}).Want(t, 429)
		if wait, err := strconv.Atoi(r.Header.Get("Retry-After")); err != nil || wait < 3600 || wait > 86401 || !strings.Contains(string(r.Bytes), "you created 2 things within 24 hours") {
			t.Errorf("Retry-After %q: %s", r.Header.Get("Retry-After"), r.Bytes)
		}
		var result struct {
			Errors []struct {
				Extensions struct {
					Code       string
					Limit      int
					RetryAfter int
				}
			}
		}
		if err := json.Unmarshal(asked(ada, object{"query": `mutation { createThing(input: {name: "T", license: CC, category: "Art"}) { thing { id } } }`}).Bytes, &result); err != nil {
			t.Fatal(err)
		}
		if e := result.Errors[0].Extensions; e.Code != "RATE_LIMITED" || e.Limit != 2 || e.RetryAfter < 3600 {
			t.Errorf("%+v", e)
		}
		ada.Do(http.MethodDelete, fmt.Sprintf("/things/%d", ids[0]), nil).Want(t, 200)
		ada.Thing("B")
		s.Staff()
		for range 3 {
			// Administrators have no quota, whatever the scopes of their tokens.
			s.Client(s.Token("staff", "write")).Thing("C")
		}
	}, quotas(0, 0, 2))
}

// TestQuotaBeforeTheBody checks that an upload that exceeds the quota is rejected before its body
// is read, and that one of unknown length is aborted when it exceeds the quota.
func TestQuotaBeforeTheBody(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		ada.Upload("a.stl", solid(1<<20, "a"))
		declared := "Content-Length: 7000000\r\n"
		for way, c := range map[string]struct{ path, headers, beginning string }{
			"invited":   {"/files/0/uploadFile", declared + "Expect: 100-continue\r\n", ""},
			"by REST":   {"/files/0/uploadFile", declared, "--b\r\n"},
			"by form":   {"/files/0/uploadFile", "Content-Length: 3300000\r\n", "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.stl\"\r\n\r\n"},
			"GraphQL":   {"/graphql", declared, graphQLHead},
			"in chunks": {"/files/0/uploadFile", "Transfer-Encoding: chunked\r\n", fmt.Sprintf("48\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.stl\"\r\n\r\n%s\r\n300000\r\n%s\r\n", "xx", strings.Repeat("x", 0x300000))},
		} {
			r, closed := unsent(t, s, "POST", c.path, ada.Token, c.headers, c.beginning)
			if want := map[bool]int{true: 200, false: 400}[c.path == "/graphql"]; r.StatusCode != want || !strings.Contains(string(r.Bytes), "3 MiB in total, of which 2 MiB are left") || !closed() {
				t.Errorf("%s: %d %v %s", way, r.StatusCode, r.Header, r.Bytes)
			}
		}
		stands(t, ada, 1<<20, 1, 0)
	}, quotas(3<<20, 0, 0))
}

var graphQLHead = "--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{\"query\":" + mustJSON(uploadMine) + ",\"variables\":{\"file\":null}}\r\n" +
	"--b\r\nContent-Disposition: form-data; name=\"map\"\r\n\r\n{\"0\":[\"variables.file\"]}\r\n--b\r\nContent-Disposition: form-data; name=\"0\"; filename=\"a.bin\"\r\n\r\n"
