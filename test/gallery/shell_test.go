package gallery_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/web/webpage"
	"github.com/meshyard/meshyard/test/servertest"
)

// hostileText contains text that tries to break out of each syntax in a page.
const hostileText = `</title></script></style>--></p><script>alert(1)</script><img src=x onerror=alert(2)>"' onload='alert(3)' x="{{.}} ]]>&amp; [a](javascript:alert(4))`

// gallerySettings returns a function that configures a public server with pages of the operator.
func gallerySettings(t *testing.T) func(*config.Settings) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"welcome.md": "# Welcome <script>alert(5)</script>\n\nPrint *something*.",
		"privacy.md": "# Privacy & you\n\nWe store [little](javascript:alert(6)).\n\n<script>alert(7)</script>",
		"imprint.md": "No heading", "notes.txt": "not a page", "logo.svg": `<svg xmlns="http://www.w3.org/2000/svg"/>`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(s *config.Settings) {
		s.SiteName, s.SiteFolder, s.SiteLogo = "A & B </script><script>alert(8)</script>", folder,
			filepath.Join(folder, "logo.svg")
		if err := s.SiteColor.UnmarshalText([]byte("#1b6ac9")); err != nil {
			t.Fatal(err)
		}
	}
}

// atom is the part of an Atom feed that the tests read.
type atom struct {
	Title string `xml:"title"`
	Links []struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	} `xml:"link"`
	Entries []struct {
		ID      string `xml:"id"`
		Title   string `xml:"title"`
		Updated string `xml:"updated"`
		Content string `xml:"content"`
	} `xml:"entry"`
}

// readFeed returns a feed and the IDs of its entries, which are URLs.
func readFeed(t *testing.T, c *servertest.Client, path string) (feed atom, ids []string) {
	t.Helper()
	r := c.Get(path).Want(t, 200)
	if err := xml.Unmarshal(r.Bytes, &feed); err != nil ||
		r.Header.Get("Content-Type") != "application/atom+xml; charset=utf-8" {
		t.Fatalf("%s: %v, %s", path, err, r.Header.Get("Content-Type"))
	}
	for _, e := range feed.Entries {
		ids = append(ids, e.ID)
	}
	return feed, ids
}

// readSitemap returns the URLs in a sitemap.
func readSitemap(t *testing.T, c *servertest.Client, path string) (addresses []string) {
	t.Helper()
	var set struct {
		XMLName xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		URLs    []struct {
			Loc string `xml:"loc"`
		} `xml:"url"`
	}
	if err := xml.Unmarshal(c.Get(path).Want(t, 200).Bytes, &set); err != nil {
		t.Fatal(err)
	}
	for _, u := range set.URLs {
		addresses = append(addresses, u.Loc)
	}
	return addresses
}

