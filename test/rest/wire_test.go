package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestSlashes checks that paths work with and without a trailing slash, and with several slashes at
// the start, without a redirect, and that words with capital letters are case-sensitive.
func TestSlashes(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		for _, path := range []string{"/files/%d", "/files/%d/download", "/files/%d/finalize"} {
			for _, form := range []string{"%s", "%s/", "/%s", "//%s/"} {
				form := fmt.Sprintf(form, path)
				status := w.Ada.Get(fmt.Sprintf(form, w.Public)).StatusCode
				if want := map[bool]int{true: 302, false: 200}[strings.HasSuffix(path, "download")]; status != want {
					t.Errorf("GET %s: %d, want %d", form, status, want)
				}
			}
		}
		for _, path := range []string{"/things", "/files/0/FinalizeFiles", "/files/0/uploadFile"} {
			for _, slash := range []string{"", "/"} {
				if status := w.Ada.Do("POST", path+slash, nil).StatusCode; status != 400 {
					t.Errorf("POST %s%s with no body: %d, want 400", path, slash, status)
				}
			}
		}
		for _, path := range []string{"/files/0/finalizefiles", "/files//1", "/nowhere", "/files/1/download/now",
			"/things/1/../1"} {
			r := w.Ada.Do("GET", path, nil)
			if r.StatusCode != 404 && r.StatusCode != 405 {
				t.Errorf("GET %s: %d, want 404", path, r.StatusCode)
			}
			if r.StatusCode == 404 {
				servertest.CheckErrorBody(t, r)
			}
		}
		r := w.Ada.Do("DELETE", fmt.Sprintf("/files/%d", w.Public), nil)
		if r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET" || r.Header.Get("X-Error") == "" {
			t.Errorf("DELETE: got %d, Allow %q, want 405, GET and X-Error", r.StatusCode, r.Header.Get("Allow"))
		}
	})
}

// tagNames returns the names of the tags of a thing, separated by spaces.
func tagNames(thing servertest.Object) string {
	var names []string
	tags, _ := thing["tags"].([]any)
	for _, tag := range tags {
		o, _ := tag.(servertest.Object)
		names = append(names, fmt.Sprint(o["name"]))
	}
	return strings.Join(names, " ")
}

