package things_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
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
		t.Errorf("%d bytes, %d pending, %d things; want %d, %d, %d", u.Bytes, u.PendingUploads, u.ThingsToday, bytes, pending,
			things)
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
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		first := ada.Upload("a.stl", solid(6000, "a"))
		thing := ada.Thing("A")
		ada.Finalize("thing", thing, first).Want(t, 200)
		stands(t, ada, 6000, 0, 1)
		ada.Upload("same.stl", solid(3000, "b"))
		stands(t, ada, 9000, 1, 1)

		over := ada.PostForm("/files/0/uploadFile", nil, "file", "c.stl", solid(1001, "c")).Want(t, 400)
		if !strings.Contains(string(over.Bytes),
			`"file: too large: you may store 10000 bytes in total, of which 1000 bytes are left"`) {
			t.Errorf("got %s, want the limit and what is left", over.Bytes)
		}
		r := ada.GraphQLUpload(uploadMine, servertest.Object{"file": nil}, "file", "c.stl", solid(1001, "c"))
		if r.Code() != "TOO_LARGE" || r.Errors[0].Extensions.Field != "file" || r.Errors[0].Extensions.Limit != 10000 {
			t.Errorf("got %+v, want TOO_LARGE with the field file and the limit 10000", r.Errors)
		}
		ada.Upload("d.stl", solid(1000, "d"))
		stands(t, ada, 10000, 2, 1)
		ada.PostForm("/files/0/uploadFile", nil, "file", "e.stl", []byte("solid")).Want(t, 400)

		bob.Upload("same.stl", solid(6000, "a")) // content that files share counts for each owner
		stands(t, bob, 6000, 1, 0)
		admin.Upload("large.stl", solid(20000, "a"))
		if u := usageOf(admin); u.Bytes != 20000 || u.BytesLimit != nil || u.PendingUploadsLimit != nil ||
			u.ThingsLimit != nil {
			t.Errorf("an administrator: got usage %+v, want no limits", u)
		}
		if u := usageOf(ada); *u.BytesLimit != 10000 || u.PendingUploadsLimit != nil || u.ThingsLimit != nil {
			t.Errorf("got limits %+v, want 10,000 bytes and no others", u)
		}
		var of struct{ User struct{ Usage *usage } }
		ada.Query(`{ user(username: "bob") { usage { bytes } } }`, nil, &of)
		if of.User.Usage != nil {
			t.Errorf("ada sees bob's usage: got %+v, want none", of.User.Usage)
		}
		ada.Do(http.MethodDelete, fmt.Sprintf("/things/%d", thing), nil).Want(t, 200)
		stands(t, ada, 4000, 2, 0)
		pending := ada.Upload("f.stl", solid(6000, "f"))
		var gone struct{ DeletePendingUpload struct{ DeletedID string } }
		ada.Query(`mutation ($id: ID!) { deletePendingUpload(input: {id: $id}) { deletedId } }`,
			servertest.Object{"id": servertest.ID(pending)}, &gone)
		stands(t, ada, 4000, 2, 0)
		s.Fold()
		stands(t, ada, 4000, 2, 0)
		servertest.SoundCounts(t, s)
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
		ada.Do("POST", fmt.Sprintf("/things/%d/files", thing), servertest.Object{"filename": "a.stl"}).Want(t, 200, &staged)
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
		if r := ada.Do("POST", fmt.Sprintf("/things/%d/files", thing), servertest.Object{"filename": "b.stl"}).
			Want(t, 400); !strings.Contains(string(r.Bytes), "at most 1 are allowed") {
			t.Errorf("a second pending upload: got %s, want the limit of 1", r.Bytes)
		}
	}, quotas(10000, 1, 0))
}