// TestPagesHoldHostileTexts stores a script in every text field, and checks that pages and feeds
// contain it only as text.
func TestPagesHoldHostileTexts(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, visitor := s.User("ada"), s.Client("")
		s.Password("ada", servertest.Password)
		id := servertest.PublishedThing(t, ada, "Vase")
		set := servertest.Object{"id": servertest.ID(id), "text": hostileText}
		var made struct {
			C struct{ Collection struct{ ID string } }
			M struct{ Make struct{ ID string } }
		}
		ada.Query(`mutation ($id: ID!, $text: String!) {
			updateThing(input: {id: $id, name: $text, description: $text, instructions: $text, tags: ["</script><script>alert(1)"]}) { thing { id } }
			updateProfile(input: {firstName: $text, lastName: $text, bio: $text, location: $text}) { user { id } }
			c: createCollection(input: {name: $text, description: $text}) { collection { id } }
			m: createMake(input: {thingId: $id, name: $text, description: $text}) { make { id } }
			createComment(input: {target: {type: THING, id: $id}, body: $text}) { comment { id } } }`, set, &made)
		makeID, err := strconv.ParseInt(made.M.Make.ID, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ada.Finalize("copy", makeID, ada.Upload(`a"><script>alert(1)</script>.png`,
			servertest.Mesh(t, "lib3mf_thumbnail.png")))
		ada.Query(`mutation ($c: ID!, $id: ID!) { addToCollection(input: {collectionId: $c, thingId: $id}) { collection { id } } }`,
			servertest.Object{"c": made.C.Collection.ID, "id": servertest.ID(id)}, new(any))
		bob := s.User("bob")
		bob.Query(`mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { id } } followUser(input: {username: "ada"}) { user { id } } }`, servertest.Object{"id": servertest.ID(id)}, new(any))
		b := s.Browser()
		b.SignIn("ada", servertest.Password).Want(t, http.StatusSeeOther)

		paths := []string{
			"/", "/explore", "/explore?q=" + url.QueryEscape(hostileText), "/thing:" + servertest.ID(id), "/make:" +
				made.M.Make.ID, "/collection:" + made.C.Collection.ID, "/ada", "/ada/makes", "/ada/collections", "/bob/likes",
			"/ada/followers",
			"/bob/following", "/category/tools", "/tag:%3C%2Fscript%3E%3Cscript%3Ealert(1)", "/upload", "/thing:1/edit", "/feed",
			"/notifications", "/settings", "/moderation", "/ada/drafts", "/legal/privacy", "/legal/imprint", "/nobody",
			"/%3Cscript%3E",
		}
		for _, path := range paths {
			for _, get := range []func(string) *servertest.Response{visitor.Get, b.Get} {
				page := servertest.OpenPage(t, get, path)
				want := 200
				if path == "/nobody" || path == "/%3Cscript%3E" {
					want = 404
				}
				if page.Status != want || page.Config.Name != "A & B </script><script>alert(8)</script>" ||
					page.Config.BaseURL != s.URL {
					t.Errorf("%s: %d, config %+v", path, page.Status, page.Config)
				}
			}
		}
		page := servertest.OpenPage(t, visitor.Get, "/thing:"+servertest.ID(id))
		if page.Meta["og:title"] != hostileText || page.Model["name"] != hostileText ||
			page.Title != hostileText+" · A & B </script><script>alert(8)</script>" {
			t.Errorf("the page of the thing: %+v", page)
		}
		title := "Make of " + hostileText + " by ada"
		if page := servertest.OpenPage(t, visitor.Get, "/make:"+made.M.Make.ID); page.Meta["og:title"] != title ||
			page.Title != title+" · A & B </script><script>alert(8)</script>" {
			t.Errorf("the page of the make: %+v", page)
		}
		if who := servertest.OpenPage(t, b.Get, "/").Config.User; who == nil || who.Username != "ada" ||
			who.Name != hostileText+" "+hostileText || who.Role != "MEMBER" {
			t.Errorf("the user is %+v", who)
		}
		for _, path := range []string{"/feed.xml", "/feed.xml?user=ada", "/feed.xml?tag=" +
			url.QueryEscape("</script><script>alert(1)"), "/feed.xml?category=tools", "/feed.xml?q=alert"} {
			feed, ids := readFeed(t, visitor, path)
			if !slices.Equal(ids, []string{fmt.Sprintf("%s/thing:%d", s.URL, id)}) || feed.Entries[0].Title != hostileText ||
				strings.Contains(feed.Entries[0].Content, "<script") || strings.Contains(feed.Entries[0].Content,
				"<img src=\"x\"") {
				t.Errorf("%s: %+v", path, feed)
			}
		}
	}, gallerySettings(t))
}