// TestBodyFormatIsDetected checks that the format of a request body is detected from its content,
// whatever the Content-Type is.
func TestBodyFormatIsDetected(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		send := func(path, contentType, body string) *servertest.Response {
			r := w.Ada.Request("POST", path, body)
			if contentType != "" {
				r.Header.Set("Content-Type", contentType)
			}
			return w.Ada.Send(r)
		}
		for _, contentType := range []string{"application/x-www-form-urlencoded", "", "application/json",
			"text/plain; charset=utf-8", "multipart/form-data"} {
			for _, body := range []string{`{"name":"A","license":"cc","category":"Art"}`,
				"\ufeff {\"name\":\"A\",\"license\":\"cc\",\"category\":2}\n", "name=A&license=cc&category=Art&tags[]=x&tags[]=y"} {
				if o := servertest.ReadObject(t, send("/things/", contentType, body)); o["name"] != "A" ||
					o["is_published"] != 0.0 {
					t.Errorf("%q as %q: got name %v, want A", body, contentType, o["name"])
				}
			}
			for _, body := range []string{"tags[]=x&tags[]=y", "tags[1]=y&tags[0]=x", "tags%5B10%5D=y&tags%5B9%5D=x",
				"tags=x&tags=y", "tags=x,+y,"} {
				if o := servertest.ReadObject(t, send("/things/", contentType, "name=A&license=cc&category=Art&"+body)); tagNames(
					o) != "x y" {
					t.Errorf("%q as %q: the tags are %v, want x and y", body, contentType, o["tags"])
				}
			}
			for _, body := range []string{"", "null", "{}", "a=b", `{"x":[1]}`, "\x00\xff"} {
				path := fmt.Sprintf("/files/%d/finalize", w.Public)
				if o := servertest.ReadObject(t, send(path, contentType, body)); o["id"] != float64(w.Public) {
					t.Errorf("finalize with %q as %q: got %v, want thing %d", body, contentType, o, w.Public)
				}
				servertest.ReadObject(t, send(fmt.Sprintf("/things/%d/publish", w.Thing), contentType, body))
			}
		}
		form, contentType := servertest.Form([][2]string{{"name", "A"}, {"license", "gpl"}, {"category", "art"}}, "", "", nil)
		if o := servertest.ReadObject(t, send("/things", contentType, string(form))); o["license"] != "GNU - GPL" {
			t.Errorf("multipart: got license %v, want GNU - GPL", o["license"])
		}
		for _, tags := range [][2]string{{"tags[]", "tags[]"}, {"tags[0]", "tags[1]"}, {"tags", "tags"}} {
			form, contentType := servertest.Form([][2]string{{"name", "A"}, {"license", "gpl"}, {"category", "art"},
				{tags[0], "x"}, {tags[1], "y"}}, "", "", nil)
			if o := servertest.ReadObject(t, send("/things", contentType, string(form))); tagNames(o) != "x y" {
				t.Errorf("multipart with %s: the tags are %v, want x and y", tags, o["tags"])
			}
		}
		// PHP and jQuery encode lists of objects like this.
		pending := w.Ada.Upload("late.stl", servertest.Mesh(t, "hschendel_simple_ascii.stl"))
		nested := fmt.Sprintf(
			"target_id=%d&target_type=thing&pending_uploads%%5B0%%5D%%5Bid%%5D=%d&pending_uploads[0][rank]=7", w.Thing, pending)
		send("/files/0/FinalizeFiles", "application/x-www-form-urlencoded", nested).Want(t, 200)
		if o := servertest.ReadObject(t, send(fmt.Sprintf("/files/%d/finalize", pending), "", "")); o["rank"] != 7.0 {
			t.Errorf("FinalizeFiles by a form: got %v, want rank 7", o)
		}
		whole := "name=A&license=cc&category=Art&tags[0][name]=x&tags[0][url]=u&tags[1][name]=y&creator[name]=ada&deep[a][b][c][d][e]=1&half[=1&half]=2"
		if o := servertest.ReadObject(t, send("/things/", "application/x-www-form-urlencoded", whole)); tagNames(o) != "x y" {
			t.Errorf("a form with objects: got tags %v, want x and y", o["tags"])
		}
		for name, wrong := range map[string]string{
			"license": `{"name":"A","category":"Art"}`, "name": `{"license":"cc","category":"Art"}`,
			"is_wip": `{"name":"A","license":"cc","category":"Art","is_wip":"maybe"}`,
			"tags":   `{"name":"A","license":"cc","category":"Art","tags":[{}]}`,
		} {
			r := send("/things/", "", wrong).Want(t, 400)
			var e struct{ Message string }
			if _ = json.Unmarshal(r.Bytes, &e); !strings.HasPrefix(e.Message, name) {
				t.Errorf("%s: got message %q, want one that begins with %s", wrong, e.Message, name)
			}
		}
	})
}