// TestQuotasAtOnce checks that concurrent requests do not exceed a quota, and that as many succeed
// as the quota allows.
func TestQuotasAtOnce(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
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
				note("things", bob.Do("POST", "/things/", servertest.Object{"name": "T", "license": "cc", "category": "Art"}).
					StatusCode)
			})
		}
		all.Wait()
		for what, want := range map[string]map[int]int{"bytes": {200: 10, 400: 40}, "pending": {200: 12, 400: 38},
			"things": {200: 7, 429: 43}} {
			if !maps.Equal(statuses[what], want) {
				t.Errorf("%s: %v, want %v", what, statuses[what], want)
			}
		}
		stands(t, ada, 10000, 10, 0)
		stands(t, bob, 240, 12, 7)
		servertest.NothingLeft(t, s, 22)
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
		// The next one is allowed a day after the older of the two, in 14 hours.
		_, err := servertest.OpenDB(t, s).Write.NewUpdate().Table("things").Set("created_at = ?", time.Now().UTC().
			Add(-10*time.Hour)).Where("id = ?", ids[0]).Exec(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := ada.Do("POST", "/things/", servertest.Object{"name": "T", "license": "cc", "category": "Art"}).Want(t, 429)
		if wait, err := strconv.Atoi(r.Header.Get("Retry-After")); err != nil || wait < 13*3600 || wait > 14*3600+1 ||
			!strings.Contains(string(r.Bytes), "you created 2 things within 24 hours") {
			t.Errorf("got Retry-After %q and %s, want 13 to 14 hours and the number of things", r.Header.Get("Retry-After"),
				r.Bytes)
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
		if err := json.Unmarshal(servertest.Asked(ada,
			servertest.Object{"query": `mutation { createThing(input: {name: "T", license: CC, category: "Art"}) { thing { id } } }`}).Bytes, &result); err != nil {
			t.Fatal(err)
		}
		if e := result.Errors[0].Extensions; e.Code != "RATE_LIMITED" || e.Limit != 2 || e.RetryAfter < 13*3600 ||
			e.RetryAfter > 14*3600+1 {
			t.Errorf("got %+v, want RATE_LIMITED with the limit 2 for 13 to 14 hours", e)
		}
		ada.Do(http.MethodDelete, fmt.Sprintf("/things/%d", ids[0]), nil).Want(t, 200)
		ada.Thing("B")
		s.Administrator()
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
			"invited": {"/files/0/uploadFile", declared + "Expect: 100-continue\r\n", ""},
			"by REST": {"/files/0/uploadFile", declared, "--b\r\n"},
			"by form": {"/files/0/uploadFile", "Content-Length: 3300000\r\n",
				"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.stl\"\r\n\r\n"},
			"GraphQL": {"/graphql", declared, graphQLHead},
			"in chunks": {"/files/0/uploadFile", "Transfer-Encoding: chunked\r\n",
				fmt.Sprintf("48\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.stl\"\r\n\r\n%s\r\n300000\r\n%s\r\n", "xx", strings.Repeat("x", 0x300000))},
		} {
			r, closed := servertest.Unsent(t, s, "POST", c.path, ada.Token, c.headers, c.beginning)
			if want := map[bool]int{true: 200, false: 400}[c.path == "/graphql"]; r.StatusCode != want ||
				!strings.Contains(string(r.Bytes), "3 MiB in total, of which 2 MiB are left") || !closed() {
				t.Errorf("%s: got %d %v %s, want an error with what is left, and a closed connection", way, r.StatusCode, r.Header,
					r.Bytes)
			}
		}
		stands(t, ada, 1<<20, 1, 0)
	}, quotas(3<<20, 0, 0))
}

var graphQLHead = "--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{\"query\":" +
	servertest.MustJSON(uploadMine) + ",\"variables\":{\"file\":null}}\r\n" +
	"--b\r\nContent-Disposition: form-data; name=\"map\"\r\n\r\n{\"0\":[\"variables.file\"]}\r\n--b\r\nContent-Disposition: form-data; name=\"0\"; filename=\"a.bin\"\r\n\r\n"

// moreQuotas sets the quotas of makes, comments, collections and collected things.
func moreQuotas(makes, comments, collections, collected int) func(*config.Settings) {
	return func(c *config.Settings) {
		c.QuotaMakes, c.QuotaComments, c.QuotaCollections, c.QuotaCollected = makes, comments, collections, collected
	}
}

type moreUsage struct {
	MakesToday, CommentsToday, Collections, CollectedThings           int64
	MakesLimit, CommentsLimit, CollectionsLimit, CollectedThingsLimit *int64
}

func moreUsageOf(c *servertest.Client) (u moreUsage) {
	var data struct{ Me struct{ Usage moreUsage } }
	c.Query(`{ me { usage { makesToday makesLimit commentsToday commentsLimit collections collectionsLimit collectedThings collectedThingsLimit } } }`, nil, &data)
	return data.Me.Usage
}