// TestPreviewsAndFeeds checks what search engines, link previews and feed readers find, and that
// they find nothing that is not in public lists.
func TestPreviewsAndFeeds(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, admin, visitor := s.User("ada"), s.Administrator(), s.Client("")
		s.Password("ada", servertest.Password)
		id := ada.Thing("Vase")
		ada.Finalize("thing", id, ada.Upload("vase.stl", servertest.Mesh(t, "hschendel_simple_bin.stl")),
			ada.Upload("vase.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))).Want(t, 200)
		ada.Do("PATCH", fmt.Sprintf("/things/%d", id), servertest.Object{"tags": []string{"Wall Mount"},
			"description": "A **slim** vase."}).Want(t, 200)
		address := fmt.Sprintf("%s/thing:%d", s.URL, id)
		b := s.Browser()
		b.SignIn("ada", servertest.Password).Want(t, http.StatusSeeOther)
		feeds := []string{"/feed.xml", "/feed.xml?user=ADA", "/feed.xml?tag=wall_mount", "/feed.xml?category=tools",
			"/feed.xml?q=vase"}
		found := func(where string, want bool) {
			t.Helper()
			s.Fold()
			if got := slices.Contains(readSitemap(t, visitor, "/sitemap.xml"), address); got != want {
				t.Errorf("%s: in the sitemap: %t, want %t", where, got, want)
			}
			if want && !slices.Contains(readSitemap(t, visitor, "/sitemap.xml?part=things-0"), address) {
				t.Errorf("%s: not in its part of the sitemap", where)
			}
			for _, path := range feeds {
				if !want && visitor.Get(path).StatusCode == http.StatusNotFound {
					continue // the tag does not exist any more
				}
				if _, ids := readFeed(t, visitor, path); slices.Contains(ids, address) != want {
					t.Errorf("%s: %s has %v", where, path, ids)
				}
			}
			for viewer, get := range map[string]func(string) *servertest.Response{"visitor": visitor.Get, "owner": b.Get} {
				page := servertest.OpenPage(t, get, fmt.Sprintf("/thing:%d", id))
				if got := page.Meta["og:title"] == "Vase" && page.Model["@type"] == "3DModel" &&
					page.Meta["robots"] == ""; got != want || !want && (page.Meta["robots"] != "noindex" ||
					page.Meta["description"] != "" || page.Links["canonical"] != "") {
					t.Errorf("%s: the preview for the %s: %+v", where, viewer, page)
				}
			}
		}
		state := func(set string) {
			t.Helper()
			ada.Query(`mutation ($id: ID!, $state: PublicationState!) { publishThing(input: {id: $id, state: $state}) { thing { id } } }`, servertest.Object{"id": servertest.ID(id), "state": set}, new(any))
		}
		status := func(get func(string) *servertest.Response, want int) {
			t.Helper()
			if got := servertest.OpenPage(t, get, fmt.Sprintf("/thing:%d", id)).Status; got != want {
				t.Errorf("the page: got %d, want %d", got, want)
			}
		}
		// Only the owner sees a draft.
		if page := servertest.OpenPage(t, b.Get, fmt.Sprintf("/thing:%d", id)); page.Status != 200 ||
			page.Meta["og:title"] != "" || page.Title != "Vase · Meshyard" {
			t.Errorf("the draft: %+v", page)
		}
		status(visitor.Get, 404)
		state("UNLISTED")
		status(visitor.Get, 404)
		with := servertest.Keyed(t, ada, visitor, id)
		status(with.Get, 200)
		if page := servertest.OpenPage(t, with.Get, fmt.Sprintf("/thing:%d", id)); page.Meta["og:title"] != "" ||
			page.Model != nil {
			t.Errorf("unlisted: %+v", page)
		}
		if slices.Contains(readSitemap(t, visitor, "/sitemap.xml"), address) {
			t.Error("unlisted: in the sitemap")
		}
		for _, path := range []string{"/feed.xml", "/feed.xml?user=ada"} {
			if _, ids := readFeed(t, ada, path); len(ids) > 0 {
				t.Errorf("unlisted: %s has %v", path, ids)
			}
		}
		state("PUBLISHED")
		found("published", true)

		page := servertest.OpenPage(t, visitor.Get, fmt.Sprintf("/thing:%d", id))
		for name, want := range map[string]string{
			"description": "A slim vase.", "og:description": "A slim vase.", "og:url": address, "og:type": "article",
			"og:site_name": "Meshyard", "twitter:card": "summary_large_image", "twitter:title": "Vase", "article:author": s.URL +
				"/ada",
		} {
			if page.Meta[name] != want {
				t.Errorf("%s is %q, want %q", name, page.Meta[name], want)
			}
		}
		if page.Links["canonical"] != address || visitor.Get(page.Meta["og:image"]).Want(t, 200).
			Header.Get("Content-Type") != "image/png" {
			t.Errorf("the links are %v, the image is %s", page.Links, page.Meta["og:image"])
		}
		if page.Model["license"] != "https://creativecommons.org/licenses/by/4.0/" ||
			page.Model["keywords"] != "Wall Mount" || page.Model["author"].(map[string]any)["url"] != s.URL+"/ada" {
			t.Errorf("JSON-LD: %v", page.Model)
		}
		for path, want := range map[string]string{"/": "/feed.xml", "/ada": "/feed.xml?user=ada",
			"/tag:wall_mount": "/feed.xml?tag=wall_mount", "/category/tools": "/feed.xml?category=tools",
			"/explore?q=a+b": "/feed.xml?q=a+b"} {
			if got := servertest.OpenPage(t, visitor.Get, path).Links["alternate"]; got != want {
				t.Errorf("%s: the feed is %q, want %q", path, got, want)
			}
		}
		for path, want := range map[string]string{"/": s.URL + "/", "/ada": s.URL + "/ada", "/ada/makes": s.URL +
			"/ada/makes"} {
			if got := servertest.OpenPage(t, visitor.Get, path).Links["canonical"]; got != want {
				t.Errorf("%s: the canonical address is %q, want %q", path, got, want)
			}
		}
		if !slices.Contains(readSitemap(t, visitor, "/sitemap.xml"), s.URL+"/ada") ||
			!slices.Contains(readSitemap(t, visitor, "/sitemap.xml"), s.URL+"/category/hand-tools") {
			t.Error("the sitemap lacks the user or a category")
		}
		visitor.Get("/feed.xml?user=nobody").Want(t, 404)
		visitor.Get("/feed.xml?user=things").Want(t, 404)
		r := visitor.Request("GET", "/feed.xml", nil)
		r.Header.Set("If-None-Match", visitor.Get("/feed.xml").Header.Get("ETag"))
		visitor.Send(r).Want(t, http.StatusNotModified)

		// A private collection and a taken-down thing are not visible at all.
		var made struct {
			CreateCollection struct{ Collection struct{ ID string } }
		}
		ada.Query(`mutation { createCollection(input: {name: "Secret", visibility: PRIVATE}) { collection { id } } }`,
			nil, &made)
		path := "/collection:" + made.CreateCollection.Collection.ID
		if page := servertest.OpenPage(t, b.Get, path); page.Status != 200 || page.Meta["og:title"] != "" {
			t.Errorf("the private collection: %+v", page)
		}
		if page := servertest.OpenPage(t, visitor.Get, path); page.Status != 404 || strings.Contains(page.Title, "Secret") {
			t.Errorf("the private collection for a visitor: %+v", page)
		}
		admin.Query(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "Copied."}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(id)}, new(any))
		found("taken down", false)
		status(visitor.Get, 404)
	})
}