// TestLicences checks that licenses are accepted as a code, a code without hyphens or a long name,
// and are returned as a long name.
func TestLicences(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		for code, name := range map[string]string{
			"cc": "Creative Commons - Attribution", "cc-sa": "Creative Commons - Attribution - Share Alike",
			"cc-nd":    "Creative Commons - Attribution - No Derivatives",
			"cc-nc":    "Creative Commons - Attribution - Non-Commercial",
			"cc-nc-sa": "Creative Commons - Attribution - Non-Commercial - Share Alike",
			"cc-nc-nd": "Creative Commons - Attribution - Non-Commercial - No Derivatives",
			"pd0":      "Creative Commons - Public Domain Dedication", "gpl": "GNU - GPL", "lgpl": "GNU - LGPL",
			"bsd": "BSD License",
		} {
			for _, written := range []string{code, strings.ReplaceAll(code, "-", ""), name} {
				o := servertest.ReadObject(t, ada.Do("POST", "/things/", servertest.Object{"name": "A", "license": written,
					"category": "Tools"}))
				if o["license"] != name || o["allows_derivatives"] != !strings.Contains(code, "nd") {
					t.Errorf("%q: %v, derivatives %v; want %q", written, o["license"], o["allows_derivatives"], name)
				}
			}
		}
		// An undocumented license is accepted as the most similar one. If there is none, a new thing gets
		// the most restrictive one, and an update changes nothing.
		old := ada.Thing("Old")
		path := fmt.Sprint("/things/", old)
		for _, c := range []struct{ written, created, changed string }{
			{"gpl3", "GNU - GPL", "GNU - GPL"}, {"lgpl-2.1", "GNU - LGPL", "GNU - LGPL"},
			{"cc-by-nc-sa-4.0", "Creative Commons - Attribution - Non-Commercial - Share Alike",
				"Creative Commons - Attribution - Non-Commercial - Share Alike"},
			{"CC0 1.0", "Creative Commons - Public Domain Dedication", "Creative Commons - Public Domain Dedication"},
			{"c", "Creative Commons - Attribution - Non-Commercial - No Derivatives", "BSD License"},
			{"CC-NC-SA-ND", "Creative Commons - Attribution - Non-Commercial - No Derivatives",
				"Creative Commons - Attribution - Non-Commercial - No Derivatives"},
			{"noncommercial", "Creative Commons - Attribution - Non-Commercial",
				"Creative Commons - Attribution - Non-Commercial"},
			{"mine", "Creative Commons - Attribution - Non-Commercial - No Derivatives", "BSD License"}, {"", "", "BSD License"},
		} {
			ada.Do("PATCH", path, servertest.Object{"license": "bsd"}).Want(t, 200)
			if c.created != "" {
				if o := servertest.ReadObject(t, ada.Do("POST", "/things/", servertest.Object{"name": "A", "license": c.written,
					"category": "Tools"})); o["license"] != c.created {
					t.Errorf("POST with %q: %v, want %q", c.written, o["license"], c.created)
				}
			}
			if o := servertest.ReadObject(t,
				ada.Do("PATCH", path, servertest.Object{"license": c.written})); o["license"] != c.changed {
				t.Errorf("PATCH with %q: %v, want %q", c.written, o["license"], c.changed)
			}
		}
		// A list with a license is accepted as the license.
		if o := servertest.ReadObject(t,
			ada.Do("PATCH", path,
				servertest.Object{"license": []string{"cc-nc"}})); o["license"] != "Creative Commons - Attribution - Non-Commercial" {
			t.Errorf("PATCH with a list: got license %v, want Attribution - Non-Commercial", o["license"])
		}
	})
}

var (
	wireTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$`)
	fileTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$`)
)

// The fields of things, files, images and users in the legacy wire format, as name:type.
const (
	fileFields = `id:int name:string size:int url:address public_url:address download_url:address threejs_url:string thumbnail:address
		default_image:object? date:filetime formatted_size:string meta_data:array download_count:int direct_url:address? hash:string rank:int`
	imageFields = `id:int url:address name:string sizes:array added:time`
	userFields  = `id:int name:string first_name:string last_name:string full_name:string url:address public_url:address thumbnail:address count_of_followers:int
		count_of_following:int count_of_designs:int collection_count:int make_count:int accepts_tips:bool is_following:bool location:string cover:string is_admin:bool
		is_moderator:bool is_featured:bool is_verified:bool`
	thingFields = `name:string thumbnail:address url:address public_url:address description:string instructions:string description_html:string
		instructions_html:string details:string edu_details:string license:string files_url:address images_url:address likes_url:address
		ancestors_url:address derivatives_url:address tags_url:address categories_url:address moderation:string type_name:string added:time modified:time
		creator:object default_image:object? education:object zip_data:object details_parts:array edu_details_parts:array tags:array ancestors:array
		is_published:flag source_url:string is_wip:flag is_purchased:flag needs_moderation:flag is_decoy:flag is_private:flag is_printable:flag is_winner:flag is_edu_approved:flag
		is_featured:bool is_nsfw:bool is_ai:bool is_liked:bool is_collected:bool is_watched:bool allows_derivatives:bool is_derivative:bool
		can_comment:bool is_banned:bool is_comments_disabled:bool
		id:int like_count:int collect_count:int comment_count:int file_count:int app_id:null download_count:int view_count:int remix_count:int
		make_count:int app_count:int root_comment_count:int`
)

// shape returns the differences between the fields of an object and the given fields with their
// types.
func shape(base string, o servertest.Object, fields string) (faults []string) {
	known := make(map[string]bool)
	for _, field := range strings.Fields(fields) {
		name, kind, _ := strings.Cut(field, ":")
		known[name] = true
		v, there := o[name]
		short, nullable := strings.CutSuffix(kind, "?")
		text, isText := v.(string)
		number, isNumber := v.(float64)
		_, isBool := v.(bool)
		_, isArray := v.([]any)
		_, isObject := v.(servertest.Object)
		ok := map[string]bool{
			"int": isNumber && number == float64(int64(number)), "flag": isNumber && (number == 0 || number == 1),
			"string": isText, "bool": isBool,
			"array": isArray, "object": isObject, "null": v == nil, "time": wireTime.MatchString(text),
			"filetime": fileTime.MatchString(text),
			"address":  strings.HasPrefix(text, base+"/"),
		}[short]
		if !there || !ok && !(nullable && v == nil) {
			faults = append(faults, fmt.Sprintf("%s: %v is no %s", name, v, kind))
		}
	}
	for name := range o {
		if !known[name] {
			faults = append(faults, name+": is not documented")
		}
	}
	return faults
}

