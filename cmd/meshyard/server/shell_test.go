package server_test

import (
	"context"
	"encoding/json"
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

	"golang.org/x/net/html"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/web/webpage"
)

// webPage is what browsers and search engines read from a page.
type webPage struct {
	status int
	title  string
	meta   map[string]string // by name or property
	links  map[string]string // by rel; the last one if there are several
	config struct {
		Name, Logo, Accent, BaseURL, Welcome string
		User                                 *struct{ Username, Name, Role string }
		AnonymousRead, Registration          bool
		Legal                                []struct{ Title, Path string }
	}
	model map[string]any // JSON-LD
}

// openPage opens a page, and checks that its Content-Security-Policy allows only the server's
// scripts.
func openPage(t *testing.T, get func(path string) *servertest.Response, path string) webPage {
	t.Helper()
	r := get(path)
	policy := r.Header.Get("Content-Security-Policy")
	_, nonce, _ := strings.Cut(policy, "script-src 'nonce-")
	nonce, _, _ = strings.Cut(nonce, "'")
	if strings.Contains(policy, "unsafe") || !strings.HasPrefix(policy, "default-src 'none'; ") || len(nonce) < 20 {
		t.Errorf("%s: policy %q", path, policy)
	}
	if got := r.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("%s: is %s", path, got)
	}
	document, err := html.Parse(strings.NewReader(string(r.Bytes)))
	if err != nil {
		t.Fatal(err)
	}
	page := webPage{status: r.StatusCode, meta: map[string]string{}, links: map[string]string{}}
	for n := range document.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		a := map[string]string{}
		for _, attribute := range n.Attr {
			a[attribute.Key] = attribute.Val
			if strings.HasPrefix(attribute.Key, "on") || strings.HasPrefix(strings.ToLower(strings.TrimSpace(attribute.Val)), "javascript:") {
				t.Errorf("%s: <%s %s=%q> runs a script", path, n.Data, attribute.Key, attribute.Val)
			}
		}
		content := ""
		if n.FirstChild != nil {
			content = n.FirstChild.Data
		}
		switch n.Data {
		case "title":
			page.title = content
		case "meta":
			page.meta[a["name"]+a["property"]] = a["content"]
		case "link":
			page.links[a["rel"]] = a["href"]
		case "script":
			if a["nonce"] != nonce {
				t.Errorf("%s: a script without the nonce: %s", path, content)
			}
			switch {
			case a["id"] == "config":
				err = json.Unmarshal([]byte(content), &page.config)
			case a["id"] == "answer" && a["type"] == "application/json":
				err = json.Unmarshal([]byte(content), new(any))
			case a["type"] == "application/ld+json":
				err = json.Unmarshal([]byte(content), &page.model)
			case content != "" || !strings.Contains(a["src"], "/assets/gallery/"):
				t.Errorf("%s: a script of its own: %s %s", path, a["src"], content)
			}
			if err != nil {
				t.Errorf("%s: %v in %s", path, err, content)
			}
		case "iframe", "object", "embed", "base":
			t.Errorf("%s: contains <%s>", path, n.Data)
		}
	}
	return page
}

// hostileText contains text that tries to break out of each syntax in a page.
const hostileText = `</title></script></style>--></p><script>alert(1)</script><img src=x onerror=alert(2)>"' onload='alert(3)' x="{{.}} ]]>&amp; [a](javascript:alert(4))`