// TestCanonicalPaths checks that readable and former paths redirect to the canonical paths of
// pages.
func TestCanonicalPaths(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, "sqlite", gallerySettings(t))
	ada, visitor := s.User("ada"), s.Client("")
	ada.Thing("Vase")
	for from, to := range map[string]string{
		"/thing/1": "/thing:1", "/thing/1-vase-for-flowers": "/thing:1", "/Thing/1/files": "/thing:1",
		"/thing:1/": "/thing:1", "/make/2": "/make:2", "/collection/3-x": "/collection:3",
		"/user/ada": "/ada", "/@ada": "/ada", "/ADA": "/ada", "/ADA/makes": "/ada/makes", "/ada/": "/ada",
		"/ada/collections/7": "/collection:7", "/ada/favorites": "/ada/likes", "/ada/things": "/ada/designs",
		"/ada/about":      "/ada",
		"/tag/Wall Mount": "/tag:Wall%20Mount", "/explore/?q=x": "/explore?q=x",
	} {
		r := visitor.Get(strings.ReplaceAll(from, " ", "%20"))
		if got := r.Header.Get("Location"); r.StatusCode != http.StatusMovedPermanently || got != s.URL+to {
			t.Errorf("%s: got %d to %q, want %s", from, r.StatusCode, got, to)
		}
	}
	for path, status := range map[string]int{
		"/thing:0": 404, "/thing:x": 404, "/thing/x": 404, "/thing:1/zip": 404, "/thing:1/comments": 404,
		"/legal/nothing": 404, "/developers": 200, "/things/1": 401, "/category": 404, "/a/b/c": 404, "/nobody/makes": 404,
		"/page:1": 404, "/feed.xml/x": 404,
		"/robots.txt": 200, "/assets/site/1/other.svg": 404,
	} {
		if got := visitor.Get(path).StatusCode; got != status {
			t.Errorf("%s: got %d, want %d", path, got, status)
		}
	}
	home := servertest.OpenPage(t, visitor.Get, "/")
	if home.Config.Accent != "#1b6ac9" || home.Meta["theme-color"] != "#1b6ac9" || !strings.Contains(home.Config.Welcome,
		"<em>something</em>") || len(home.Config.Legal) != 2 {
		t.Errorf("the config is %+v", home.Config)
	}
	for i, want := range []string{"Imprint /legal/imprint", "Privacy & you /legal/privacy"} {
		if got := home.Config.Legal[i]; got.Title+" "+got.Path != want {
			t.Errorf("legal page %d is %+v, want %s", i, got, want)
		}
	}
	logo := visitor.Get(home.Config.Logo).Want(t, 200)
	if logo.Header.Get("Content-Type") != "image/svg+xml" || !strings.Contains(logo.Header.Get("Content-Security-Policy"),
		"sandbox") {
		t.Errorf("the logo: %v", logo.Header)
	}
	if robots := string(visitor.Get("/robots.txt").Bytes); !strings.Contains(robots, "Sitemap: "+s.URL+"/sitemap.xml") ||
		strings.Contains(robots, "Disallow: /\n") {
		t.Errorf("robots.txt: %s", robots)
	}
	// Another origin must not be able to read the page with the cookie.
	_, _, h := servertest.AskWith(t, "GET", s.URL+"/", "", nil, "Origin", "https://elsewhere.example", "Sec-Fetch-Site",
		"cross-site")
	if h.Get("Access-Control-Allow-Credentials") != "" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" ||
		!strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf("for another origin: %v", h)
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		if r := visitor.Do(method, "/ada", nil); r.StatusCode < 400 {
			t.Errorf("%s of a page: got %d", method, r.StatusCode)
		}
	}
}