// TestRowQuotas checks that a user cannot create any number of comments, makes, collections and
// entries of collections, in both APIs, that the errors name the limit, and that a deletion makes
// room where the rows go.
func TestRowQuotas(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		things := make([]int64, 4)
		for i := range things {
			things[i] = servertest.PublishedThing(t, ada, fmt.Sprint("Thing ", i))
		}
		first := things[0]
		refused := func(r *servertest.Result, code, field string, limit int64, message string) {
			t.Helper()
			if r.Code() != code || r.Errors[0].Extensions.Field != field || r.Errors[0].Extensions.Limit != limit ||
				!strings.Contains(r.Errors[0].Message, message) {
				t.Errorf("got %+v, want %s of %q with the limit %d and %q", r.Errors, code, field, limit, message)
			}
			if field != "" && (len(r.Errors) != 1 || len(r.Errors[0].Extensions.Fields) != 1 ||
				r.Errors[0].Extensions.Fields[0].Code != "TOO_MANY") {
				t.Errorf("got %+v, want one field with the code TOO_MANY", r.Errors)
			}
		}

		// Deleted comments count, because they keep their places.
		comment := `mutation { createComment(input: {target: {type: THING, id: %d}, body: "Nice."}) { comment { id } } }`
		var written struct {
			CreateComment struct{ Comment struct{ ID string } }
		}
		for range 3 {
			bob.Query(fmt.Sprintf(comment, first), nil, &written)
		}
		bob.Query(fmt.Sprintf(`mutation { deleteComment(input: {id: %s}) { comment { id } } }`,
			written.CreateComment.Comment.ID), nil, new(any))
		refused(bob.GraphQL(fmt.Sprintf(comment, first), nil), "RATE_LIMITED", "", 3,
			"you wrote 3 comments within 24 hours, which is the limit")
		r := bob.Do("POST", fmt.Sprintf("/things/%d/comments", first), servertest.Object{"body": "Nice."}).Want(t, 429)
		if wait, err := strconv.Atoi(r.Header.Get("Retry-After")); err != nil || wait < 3600 || wait > 86401 {
			t.Errorf("got Retry-After %q, want 1 to 24 hours", r.Header.Get("Retry-After"))
		}
		ada.Query(fmt.Sprintf(comment, first), nil, new(any)) // others are not affected

		print := `mutation { createMake(input: {thingId: %d}) { make { id } } }`
		var made struct {
			CreateMake struct{ Make struct{ ID string } }
		}
		for range 2 {
			bob.Query(fmt.Sprintf(print, first), nil, &made)
		}
		refused(bob.GraphQL(fmt.Sprintf(print, first), nil), "RATE_LIMITED", "", 2,
			"you created 2 makes within 24 hours, which is the limit")
		bob.Do("POST", fmt.Sprintf("/things/%d/copies", first), servertest.Object{"filename": "a.png"}).Want(t, 429)
		bob.Query(fmt.Sprintf(`mutation { deleteMake(input: {id: %s}) { deletedId } }`, made.CreateMake.Make.ID), nil,
			new(any))
		bob.Query(fmt.Sprintf(print, first), nil, &made)

		var collections [2]int64
		for i := range collections {
			collections[i] = newCollection(t, bob, fmt.Sprint("Collection ", i))
		}
		refused(bob.GraphQL(`mutation { createCollection(input: {name: "C", visibility: PRIVATE}) { collection { id } } }`,
			nil), "CONFLICT", "name", 2, "name: you have 2 collections, and at most 2 are allowed")
		bob.Do("POST", "/collections", servertest.Object{"name": "C"}).Want(t, 400)

		add := func(collection, thing int64) *servertest.Result {
			return bob.GraphQL(fmt.Sprintf(
				`mutation { addToCollection(input: {collectionId: %d, thingId: %d}) { collection { id } } }`, collection,
				thing), nil)
		}
		for _, to := range [][2]int64{{collections[0], things[0]}, {collections[0], things[1]}, {collections[1], things[0]}} {
			if r := add(to[0], to[1]); r.Code() != "" {
				t.Errorf("adding %v: got %+v, want no error", to, r.Errors)
			}
		}
		full := "your collections would contain 4 things, and at most 3 are allowed"
		refused(add(collections[1], things[1]), "CONFLICT", "thingId", 3, "thingId: "+full)
		bob.Do("POST", fmt.Sprintf("/collections/%d/thing/%d", collections[1], things[2]), nil).Want(t, 400)
		if r := add(collections[0], things[0]); r.Code() != "" {
			t.Errorf("adding a thing that is there: got %+v, want no error", r.Errors)
		}
		move := func(from string, ids ...int64) *servertest.Result {
			return bob.GraphQL(fmt.Sprintf(
				`mutation { moveThings(input: {collectionId: %d, thingIds: %s%s}) { collection { id } } }`, collections[1],
				strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), from), nil)
		}
		refused(move("", things[1]), "CONFLICT", "thingIds", 3, "thingIds: "+full)
		if r := move(fmt.Sprintf(", fromCollectionId: %d", collections[0]), things[1]); r.Code() != "" {
			t.Errorf("moving: got %+v, want no error", r.Errors)
		}
		s.Fold()
		three, two := int64(3), int64(2)
		want := moreUsage{2, 3, 2, 3, &two, &three, &two, &three}
		if got := moreUsageOf(bob); !reflect.DeepEqual(got, want) {
			t.Errorf("usage %+v, want %+v", got, want)
		}
		bob.Do("DELETE", fmt.Sprintf("/collections/%d", collections[0]), nil).Want(t, 200)
		if r := add(collections[1], things[2]); r.Code() != "" {
			t.Errorf("adding after a deletion: got %+v, want no error", r.Errors)
		}
		newCollection(t, bob, "Another")

		s.Administrator()
		admin := s.Client(s.Token("staff", "read", "write"))
		for range 4 {
			admin.Query(fmt.Sprintf(comment, first), nil, new(any))
			newCollection(t, admin, "Any")
		}
		if u := moreUsageOf(admin); u.CommentsLimit != nil || u.MakesLimit != nil || u.CollectionsLimit != nil ||
			u.CollectedThingsLimit != nil {
			t.Errorf("an administrator: got usage %+v, want no limits", u)
		}
	}, moreQuotas(2, 3, 2, 3))
}