// TestShapes checks that things, files, images and users have every documented field with its type,
// whether optional data is set or not.
func TestShapes(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		picture, paper := w.Ada.Upload("a.png", servertest.Mesh(t, "lib3mf_thumbnail.png")),
			w.Ada.Upload("a.pdf", servertest.Mesh(t, "own_assembly.pdf"))
		bare := w.Ada.Thing("Bare")
		w.Ada.Finalize("thing", w.Thing, picture, paper).Want(t, 200)
		check := func(what string, o any, fields string) servertest.Object {
			t.Helper()
			in, ok := o.(servertest.Object)
			if !ok {
				t.Fatalf("%s: got %v, want an object", what, o)
			}
			for _, fault := range shape(s.URL, in, fields) {
				t.Errorf("%s: %s", what, fault)
			}
			return in
		}
		for _, id := range []int64{w.Thing, w.Draft, bare} {
			thing := check(fmt.Sprint("thing ", id), servertest.ReadObject(t, w.Ada.Get(fmt.Sprintf("/things/%d", id))),
				thingFields)
			check("creator", thing["creator"], userFields)
			if thing["details"] == "" {
				t.Error("details are empty")
			}
			zip, education := thing["zip_data"].(servertest.Object), thing["education"].(servertest.Object)
			for name, v := range map[string]any{"files": zip["files"], "images": zip["images"], "grades": education["grades"],
				"subjects": education["subjects"]} {
				if _, ok := v.([]any); !ok {
					t.Errorf("%s of thing %d: got %v, want an array", name, id, v)
				}
			}
			if image := thing["default_image"]; (image != nil) != (id == w.Thing) {
				t.Errorf("default_image of thing %d: got %v, want one only of thing %d", id, image, w.Thing)
			} else if image != nil {
				sizes := check("default_image", image, imageFields)["sizes"].([]any)
				if len(sizes) != 15 || sizes[12].(servertest.Object)["type"] != "display" ||
					sizes[12].(servertest.Object)["size"] != "large" {
					t.Errorf("got sizes %v, want 15, and number 12 display, large", sizes)
				}
			}
		}
		for _, id := range []int64{w.Public, w.Hidden, picture, paper, w.Pending} {
			f := check(fmt.Sprint("file ", id), servertest.ReadObject(t, w.Ada.Get(fmt.Sprintf("/files/%d", id))), fileFields)
			if (f["direct_url"] == nil) != (id == paper) || (f["default_image"] != nil) != (id == picture) ||
				f["threejs_url"] != "" {
				t.Errorf("file %d: direct_url %v, default_image %v", id, f["direct_url"], f["default_image"])
			}
			public, _, signed := strings.Cut(f["public_url"].(string), "?")
			if signed != (id == w.Hidden || id == w.Pending) {
				t.Errorf("file %d: public_url %v", id, f["public_url"])
			}
			if f["url"] != fmt.Sprintf("%s/files/%d", s.URL, id) || f["download_url"] != fmt.Sprintf("%s/files/%d/download",
				s.URL, id) || public != fmt.Sprintf("%s/download:%d", s.URL, id) {
				t.Errorf("file %d: addresses %v %v %v", id, f["url"], f["download_url"], f["public_url"])
			}
			for _, address := range []any{f["direct_url"], f["thumbnail"]} {
				if address != nil {
					s.Client("").Get(address.(string)).Want(t, 200)
				}
			}
		}
		check("finalized image", servertest.ReadObject(t, w.Ada.Get(fmt.Sprintf("/files/%d/finalize", picture))), imageFields)
		var files []servertest.Object
		w.Ada.Get(fmt.Sprintf("/things/%d/files", w.Thing)).Want(t, 200, &files)
		if len(files) != 2 {
			t.Errorf("%d files of the thing, want 2 and no image", len(files))
		}
		for _, path := range []string{"/things/%d/files", "/users/ada/downloads?x=%d"} {
			if body := string(w.Ada.Get(fmt.Sprintf(path, bare)).Want(t, 200).Bytes); body != "[]" {
				t.Errorf("%s of nothing: %s, want []", path, body)
			}
		}
	})
}