// TestPrivatePages checks that a private server shows visitors only the sign-in page and the pages
// of the operator.
func TestPrivatePages(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, visitor := s.User("ada"), s.Client("")
		s.Password("ada", servertest.Password)
		id := servertest.PublishedThing(t, ada, "Vase")
		path := fmt.Sprintf("/thing:%d", id)
		for _, path := range []string{"/", "/explore?q=a&page=2", path, "/ada", "/nobody", "/upload", "/category/tools",
			"/tag:x", "/settings", "/x/y"} {
			r := visitor.Get(path)
			want := s.URL + "/signin?" + url.Values{"next": {path}}.Encode()
			if path != "/x/y" && (r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != want) {
				t.Errorf("%s: got %d to %s, want %s", path, r.StatusCode, r.Header.Get("Location"), want)
			}
			if strings.Contains(string(r.Bytes), "Vase") {
				t.Errorf("%s: shows the thing", path)
			}
		}
		visitor.Get("/feed.xml").Want(t, 401)
		// A shared cache that does not know that a parameter is a token must not keep the feed.
		for _, r := range []*servertest.Response{ada.Get("/feed.xml"), visitor.Get("/feed.xml?access_token=" + ada.Token)} {
			if got := r.Want(t, 200).Header.Get("Cache-Control"); got != "private, no-cache" {
				t.Errorf("a feed with a token: Cache-Control is %q", got)
			}
		}
		visitor.Get("/sitemap.xml").Want(t, 404)
		visitor.Get(path+"/zip").Want(t, 401)
		if robots := string(visitor.Get("/robots.txt").Bytes); robots != "User-agent: *\nDisallow: /\n" {
			t.Errorf("robots.txt: %s", robots)
		}
		servertest.OpenPage(t, visitor.Get, "/legal/privacy")
		b := s.Browser()
		form := b.Get("/signin?next="+url.QueryEscape(path+"?a=b#comments")).Want(t, 200).Fields()
		form.Set("username", "ada")
		form.Set("password", servertest.Password)
		r := b.Post("/login", form).Want(t, http.StatusSeeOther)
		if got := r.Header.Get("Location"); got != s.URL+path+"?a=b#comments" {
			t.Errorf("signing in leads to %s", got)
		}
		page := servertest.OpenPage(t, b.Get, path)
		if page.Status != 200 || page.Config.User == nil || page.Config.User.Name != "" || page.Config.AnonymousRead ||
			page.Meta["og:title"] != "" {
			t.Errorf("signed in: %+v", page)
		}
		if page := servertest.OpenPage(t, ada.Get, path); page.Status != 200 || page.Config.User != nil {
			t.Errorf("with a token: %+v", page)
		}
		if _, ids := readFeed(t, ada, "/feed.xml"); len(ids) != 1 {
			t.Errorf("the feed with a token: %v", ids)
		}
	}, gallerySettings(t), func(c *config.Settings) { c.AnonymousRead = false })
}