// gallerySettings returns a function that configures a public server with pages of the operator.
func gallerySettings(t *testing.T) func(*config.Settings) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"welcome.md": "# Welcome <script>alert(5)</script>\n\nPrint *something*.", "privacy.md": "# Privacy & you\n\nWe store [little](javascript:alert(6)).\n\n<script>alert(7)</script>",
		"imprint.md": "No heading", "notes.txt": "not a page", "logo.svg": `<svg xmlns="http://www.w3.org/2000/svg"/>`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(s *config.Settings) {
		s.SiteName, s.SiteFolder, s.SiteLogo = "A & B </script><script>alert(8)</script>", folder, filepath.Join(folder, "logo.svg")
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
	if err := xml.Unmarshal(r.Bytes, &feed); err != nil || r.Header.Get("Content-Type") != "application/atom+xml; charset=utf-8" {
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
		s.Password("ada", pass)
		id := publishedThing(t, ada, "Vase")
		set := object{"id": servertest.ID(id), "text": hostileText}
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
		ada.Finalize("copy", makeID, ada.Upload(`a"><script>alert(1)</script>.png`, servertest.Mesh(t, "lib3mf_thumbnail.png")))
		ada.Query(`mutation ($c: ID!, $id: ID!) { addToCollection(input: {collectionId: $c, thingId: $id}) { collection { id } } }`,
			object{"c": made.C.Collection.ID, "id": servertest.ID(id)}, new(any))
		bob := s.User("bob")
		bob.Query(`mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { id } } followUser(input: {username: "ada"}) { user { id } } }`, object{"id": servertest.ID(id)}, new(any))
		b := s.Browser()
		b.SignIn("ada", pass).Want(t, http.StatusSeeOther)

		paths := []string{
			"/", "/explore", "/explore?q=" + url.QueryEscape(hostileText), "/thing:" + servertest.ID(id), "/make:" + made.M.Make.ID, "/collection:" + made.C.Collection.ID, "/ada", "/ada/makes", "/ada/collections", "/bob/likes", "/ada/followers",
			"/bob/following", "/category/tools", "/tag:%3C%2Fscript%3E%3Cscript%3Ealert(1)", "/upload", "/thing:1/edit", "/feed", "/notifications", "/settings", "/moderation", "/ada/drafts", "/legal/privacy", "/legal/imprint", "/nobody", "/%3Cscript%3E",
		}
		for _, path := range paths {
			for _, get := range []func(string) *servertest.Response{visitor.Get, b.Get} {
				page := openPage(t, get, path)
				want := 200
				if path == "/nobody" || path == "/%3Cscript%3E" {
					want = 404
				}
				if page.status != want || page.config.Name != "A & B </script><script>alert(8)</script>" || page.config.BaseURL != s.URL {
					t.Errorf("%s: %d, config %+v", path, page.status, page.config)
				}
			}
		}
		page := openPage(t, visitor.Get, "/thing:"+servertest.ID(id))
		if page.meta["og:title"] != hostileText || page.model["name"] != hostileText || page.title != hostileText+" · A & B </script><script>alert(8)</script>" {
			t.Errorf("the page of the thing: %+v", page)
		}
		title := "Make of " + hostileText + " by ada"
		if page := openPage(t, visitor.Get, "/make:"+made.M.Make.ID); page.meta["og:title"] != title || page.title != title+" · A & B </script><script>alert(8)</script>" {
			t.Errorf("the page of the make: %+v", page)
		}
		if who := openPage(t, b.Get, "/").config.User; who == nil || who.Username != "ada" || who.Name != hostileText+" "+hostileText || who.Role != "MEMBER" {
			t.Errorf("the user is %+v", who)
		}
		for _, path := range []string{"/feed.xml", "/feed.xml?user=ada", "/feed.xml?tag=" + url.QueryEscape("</script><script>alert(1)"), "/feed.xml?category=tools", "/feed.xml?q=alert"} {
			feed, ids := readFeed(t, visitor, path)
			if !slices.Equal(ids, []string{fmt.Sprintf("%s/thing:%d", s.URL, id)}) || feed.Entries[0].Title != hostileText || strings.Contains(feed.Entries[0].Content, "<script") || strings.Contains(feed.Entries[0].Content, "<img src=\"x\"") {
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
		s.Password("ada", pass)
		id := ada.Thing("Vase")
		ada.Finalize("thing", id, ada.Upload("vase.stl", servertest.Mesh(t, "hschendel_simple_bin.stl")), ada.Upload("vase.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))).Want(t, 200)
		ada.Do("PATCH", fmt.Sprintf("/things/%d", id), object{"tags": []string{"Wall Mount"}, "description": "A **slim** vase."}).Want(t, 200)
		address := fmt.Sprintf("%s/thing:%d", s.URL, id)
		b := s.Browser()
		b.SignIn("ada", pass).Want(t, http.StatusSeeOther)
		feeds := []string{"/feed.xml", "/feed.xml?user=ADA", "/feed.xml?tag=wall_mount", "/feed.xml?category=tools", "/feed.xml?q=vase"}
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
				page := openPage(t, get, fmt.Sprintf("/thing:%d", id))
				if got := page.meta["og:title"] == "Vase" && page.model["@type"] == "3DModel" && page.meta["robots"] == ""; got != want || !want && (page.meta["robots"] != "noindex" || page.meta["description"] != "" || page.links["canonical"] != "") {
					t.Errorf("%s: the preview for the %s: %+v", where, viewer, page)
				}
			}
		}
		state := func(set string) {
			t.Helper()
			ada.Query(`mutation ($id: ID!, $state: PublicationState!) { publishThing(input: {id: $id, state: $state}) { thing { id } } }`, object{"id": servertest.ID(id), "state": set}, new(any))
		}
		status := func(get func(string) *servertest.Response, want int) {
			t.Helper()
			if got := openPage(t, get, fmt.Sprintf("/thing:%d", id)).status; got != want {
				t.Errorf("the page: got %d, want %d", got, want)
			}
		}
		// Only the owner sees a draft.
		if page := openPage(t, b.Get, fmt.Sprintf("/thing:%d", id)); page.status != 200 || page.meta["og:title"] != "" || page.title != "Vase · Meshyard" {
			t.Errorf("the draft: %+v", page)
		}
		status(visitor.Get, 404)
		state("UNLISTED")
		status(visitor.Get, 404)
		with := keyed(t, ada, visitor, id)
		status(with.Get, 200)
		if page := openPage(t, with.Get, fmt.Sprintf("/thing:%d", id)); page.meta["og:title"] != "" || page.model != nil {
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

		page := openPage(t, visitor.Get, fmt.Sprintf("/thing:%d", id))
		for name, want := range map[string]string{
			"description": "A slim vase.", "og:description": "A slim vase.", "og:url": address, "og:type": "article", "og:site_name": "Meshyard", "twitter:card": "summary_large_image", "twitter:title": "Vase", "article:author": s.URL + "/ada",
		} {
			if page.meta[name] != want {
				t.Errorf("%s is %q, want %q", name, page.meta[name], want)
			}
		}
		if page.links["canonical"] != address || visitor.Get(page.meta["og:image"]).Want(t, 200).Header.Get("Content-Type") != "image/png" {
			t.Errorf("the links are %v, the image is %s", page.links, page.meta["og:image"])
		}
		if page.model["license"] != "https://creativecommons.org/licenses/by/4.0/" || page.model["keywords"] != "Wall Mount" || page.model["author"].(map[string]any)["url"] != s.URL+"/ada" {
			t.Errorf("JSON-LD: %v", page.model)
		}
		for path, want := range map[string]string{"/": "/feed.xml", "/ada": "/feed.xml?user=ada", "/tag:wall_mount": "/feed.xml?tag=wall_mount", "/category/tools": "/feed.xml?category=tools", "/explore?q=a+b": "/feed.xml?q=a+b"} {
			if got := openPage(t, visitor.Get, path).links["alternate"]; got != want {
				t.Errorf("%s: the feed is %q, want %q", path, got, want)
			}
		}
		for path, want := range map[string]string{"/": s.URL + "/", "/ada": s.URL + "/ada", "/ada/makes": s.URL + "/ada/makes"} {
			if got := openPage(t, visitor.Get, path).links["canonical"]; got != want {
				t.Errorf("%s: the canonical address is %q, want %q", path, got, want)
			}
		}
		if !slices.Contains(readSitemap(t, visitor, "/sitemap.xml"), s.URL+"/ada") || !slices.Contains(readSitemap(t, visitor, "/sitemap.xml"), s.URL+"/category/hand-tools") {
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
		ada.Query(`mutation { createCollection(input: {name: "Secret", visibility: PRIVATE}) { collection { id } } }`, nil, &made)
		path := "/collection:" + made.CreateCollection.Collection.ID
		if page := openPage(t, b.Get, path); page.status != 200 || page.meta["og:title"] != "" {
			t.Errorf("the private collection: %+v", page)
		}
		if page := openPage(t, visitor.Get, path); page.status != 404 || strings.Contains(page.title, "Secret") {
			t.Errorf("the private collection for a visitor: %+v", page)
		}
		admin.Query(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "Copied."}) { thing { id } } }`, object{"id": servertest.ID(id)}, new(any))
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
		"/thing/1": "/thing:1", "/thing/1-vase-for-flowers": "/thing:1", "/Thing/1/files": "/thing:1", "/thing:1/": "/thing:1", "/make/2": "/make:2", "/collection/3-x": "/collection:3",
		"/user/ada": "/ada", "/@ada": "/ada", "/ADA": "/ada", "/ADA/makes": "/ada/makes", "/ada/": "/ada", "/ada/collections/7": "/collection:7", "/ada/favorites": "/ada/likes", "/ada/things": "/ada/designs", "/ada/about": "/ada",
		"/tag/Wall Mount": "/tag:Wall%20Mount", "/explore/?q=x": "/explore?q=x",
	} {
		r := visitor.Get(strings.ReplaceAll(from, " ", "%20"))
		if got := r.Header.Get("Location"); r.StatusCode != http.StatusMovedPermanently || got != s.URL+to {
			t.Errorf("%s: got %d to %q, want %s", from, r.StatusCode, got, to)
		}
	}
	for path, status := range map[string]int{
		"/thing:0": 404, "/thing:x": 404, "/thing/x": 404, "/thing:1/zip": 404, "/thing:1/comments": 404, "/legal/nothing": 404, "/developers": 200, "/things/1": 401, "/category": 404, "/a/b/c": 404, "/nobody/makes": 404, "/page:1": 404, "/feed.xml/x": 404,
		"/robots.txt": 200, "/assets/site/1/other.svg": 404,
	} {
		if got := visitor.Get(path).StatusCode; got != status {
			t.Errorf("%s: got %d, want %d", path, got, status)
		}
	}
	home := openPage(t, visitor.Get, "/")
	if home.config.Accent != "#1b6ac9" || home.meta["theme-color"] != "#1b6ac9" || !strings.Contains(home.config.Welcome, "<em>something</em>") || len(home.config.Legal) != 2 {
		t.Errorf("the config is %+v", home.config)
	}
	for i, want := range []string{"Imprint /legal/imprint", "Privacy & you /legal/privacy"} {
		if got := home.config.Legal[i]; got.Title+" "+got.Path != want {
			t.Errorf("legal page %d is %+v, want %s", i, got, want)
		}
	}
	logo := visitor.Get(home.config.Logo).Want(t, 200)
	if logo.Header.Get("Content-Type") != "image/svg+xml" || !strings.Contains(logo.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("the logo: %v", logo.Header)
	}
	if robots := string(visitor.Get("/robots.txt").Bytes); !strings.Contains(robots, "Sitemap: "+s.URL+"/sitemap.xml") || strings.Contains(robots, "Disallow: /\n") {
		t.Errorf("robots.txt: %s", robots)
	}
	// Another origin must not be able to read the page with the cookie.
	_, _, h := askWith(t, "GET", s.URL+"/", "", nil, "Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site")
	if h.Get("Access-Control-Allow-Credentials") != "" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
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
		s.Password("ada", pass)
		id := publishedThing(t, ada, "Vase")
		path := fmt.Sprintf("/thing:%d", id)
		for _, path := range []string{"/", "/explore?q=a&page=2", path, "/ada", "/nobody", "/upload", "/category/tools", "/tag:x", "/settings", "/x/y"} {
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
		openPage(t, visitor.Get, "/legal/privacy")
		b := s.Browser()
		form := b.Get("/signin?next="+url.QueryEscape(path+"?a=b#comments")).Want(t, 200).Fields()
		form.Set("username", "ada")
		form.Set("password", pass)
		r := b.Post("/login", form).Want(t, http.StatusSeeOther)
		if got := r.Header.Get("Location"); got != s.URL+path+"?a=b#comments" {
			t.Errorf("signing in leads to %s", got)
		}
		page := openPage(t, b.Get, path)
		if page.status != 200 || page.config.User == nil || page.config.User.Name != "" || page.config.AnonymousRead || page.meta["og:title"] != "" {
			t.Errorf("signed in: %+v", page)
		}
		if page := openPage(t, ada.Get, path); page.status != 200 || page.config.User != nil {
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
		publishedThing(t, ada, "One")
		ada.Thing("Draft")
		publishedThing(t, ada, "Three")
		s.Fold()
		ranges, err := s.Store.RangesOfThings(ctx, 2)
		if err != nil || len(ranges) != 2 || ranges[0].Number != 0 || ranges[0].Count != 1 || ranges[1].Number != 1 || ranges[1].Count != 1 {
			t.Errorf("ranges %+v, %v", ranges, err)
		}
		for number, want := range []int64{1, 3} {
			if things, err := s.Store.ThingsInRange(ctx, 2, int64(number)); err != nil || len(things) != 1 || things[0].ID != want || things[0].ModifiedAt.IsZero() {
				t.Errorf("range %d: %+v, %v", number, things, err)
			}
		}
		creators, err := s.Store.RangesOfCreators(ctx, 50)
		if err != nil || len(creators) != 1 || creators[0].Count != 1 {
			t.Errorf("creators %+v, %v", creators, err)
		}
		if names, err := s.Store.CreatorsInRange(ctx, 50, 0); err != nil || !slices.Equal(names, []string{"ada"}) {
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
	if _, err := webpage.NewSite("A", config.Color{}, write("logo.exe"), ""); err == nil || !strings.Contains(err.Error(), "--site-logo") {
		t.Errorf("a logo that is no image: %v", err)
	}
	for _, folder := range []string{filepath.Join(folder, "missing"), filepath.Dir(write("My Page.md"))} {
		if _, err := webpage.NewSite("A", config.Color{}, "", folder); err == nil || !strings.Contains(err.Error(), "--site-folder") {
			t.Errorf("%s: %v", folder, err)
		}
	}
}