// TestPages checks that list responses link to their next page in headers, and that the links keep
// the query parameters.
func TestPages(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		for i := range 7 {
			thing, file := ada.Thing(fmt.Sprint("Thing ", i)), ada.Upload("a.stl", stl)
			ada.Finalize("thing", thing, file).Want(t, 200)
			for range 2 {
				ada.Get(fmt.Sprintf("/files/%d/download", file)).Want(t, 302)
			}
		}
		nobody := s.Client("")
		next, seen, pages := "/users/me/downloads/?per_page=3&access_token="+ada.Token+"&keep=a%20b", map[any]bool{}, 0
		for next != "" {
			r := nobody.Get(next)
			var things []servertest.Object
			r.Want(t, 200, &things)
			for _, o := range things {
				if seen[o["id"]] {
					t.Errorf("got thing %v twice, want each once", o["id"])
				}
				seen[o["id"]] = true
			}
			if pages++; r.Header.Get("Total-Count") != "7" || pages > 3 {
				t.Fatalf("page %d: got Total-Count %q, want 7 on three pages", pages, r.Header.Get("Total-Count"))
			}
			next = ""
			for _, link := range strings.Split(r.Header.Get("Link"), ", ") {
				address, rel, _ := strings.Cut(strings.TrimPrefix(link, "<"), `>; rel="`)
				if !strings.HasPrefix(address, s.URL+"/users/me/downloads/?") ||
					!strings.Contains(address, "access_token="+ada.Token) || !strings.Contains(address, "keep=a") {
					t.Errorf("got link %s, want one to the same list with the token and the parameter keep", link)
				}
				if rel == `next"` {
					next = address
				}
				if rel == `last"` && !strings.Contains(address, "page=3") {
					t.Errorf("got last page %s, want page 3", address)
				}
			}
		}
		if len(seen) != 7 {
			t.Errorf("the links lead to %d things, want 7", len(seen))
		}
		for query, want := range map[string]int{"page=0&per_page=2": 2, "page=-5": 7, "per_page=1000": 7, "per_page=0": 1,
			"page=x&per_page=y": 7, "page=99999999999999999999": 0, "page=2147483647": 0} {
			var things []servertest.Object
			ada.Get("/users/ada/downloads?"+query).Want(t, 200, &things)
			if len(things) != want {
				t.Errorf("%s: %d things, want %d", query, len(things), want)
			}
		}
		// The cursor of a link counts for the page of the link only, and what is no cursor is ignored.
		listed := func(path string) (ids []any, next string) {
			var things []servertest.Object
			r := ada.Get(path).Want(t, 200, &things)
			for _, o := range things {
				ids = append(ids, o["id"])
			}
			return ids, servertest.NextOf(r)
		}
		path := "/users/ada/downloads?per_page=2"
		first, next := listed(path)
		second, _ := listed(path + "&page=2")
		third, _ := listed(path + "&page=3")
		linked, err := url.Parse(next)
		if err != nil {
			t.Fatal(err)
		}
		cursor := "&after=" + url.QueryEscape(linked.Query().Get("after"))
		_, graphCursor, _ := strings.Cut(linked.Query().Get("after"), ":")
		for query, want := range map[string][]any{
			"&page=2&after=garbage": second, "&page=3&after=3:garbage": third, "&after=garbage": first, "&page=2&after=": second,
			"&page=2" + cursor: second, "&page=3" + cursor: third, "&page=1" + cursor: first, cursor: second, "&page=x" +
				cursor: second,
			"&page=2&after=" + graphCursor: second, "&after=" + graphCursor: second, "&page=3&after=" + graphCursor: second,
		} {
			if got, _ := listed(path + query); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %v, want %v", query, got, want)
			}
		}
	})
}

