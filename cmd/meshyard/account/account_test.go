package account_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshyard/meshyard/cmd/meshyard/account"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/legacyclient"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/collections"
	"github.com/meshyard/meshyard/models/fsck"
	"github.com/meshyard/meshyard/models/makes"
	"github.com/meshyard/meshyard/models/uploads"
	"github.com/meshyard/meshyard/test/servertest"
)

// things returns the number of things of the account that is imported. "make test-account" sets it
// to 200.
func things(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("MESHYARD_TEST_THINGS"))
	if err != nil {
		return 20
	}
	return n
}

// oldAccount creates the objects in the other service, which is also a Meshyard.
type oldAccount struct {
	t        *testing.T
	s        *servertest.Server
	stl, png []byte
	number   int
}

func must[V any](v V, err error) func(t *testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (o *oldAccount) user(name string) auth.Caller {
	o.t.Helper()
	u := must(o.s.Store.Admin().CreateUser(context.Background(), name, false))(o.t)
	return auth.Caller{UserID: u.ID, Scopes: auth.Scopes{auth.Read, auth.Write}}
}

// upload uploads a model or an image with unique content.
func (o *oldAccount) upload(caller auth.Caller, name string) int64 {
	o.t.Helper()
	content := o.stl
	if strings.HasSuffix(name, ".png") {
		content = o.png
	}
	o.number++
	content = append(bytes.Clone(content), fmt.Sprintf(" %d", o.number)...)
	return must(o.s.Store.Uploads.Upload(context.Background(), caller,
		uploads.NewUpload{Name: name, Bytes: bytes.NewReader(content)}))(o.t).ID
}

func (o *oldAccount) thing(caller auth.Caller, i int, ancestors ...int64) int64 {
	o.t.Helper()
	ctx := context.Background()
	files := []models.FinalizeFile{{ID: o.upload(caller, "part.stl")}, {ID: o.upload(caller, "picture.png")}}
	if i%3 == 0 {
		files = append(files, models.FinalizeFile{ID: o.upload(caller, "second.stl"), Rank: new(int32(9))},
			models.FinalizeFile{ID: o.upload(caller, "picture.png")}, models.FinalizeFile{ID: o.upload(caller, "notes.txt")})
	}
	licenses := models.Licenses
	n := models.NewThing{
		Name: fmt.Sprintf("Thing %d of %d", i, caller.UserID), License: licenses[i%len(licenses)],
		Category:    []string{"Tools", "Chess", "Art"}[i%3],
		Description: "# Über *it*\n\n<b>🙂</b>", Instructions: "Print it.", IsWIP: i%2 == 0, IsNSFW: i%7 == 0, IsAI: i%5 == 0,
		DetailsParts: `[{"type": "summary", "data": [1]}]`, Tags: []string{"gear", fmt.Sprint("Tag ", i)},
		AncestorIDs: ancestors, Files: files,
	}
	id := must(o.s.Store.CreateThing(ctx, caller, n))(o.t).ID
	if i%6 != 5 {
		must(o.s.Store.PublishThing(ctx, caller, id, models.Published))(o.t)
	}
	return id
}

func (o *oldAccount) make(caller auth.Caller, thing int64, name string, images ...string) {
	o.t.Helper()
	ctx := context.Background()
	m, _, err := o.s.Store.Makes.CreateMake(ctx, caller, makes.NewMake{ThingID: thing, Name: name,
		Description: "*Made* of " + name})
	must(m, err)(o.t)
	for _, image := range images {
		must(o.s.Store.Finalize(ctx, caller, []models.FinalizeFile{{ID: o.upload(caller, image)}},
			models.Target{Type: models.OnMake, ID: m.ID}))(o.t)
	}
}

// flaky is a proxy in front of the other service. It breaks a connection, limits the rate and, at a
// given request, interrupts the import.
type flaky struct {
	*httptest.Server
	requests    atomic.Int64
	interruptAt int64
	interrupt   context.CancelFunc
	missing     func(path string) bool // reports whether the response is 404; may be nil
}

func newFlaky(t *testing.T, old *servertest.Server) *flaky {
	t.Helper()
	f := new(flaky)
	to := must(url.Parse(old.URL))(t)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: func(r *http.Response) error {
			// Replace the URLs in responses by those of the proxy.
			r.Header.Set("Location", strings.ReplaceAll(r.Header.Get("Location"), old.URL, f.URL))
			text, err := io.ReadAll(r.Body)
			if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
				text = bytes.ReplaceAll(text, []byte(old.URL), []byte(f.URL))
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
			r.Header.Set("Content-Length", strconv.Itoa(len(text)))
			return err
		},
	}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := f.requests.Add(1)
		switch {
		case f.missing != nil && f.missing(r.URL.Path):
			http.NotFound(w, r)
			return
		case f.interrupt != nil && n == f.interruptAt:
			f.interrupt()
		case n == 10:
			http.Error(w, `{"error": "Too Many Requests"}`, http.StatusTooManyRequests)
			return
		case n == 30 && strings.HasPrefix(r.URL.Path, "/blobs/"): // a response with too few bytes
			w.Header().Set("Content-Length", "100000")
		}
		r.Header.Del("Accept-Encoding")
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// TestImportAccount imports an account from one server into another. It interrupts the import three
// times, and compares both accounts.
func TestImportAccount(t *testing.T) {
	servertest.Each(t, func(t *testing.T, old *servertest.Server) {
		ctx := context.Background()
		n := things(t)
		o := &oldAccount{t: t, s: old, stl: servertest.Mesh(t, "hschendel_simple_bin.stl"),
			png: servertest.Mesh(t, "lib3mf_thumbnail.png")}
		zoe, ada := o.user("zoe"), o.user("ada")
		must(old.Store.UpdateProfile(ctx, ada, models.ProfileChange{FirstName: new("Ada"), Bio: new("**Hello**")}))(t)
		zoes, lost := o.thing(zoe, 0), o.thing(zoe, 1)
		var own []int64
		for i := range n {
			if i%4 == 3 {
				own = append(own, o.thing(ada, i, own[i-1], zoes))
			} else {
				own = append(own, o.thing(ada, i))
			}
			if i%5 == 0 {
				o.make(ada, own[i], fmt.Sprint("Make ", i), "one.png", "two.png")
			}
		}
		o.make(ada, zoes, "Make of Zoe's", "zoe.png")
		o.make(ada, lost, "Make of a lost thing", "lost.png")
		for i := range max(n/10, 2) {
			c := must(old.Store.Collections.CreateCollection(ctx, ada, collections.NewCollection{Name: "Same name",
				Description: fmt.Sprint("Number ", i)}))(t)
			for _, thing := range []int64{own[i], zoes, lost, own[i+1], own[5]} { // the last one is a draft
				must(old.Store.Collections.Collect(ctx, ada, c.ID, thing))(t)
			}
		}
		for _, thing := range []int64{zoes, lost} {
			if err := old.Store.Social.Like(ctx, ada, models.Target{Type: models.OnThing, ID: thing}); err != nil {
				t.Fatal(err)
			}
		}
		old.Fold()

		engine := "postgres"
		if strings.HasSuffix(t.Name(), engine) {
			engine = "sqlite"
		}
		to := servertest.Start(t, engine, func(s *config.Settings) { s.PreviewWorkers = 0 })
		token := func(s *servertest.Server, name string) string { return s.Token(name, auth.Read, auth.Write) }
		flaky := newFlaky(t, old)
		run := func(name string, interruptAt int64) (*account.Report, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			flaky.requests.Store(0)
			flaky.interruptAt, flaky.interrupt = interruptAt, cancel
			c := must(legacyclient.New(flaky.URL, legacyclient.Options{Token: token(old, name), AllowPrivate: true}))(t)
			return account.Import(ctx, to.Store, c, map[string]string{"ada": "lovelace", "zoe": "zoe"}[name], nil)
		}
		// One of Zoe's things is deleted after her account is imported. Objects that refer to it must be
		// reported.
		zoeReport := must(run("zoe", 0))(t)
		if zoeReport.Things != 2 || len(zoeReport.Problems) > 0 {
			t.Errorf("zoe: %+v", zoeReport)
		}
		found := must(to.Store.Admin().ThingsNamed(ctx, must(to.Store.Admin().User(ctx, "zoe"))(t).ID,
			fmt.Sprintf("Thing 1 of %d", zoe.UserID)))(t)
		if _, err := to.Store.DeleteThing(ctx, auth.Caller{UserID: must(to.Store.Admin().User(ctx, "zoe"))(t).ID}, found[0],
			""); err != nil {
			t.Fatal(err)
		}
		for _, at := range []int64{25, int64(3 * n), int64(5 * n)} {
			if _, err := run("ada", at); !errors.Is(err, context.Canceled) {
				t.Fatalf("interrupted at request %d: got %v", at, err)
			}
		}
		report, err := run("ada", 0)
		if err != nil {
			t.Fatal(err)
		}
		again := must(run("ada", 0))(t)
		if again.Things+again.Files+again.Images+again.Makes+again.Collections != 0 {
			t.Errorf("a second import: %+v", again)
		}
		for _, want := range []string{"its thing 2, Thing 1 of 1, does not exist on this server",
			"1 of its 4 things do not exist on this server", "lists 4 of its 5 things, perhaps without drafts",
			"1 of 2 liked things do not exist on this server"} {
			if !slices.ContainsFunc(report.Problems, func(p string) bool { return strings.Contains(p, want) }) {
				t.Errorf("the problems are %q, want %q", report.Problems, want)
			}
		}

		before, after := &view{t: t, c: old.Client(token(old, "ada")), name: "ada"},
			&view{t: t, c: to.Client(token(to, "lovelace")), name: "lovelace"}
		if diff := cmp.Diff(before.account(lost), after.account(0)); diff != "" {
			t.Errorf("-old +new\n%s", diff)
		}
		if got := len(after.list("/users/lovelace/things")); got != n {
			t.Errorf("got %d things, want %d", got, n)
		}
		var mine struct {
			Me struct {
				Makes struct {
					Nodes []struct{ Name, CreatedAt, UpdatedAt string }
				}
			}
		}
		after.c.Query(`{ me { makes(first: 100) { nodes { name createdAt updatedAt } } } }`, nil, &mine)
		for _, m := range mine.Me.Makes.Nodes {
			if m.UpdatedAt != m.CreatedAt {
				t.Errorf("%s was updated at %s, want %s, because only the import changed it", m.Name, m.UpdatedAt, m.CreatedAt)
			}
		}
		var things struct {
			User struct {
				Things struct {
					Nodes []struct {
						Name   string
						Origin struct{ Creator, URL, CreatorURL, ImportedAt string }
					}
				}
			}
		}
		to.Client(to.Token("lovelace", auth.Read)).
			Query(`{ user(username: "lovelace") { things(first: 3) { nodes { name origin { creator url creatorUrl importedAt } } } } }`, nil, &things)
		if len(things.User.Things.Nodes) == 0 {
			t.Error("got no things with an origin")
		}
		for _, n := range things.User.Things.Nodes {
			if o := n.Origin; o.Creator != "ada" || !strings.Contains(o.URL, "/thing:") ||
				!strings.HasSuffix(o.CreatorURL, "/ada") || o.ImportedAt == "" {
				t.Errorf("the origin of %s is %+v, want the user and the page in the other service", n.Name, o)
			}
		}
		_, err = to.Store.Fsck.Check(ctx, fsck.Options{Grace: time.Hour, Rehash: true}, func(p fsck.Problem) { t.Error(p) })
		if err != nil {
			t.Error(err)
		}
	}, func(s *config.Settings) { s.PreviewWorkers = 0 })
}

// pair starts a server for the import of accounts of old, on the other engine. run imports the
// account ada, and calls progress with each line unless it is nil.
func pair(t *testing.T, old *servertest.Server) (to *servertest.Server, proxy *flaky, run func(progress func(string)) (
	*account.Report, error)) {
	t.Helper()
	engine := "postgres"
	if strings.HasSuffix(t.Name(), engine) {
		engine = "sqlite"
	}
	to = servertest.Start(t, engine, func(s *config.Settings) { s.PreviewWorkers = 0 })
	proxy = newFlaky(t, old)
	return to, proxy, func(progress func(string)) (*account.Report, error) {
		c := must(legacyclient.New(proxy.URL, legacyclient.Options{Token: old.Token("ada", auth.Read, auth.Write),
			AllowPrivate: true}))(t)
		return account.Import(t.Context(), to.Store, c, "ada", progress)
	}
}

// TestImportAfterAMissingImage checks that an image that cannot be downloaded does not affect the
// next one, which an interrupted import attached but did not record.
func TestImportAfterAMissingImage(t *testing.T) {
	servertest.Each(t, func(t *testing.T, old *servertest.Server) {
		ctx := t.Context()
		o := &oldAccount{t: t, s: old, stl: servertest.Mesh(t, "hschendel_simple_bin.stl"),
			png: servertest.Mesh(t, "lib3mf_thumbnail.png")}
		ada := o.user("ada")
		o.make(ada, o.thing(o.user("zoe"), 0), "Make", "one.png", "two.png")
		to, proxy, run := pair(t, old)
		image := regexp.MustCompile(`^/(files|blobs|renders)/(\d+)(/|$)`)
		lost := map[string]bool{}
		v := &view{t: t, c: old.Client(old.Token("ada", auth.Read)), name: "ada"}
		for _, i := range v.list(fmt.Sprintf("/copies/%v/images", v.list("/users/ada/copies")[0]["id"])) {
			lost[fmt.Sprint(i["id"])] = true
		}
		if len(lost) != 2 {
			t.Fatalf("the make has the images %v, want 2", lost)
		}
		proxy.missing = func(path string) bool {
			m := image.FindStringSubmatch(path)
			return m != nil && lost[m[2]]
		}
		first := must(run(nil))(t)
		if first.Makes != 1 || first.Images != 0 {
			t.Fatalf("without images: %+v", first)
		}

		// The state after an interruption: the second image is attached, but not recorded.
		u := must(to.Store.Admin().User(ctx, "ada"))(t)
		here := auth.Caller{UserID: u.ID, Scopes: auth.Scopes{auth.Read, auth.Write}}
		there := &view{t: t, c: to.Client(to.Token("ada", auth.Read)), name: "ada"}
		id := int64(there.list("/users/ada/copies")[0]["id"].(float64))
		file := must(to.Store.Uploads.Upload(ctx, here, uploads.NewUpload{Name: "two.png", Bytes: bytes.NewReader(o.png)}))(t)
		must(to.Store.Finalize(ctx, here, []models.FinalizeFile{{ID: file.ID}},
			models.Target{Type: models.OnMake, ID: id}))(t)

		second := must(run(nil))(t)
		if second.Images != 1 || slices.ContainsFunc(second.Problems,
			func(p string) bool { return strings.Contains(p, "two.png") }) {
			t.Errorf("recorded %d images, want 1; the problems are %q, want none with two.png", second.Images, second.Problems)
		}
		if !slices.ContainsFunc(second.Problems, func(p string) bool { return strings.Contains(p, "one.png") }) {
			t.Errorf("the problems are %q, want one with one.png", second.Problems)
		}
	}, func(s *config.Settings) { s.PreviewWorkers = 0 })
}

// TestImportCountsWhatItFound checks that an object counts as imported before only if the lookup
// succeeded.
func TestImportCountsWhatItFound(t *testing.T) {
	servertest.Each(t, func(t *testing.T, old *servertest.Server) {
		o := &oldAccount{t: t, s: old, stl: servertest.Mesh(t, "hschendel_simple_bin.stl"),
			png: servertest.Mesh(t, "lib3mf_thumbnail.png")}
		ada := o.user("ada")
		for i := range 3 {
			o.thing(ada, i)
		}
		to, _, run := pair(t, old)
		must(run(nil))(t)
		again, err := run(func(line string) {
			if line != "1 of 3 things" {
				return
			}
			db := must(models.OpenDB(t.Context(), to.Settings.DatabaseURL))(t)
			defer db.Close()
			must(db.SQL().Exec("ALTER TABLE archive_ids RENAME TO away"))(t) // lookups fail from now on
		})
		if err == nil || again.There != 1 {
			t.Errorf("got %d objects that were imported before and the error %v, want 1 and an error", again.There, err)
		}
	}, func(s *config.Settings) { s.PreviewWorkers = 0 })
}

// view reads an account over the REST API.
type view struct {
	t    *testing.T
	c    *servertest.Client
	name string
}

func (v *view) get(path string) (got any) {
	v.t.Helper()
	v.c.Get(path).Want(v.t, 200, &got)
	return got
}

// list returns all pages of a list of objects.
func (v *view) list(path string) (all []map[string]any) {
	v.t.Helper()
	for page := 1; ; page++ {
		var got []map[string]any
		v.c.Get(fmt.Sprintf("%s?per_page=100&page=%d", path, page)).Want(v.t, 200, &got)
		if all = append(all, got...); len(got) < 100 {
			return all
		}
	}
}

// bytes returns the bytes at a URL of the server.
func (v *view) bytes(address any) string {
	v.t.Helper()
	path, ok := strings.CutPrefix(address.(string), v.c.URL)
	if !ok {
		v.t.Fatalf("%v is not a URL of the server", address)
	}
	return string(v.c.Get(path).Want(v.t, 200).Bytes)
}

// account returns everything in the account that must be the same on both servers. It omits the
// thing lost.
func (v *view) account(lost int64) map[string]any {
	v.t.Helper()
	all := map[string]any{}
	for _, thing := range v.list("/users/" + v.name + "/things") {
		id := string(must(json.Marshal(thing["id"]))(v.t))
		is := v.get("/things/" + id).(map[string]any)
		if is["is_published"] == 0.0 {
			delete(is, "is_collected") // the list of things in a collection omits drafts
		}
		whole := map[string]any{"thing": is, "categories": v.get("/things/" + id + "/categories")}
		for _, noun := range []string{"files", "images"} {
			files := v.list("/things/" + id + "/" + noun)
			for _, f := range files {
				address := f["direct_url"]
				if noun == "images" {
					address = f["sizes"].([]any)[0].(map[string]any)["url"]
				}
				if address != nil { // attachments have none, but they have a hash
					f["bytes"] = v.bytes(address)
				}
			}
			whole[noun] = files
		}
		all["thing "+thing["name"].(string)] = whole
	}
	makes := v.list("/users/" + v.name + "/copies")
	for _, m := range makes {
		images := v.list("/copies/" + string(must(json.Marshal(m["id"]))(v.t)) + "/images")
		for _, f := range images {
			f["bytes"] = v.bytes(f["sizes"].([]any)[0].(map[string]any)["url"])
		}
		m["images"] = images
		of := m["thing"].(map[string]any)
		m["of"] = of["name"]
		if of["id"] == float64(lost) {
			m["of"], m["category_name"] = nil, ""
		}
		delete(m, "thing")
	}
	all["makes"] = makes
	collections := v.list("/users/" + v.name + "/collections")
	for _, c := range collections {
		c["things"] = v.names(fmt.Sprintf("/collections/%v/things", c["id"]), lost)
		delete(c, "count") // it includes the omitted things
	}
	all["collections"] = collections
	all["likes"] = v.names("/users/"+v.name+"/likes", lost)
	me := v.get("/users/me").(map[string]any)
	for _, field := range []string{"first_name", "last_name", "bio", "location"} {
		all[field] = me[field]
	}
	return simple(all).(map[string]any)
}

// names returns the names of the things in a list, except the thing lost.
func (v *view) names(path string, lost int64) (names []string) {
	v.t.Helper()
	for _, thing := range v.list(path) {
		if thing["id"] != float64(lost) {
			names = append(names, thing["name"].(string))
		}
	}
	return names
}

// simple removes from a JSON value IDs, URLs, and counts and users, which depend on the server or
// on other users.
func simple(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			switch {
			case key == "id" || key == "creator" || strings.HasPrefix(key, "thumbnail") || key == "preview_image" ||
				key == "sizes" || key == "default_image",
				strings.HasSuffix(key, "url"), strings.HasSuffix(key, "count"), key == "zip_data":
				delete(v, key)
			default:
				v[key] = simple(value)
			}
		}
	case []any:
		for i, value := range v {
			v[i] = simple(value)
		}
	case []map[string]any:
		for _, value := range v {
			simple(value)
		}
	}
	return v
}