// TestMovingAboveQuota checks that a user whose collections contain more than the quota, such as a
// former moderator, can move things between them, and add none.
func TestMovingAboveQuota(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		role := `mutation { setUserRole(input: {username: "bob", role: %s, reason: "Voted."}) { user { id } } }`
		admin.Query(fmt.Sprintf(role, "MODERATOR"), nil, new(any))
		from, to := newCollection(t, bob, "From"), newCollection(t, bob, "To")
		things := make([]int64, 4)
		for i := range things {
			things[i] = servertest.PublishedThing(t, ada, fmt.Sprint("Thing ", i))
			bob.Do("POST", fmt.Sprintf("/collections/%d/thing/%d", from, things[i]), nil).Want(t, 200)
		}
		admin.Query(fmt.Sprintf(role, "MEMBER"), nil, new(any))
		move := `mutation { moveThings(input: {collectionId: %d, thingIds: [%d]%s}) { collection { id } } }`
		for i, source := range []string{fmt.Sprint(", fromCollectionId: ", from), ", fromOthers: true"} {
			if r := bob.GraphQL(fmt.Sprintf(move, to, things[i], source), nil); r.Code() != "" {
				t.Errorf("moving with %q: got %+v, want no error", source, r.Errors)
			}
		}
		if code := bob.GraphQL(fmt.Sprintf(move, to, things[2], ""), nil).Code(); code != "CONFLICT" {
			t.Errorf("adding: %q, want CONFLICT", code)
		}
	}, moreQuotas(0, 0, 0, 3))
}

// TestRowQuotasAtOnce checks that concurrent requests do not exceed the quotas of rows, and that as
// many succeed as these allow.
func TestRowQuotasAtOnce(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		things := make([]int64, 8)
		for i := range things {
			things[i] = servertest.PublishedThing(t, ada, fmt.Sprint("Thing ", i))
		}
		collection := newCollection(t, bob, "First")
		kinds := []string{
			`createComment(input: {target: {type: THING, id: %d}, body: "Nice."}) { comment { id } }`,
			`createMake(input: {thingId: %d}) { make { id } }`,
			`createCollection(input: {name: "Thing %d"}) { collection { id } }`,
			fmt.Sprintf(`addToCollection(input: {collectionId: %d, thingId: %%d}) { collection { id } }`, collection),
		}
		codes := servertest.Together(len(kinds)*len(things), func(i int) string {
			return bob.GraphQL(fmt.Sprintf("mutation { "+kinds[i%len(kinds)]+" }", things[i/len(kinds)]), nil).Code()
		})
		for kind, want := range []map[string]int{{"": 3, "RATE_LIMITED": 5}, {"": 2, "RATE_LIMITED": 6},
			{"": 4, "CONFLICT": 4}, {"": 6, "CONFLICT": 2}} {
			got := map[string]int{}
			for i := range things {
				got[codes[i*len(kinds)+kind]]++
			}
			if !maps.Equal(got, want) {
				t.Errorf("%.20s: %v, want %v", kinds[kind], got, want)
			}
		}
		s.Fold()
		if u := moreUsageOf(bob); u.CommentsToday != 3 || u.MakesToday != 2 || u.Collections != 5 || u.CollectedThings != 6 {
			t.Errorf("got usage %+v, want 3 comments, 2 makes, 5 collections and 6 things in them", u)
		}
	}, moreQuotas(2, 3, 5, 6))
}

// newCollection creates a collection and returns its ID.
func newCollection(t *testing.T, c *servertest.Client, name string) (id int64) {
	t.Helper()
	var made struct{ ID int64 }
	c.Do("POST", "/collections", servertest.Object{"name": name}).Want(t, 200, &made)
	return made.ID
}