// TestListsOfOnePage checks that a client which requests pages until one is empty comes to an end
// in lists that are not divided into pages.
func TestListsOfOnePage(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		ids := servertest.FullThing(t, s, ada, bob)
		thing := fmt.Sprint("/things/", ids["thing_id"])
		for _, path := range []string{thing + "/files", thing + "/images", thing + "/tags", thing + "/categories",
			fmt.Sprintf("/copies/%v/images", ids["copy_id"]), "/categories", "/categories?return=complete",
			"/users/bob/likesids"} {
			sign := "?"
			if strings.Contains(path, "?") {
				sign = "&"
			}
			r := ada.Get(path).Want(t, 200)
			whole := string(r.Bytes)
			var entries []any
			if err := json.Unmarshal(r.Bytes, &entries); err != nil ||
				r.Header.Get("Total-Count") != strconv.Itoa(len(entries)) {
				t.Errorf("%s: got Total-Count %q of %d entries, %v", path, r.Header.Get("Total-Count"), len(entries), err)
			}
			for query, want := range map[string]string{"page=1": whole, "page=0&per_page=1": whole, "page=": whole,
				"page=2": "[]", "page=7&per_page=1": "[]"} {
				if got := string(ada.Get(path+sign+query).Want(t, 200).Bytes); got != want || whole == "[]" {
					t.Errorf("%s%s%s: %.200s, want %.200s", path, sign, query, got, want)
				}
			}
		}
	})
}

var (
	relations = regexp.MustCompile(`rel="([^"]*)"`)
	letters   = regexp.MustCompile(`^[a-z]+$`)
)

// TestDeprecation checks that deprecated operations, and no others, have a Deprecation header.
func TestDeprecation(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		for _, c := range []struct {
			method, path, successor string
		}{
			{"GET", fmt.Sprintf("/files/%d/finalize", w.Public), "/files/0/FinalizeFiles"},
			{"POST", fmt.Sprintf("/files/%d/finalize/", w.Public), "/files/0/FinalizeFiles"},
			{"POST", "/files/0/FinalizeFiles", "/graphql"},
			{"GET", "/featured", "/search?is_featured=1"},
			{"GET", "/newest/", "/search?sort=newest"},
			{"GET", "/popular?page=2", "/search?sort=popular"},
			{"GET", "/search?sort=newest", ""},
			{"GET", fmt.Sprintf("/files/%d", w.Public), ""},
			{"GET", fmt.Sprintf("/files/%d/download", w.Public), ""},
		} {
			h := w.Ada.Do(c.method, c.path, nil).Header
			links := strings.Join(h.Values("Link"), ", ")
			announced := regexp.MustCompile(`^@\d{10}$`).MatchString(h.Get("Deprecation")) &&
				strings.Contains(links, `rel="deprecation"`)
			for _, rel := range relations.FindAllStringSubmatch(links, -1) {
				if !letters.MatchString(rel[1]) {
					t.Errorf("%s %s: the relation %q is not of letters only", c.method, c.path, rel[1])
				}
			}
			if announced != (c.successor != "") {
				t.Errorf("%s %s: Deprecation %q, Link %q", c.method, c.path, h.Get("Deprecation"), links)
			}
			if want := map[bool]string{true: "Wed, 30 Jun 2027 00:00:00 GMT"}[c.successor != ""]; h.Get("Sunset") != want {
				t.Errorf("%s %s: Sunset %q, want %q", c.method, c.path, h.Get("Sunset"), want)
			}
			if c.successor == "" {
				continue
			}
			// The URL with rel="deprecation" leads to text about the operation.
			guide := regexp.MustCompile(`<([^>#]+)#(\w+)>; rel="deprecation"`).FindStringSubmatch(links)
			if body := string(s.Client("").Get(guide[1]).Want(t, 200).Bytes); !strings.Contains(body, `id="`+guide[2]+`"`) {
				t.Errorf("%s has nothing of %s", guide[1], guide[2])
			}
		}
	}, func(s *config.Settings) { s.Sunset = config.Day{Time: time.Date(2027, 6, 30, 0, 0, 0, 0, time.UTC)} })
}

// TestRefusedOperations checks that operations of the published interface that this server does not
// support return 404 with the reason, or 401 without a valid token.
func TestRefusedOperations(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		for _, path := range []string{"/groups/7/members/", "/apps/3"} {
			r := ada.Get(path).Want(t, http.StatusNotFound)
			servertest.CheckErrorBody(t, r)
			if !strings.Contains(string(r.Bytes), "not part of this server") {
				t.Errorf("GET %s: got %s, want that it is not part of this server", path, r.Bytes)
			}
			for _, token := range []string{"", "meshyard_wrong"} {
				servertest.CheckErrorBody(t, s.Client(token).Get(path).Want(t, http.StatusUnauthorized))
			}
		}
	})
}