// TestSitemapRanges checks that ranges of IDs contain each published thing and each creator once.
func TestSitemapRanges(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx := context.Background()
		ada := s.User("ada")
		s.User("bob")
		servertest.PublishedThing(t, ada, "One")
		ada.Thing("Draft")
		servertest.PublishedThing(t, ada, "Three")
		s.Fold()
		ranges, err := s.Store.Lists.RangesOfThings(ctx, 2)
		if err != nil || len(ranges) != 2 || ranges[0].Number != 0 || ranges[0].Count != 1 || ranges[1].Number != 1 ||
			ranges[1].Count != 1 {
			t.Errorf("ranges %+v, %v", ranges, err)
		}
		for number, want := range []int64{1, 3} {
			if things, err := s.Store.Lists.ThingsInRange(ctx, 2, int64(number)); err != nil || len(things) != 1 ||
				things[0].ID != want || things[0].ModifiedAt.IsZero() {
				t.Errorf("range %d: %+v, %v", number, things, err)
			}
		}
		creators, err := s.Store.Lists.RangesOfCreators(ctx, 50)
		if err != nil || len(creators) != 1 || creators[0].Count != 1 {
			t.Errorf("creators %+v, %v", creators, err)
		}
		if names, err := s.Store.Lists.CreatorsInRange(ctx, 50, 0); err != nil || !slices.Equal(names, []string{"ada"}) {
			t.Errorf("creators %v, %v", names, err)
		}
	})
}

// TestSiteSettings checks that invalid settings of the site are rejected with an error that names
// the setting.
func TestSiteSettings(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, err := webpage.NewSite("A", config.Color{}, write("logo.exe"), ""); err == nil ||
		!strings.Contains(err.Error(), "--site-logo") {
		t.Errorf("a logo that is no image: %v", err)
	}
	for _, folder := range []string{filepath.Join(folder, "missing"), filepath.Dir(write("My Page.md"))} {
		if _, err := webpage.NewSite("A", config.Color{}, "", folder); err == nil ||
			!strings.Contains(err.Error(), "--site-folder") {
			t.Errorf("%s: %v", folder, err)
		}
	}
}
