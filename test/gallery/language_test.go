package gallery_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/mail/mailtest"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/test/servertest"
)

// sameTexts matches the texts that are the same in English and German: names, and the content that
// the test creates.
var sameTexts = regexp.MustCompile(
	`^((Name|Code|Moderation|Impressum|Hobby|test|read|write|light dark|Made for a test\.|Authorization: Bearer …|\d+ k?b)|` +
		`(ada|Teile|Würfel|donut|kaputt|Slicer|Mein Slicer|Sammlung|deko|meshyard|Creative|https://app).*)( · Teile)?$`)

// textsOf returns the texts of a page that people read, except those that are marked as English.
func textsOf(t *testing.T, page []byte) (texts []string) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			texts = append(texts, strings.TrimSpace(n.Data))
		}
		isMeta := n.Data == "meta"
		for _, a := range n.Attr {
			switch {
			case n.Data != "html" && a.Key == "lang" && a.Val == "en", n.Data == "script", n.Data == "style":
				return
			case slices.Contains([]string{"aria-label", "alt", "title", "placeholder"}, a.Key), isMeta && a.Key == "content" &&
				strings.Contains(a.Val, " ") && !strings.Contains(a.Val, "="):
				texts = append(texts, a.Val)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	return texts
}

// rendered waits until the previews of a thing are generated or have failed.
func rendered(t testing.TB, owner *servertest.Client, id int64) {
	t.Helper()
	for range 600 {
		var found struct {
			Thing struct {
				Files []struct{ Processing struct{ State string } }
			}
		}
		owner.Query(`query($id: ID!) { thing(id: $id) { files { processing { state } } } }`,
			servertest.Object{"id": fmt.Sprint(id)}, &found)
		waiting := 0
		for _, f := range found.Thing.Files {
			if f.Processing.State == "WAITING" || f.Processing.State == "RUNNING" {
				waiting++
			}
		}
		if waiting == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("thing %d has no preview", id)
}

// TestPagesHaveLanguageOfVisitor checks that all pages that the server renders are in the language
// of the visitor, without any English text, and that caches can tell them apart.
func TestPagesHaveLanguageOfVisitor(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "imprint.md"), []byte("# Impressum\n\nAda"), 0o600); err != nil {
		t.Fatal(err)
	}
	box := mailtest.New(t, mailtest.Options{})
	s := servertest.Start(t, "sqlite", func(c *config.Settings) {
		c.SiteName, c.SiteFolder, c.SMTPURL, c.SMTPFrom, c.Registration, c.PreviewWorkers = "Teile", folder, box.URL,
			"no-reply@example.org", true, 2
	})
	silent := servertest.Start(t, "sqlite", func(c *config.Settings) { c.SiteName = "Teile" })
	ada := s.User("ada")
	s.Password("ada", servertest.Password)
	silent.User("ada")
	silent.Password("ada", servertest.Password)
	thing := ada.Thing("Würfel")
	file := ada.Upload("donut.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl"))
	broken := ada.Upload("kaputt.stl", []byte("solid kaputt"))
	ada.Finalize("THING", thing, file, broken)
	ada.Publish(thing)
	rendered(t, ada, thing)
	var made struct {
		CreateMake       struct{ Make struct{ ID string } }
		CreateCollection struct{ Collection struct{ ID string } }
	}
	ada.Query(`mutation($id: ID!) {
		createMake(input: {thingId: $id}) { make { id } }
		createCollection(input: {name: "Sammlung"}) { collection { id } }
		updateThing(input: {id: $id, tags: ["deko"]}) { thing { id } }
		updateProfile(input: {email: "ada@example.org"}) { user { id } }
	}`, servertest.Object{"id": fmt.Sprint(thing)}, &made)
	confirmation := box.Next().Link()
	c := servertest.NewOAuthClient(t, s, account.NewApplication{Name: "Slicer", RedirectURIs: []string{servertest.Redirect,
		"urn:ietf:wg:oauth:2.0:oob"}})
	const oob = "urn:ietf:wg:oauth:2.0:oob"

	type asker struct{ visitor, user, silent, silentUser *servertest.Browser }
	browsers := func(language string) (a asker) {
		for _, b := range []**servertest.Browser{&a.visitor, &a.user} {
			*b = s.Browser()
			(*b).Languages, (*b).Accept = language, "text/html"
		}
		for _, b := range []**servertest.Browser{&a.silent, &a.silentUser} {
			*b = silent.Browser()
			(*b).Languages, (*b).Accept = language, "text/html"
		}
		a.user.SignIn("ada", servertest.Password)
		a.silentUser.SignIn("ada", servertest.Password)
		return a
	}
	get := func(path string) func(a asker) *servertest.Response {
		return func(a asker) *servertest.Response { return a.visitor.Get(path) }
	}
	mine := func(path string) func(a asker) *servertest.Response {
		return func(a asker) *servertest.Response { return a.user.Get(path) }
	}
	post := func(path string, form url.Values) func(a asker) *servertest.Response {
		return func(a asker) *servertest.Response {
			r := a.visitor.Post(path, form)
			if r.StatusCode == http.StatusSeeOther {
				r = a.visitor.Follow(r)
			}
			return r
		}
	}
	// submit opens a page of the user and submits its first form.
	submit := func(page, path string, form url.Values) func(a asker) *servertest.Response {
		return func(a asker) *servertest.Response {
			fields := a.user.Get(page).Fields()
			for name, values := range form {
				fields[name] = values
			}
			return a.user.Post(path, fields)
		}
	}
	pages := map[string]func(a asker) *servertest.Response{
		"sign in": get("/login"), "signed in": mine("/login"), "sign up": get("/signup"),
		"forgotten":                  get("/login/forgotten"),
		"sign in without mail":       func(a asker) *servertest.Response { return a.silent.Get("/login") },
		"sign up without invitation": func(a asker) *servertest.Response { return a.silent.Get("/signup") },
		"forgotten without mail":     func(a asker) *servertest.Response { return a.silent.Get("/login/forgotten") },
		"no address":                 func(a asker) *servertest.Response { return a.silentUser.Get("/login/password") },
		"wrong password":             post("/login", url.Values{"username": {"ada"}, "password": {"wrong"}}),
		"wrong address":              post("/signup", url.Values{"email": {"x"}}),
		"link sent":                  post("/signup", url.Values{"email": {"bob@example.org"}}),
		"reset sent":                 post("/login/forgotten", url.Values{"name": {"nobody"}}),
		"old link":                   get("/login/reset?token=x"), "link of another purpose": get("/login/reset?token=" +
			confirmation[strings.Index(confirmation, "token=")+6:]),
		"confirm": get(confirmation),
		"account": mine("/login/password"),
		"password": submit("/login/password", "/login/password",
			url.Values{"present": {"wrong"}, "password": {servertest.Password}}),
		"tokens": mine("/login/tokens"), "nameless token": submit("/login/tokens", "/login/tokens",
			url.Values{"name": {" "}, "days": {"7"}}),
		"new token": submit("/login/tokens", "/login/tokens", url.Values{"name": {"Mein Slicer"}, "days": {"7"},
			"scope": {"read"}}),
		"bad token": submit("/login/tokens", "/login/tokens", url.Values{"name": {"Mein Slicer"}, "days": {"7"},
			"scope": {"admin"}}),
		"bad form": submit("/login/tokens", "/login/tokens", url.Values{"days": {"x"}}),
		"old form": func(a asker) *servertest.Response { return a.user.Post("/login/tokens", nil) },
		"other site": func(a asker) *servertest.Response {
			return a.user.PostFrom("cross-site", "/login/tokens",
				nil)
		},
		"consent":     mine(c.Question("scope", "read write")),
		"consent oob": mine(c.Question("redirect_uri", oob)),
		"code": submit(c.Question("redirect_uri", oob), "/login/oauth/authorize",
			url.Values{"decision": {"allow"}}),
		"denied": submit(c.Question("redirect_uri", oob), "/login/oauth/authorize",
			url.Values{"decision": {"deny"}}),
		"unknown application": mine("/login/oauth/authorize?client_id=x"),
		"unknown redirect":    mine(c.Question("redirect_uri", "https://x.example")),
		"invalid request":     mine(c.Question("redirect_uri", oob, "scope", "x")),

		"home": get("/"), "explore": get("/explore"), "search": get("/explore?q=donut"),
		"thing": get(fmt.Sprint("/thing:", thing)), "make": get("/make:" + made.CreateMake.Make.ID),
		"collection": get("/collection:" + made.CreateCollection.Collection.ID), "user": get("/ada"),
		"likes": get("/ada/likes"), "tag": get("/tag:deko"), "category": get("/category/art"),
		"page 2": get("/explore?page=2"), "upload": mine("/upload"), "feed": mine("/feed"),
		"notifications": mine("/notifications"), "settings": mine("/settings"),
		"moderation": mine("/moderation"), "edit": mine(fmt.Sprintf("/thing:%d/edit", thing)), "drafts": mine("/ada/drafts"),
		"legal":   get("/legal/imprint"),
		"missing": get("/a/b/c"), "no such thing": get("/thing:999"), "no such page to sign in": get("/login/nope"),
		"viewer": get(fmt.Sprint("/view/", file)), "viewer without a model": get(fmt.Sprint("/view/", broken)),
		"no viewer": get("/view/x"), "no file": get("/view/999"),
	}
	languages := []string{"en", "de"}
	askers := map[string]asker{}
	for _, language := range languages {
		askers[language] = browsers(language)
	}
	for name, page := range pages {
		texts := map[string][]string{}
		for _, language := range languages {
			r := page(askers[language])
			texts[language] = textsOf(t, r.Bytes)
			if h := r.Header; !strings.Contains(string(r.Bytes), `<html lang="`+language+`"`) ||
				h.Get("Content-Language") != language ||
				!strings.Contains(strings.Join(h.Values("Vary"), ","), "Accept-Language, Cookie") ||
				!strings.Contains(h.Get("Cache-Control"), "no-store") {
				t.Errorf("%s, %s: got %d %v\n%s", name, language, r.StatusCode, r.Header, r.Bytes)
			}
		}
		for _, text := range texts["de"] {
			if len(text) > 3 && !sameTexts.MatchString(text) && slices.Contains(texts["en"], text) {
				t.Errorf("%s: the German page contains the English text %q", name, text)
			}
		}
	}
}

// TestChosenLanguage checks that the language that a visitor chose in the gallery precedes that of
// the browser, and that a program gets the same responses in every language.
func TestChosenLanguage(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	for _, path := range []string{"/login", "/", "/a/b/c", "/view/1"} {
		r := s.Client("").Request(http.MethodGet, path, nil)
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Accept-Language", "en")
		r.AddCookie(&http.Cookie{Name: "meshyard_language", Value: "de"})
		if page := string(s.Client("").Send(r).Bytes); !strings.Contains(page, `<html lang="de"`) {
			t.Errorf("%s: got %s", path, page)
		}
	}
	r := s.Client("").Request(http.MethodGet, "/things/1", nil)
	r.Header.Set("Accept-Language", "de")
	if got, want := s.Client("").Send(r).Bytes, s.Client("").Get("/things/1").Bytes; !bytes.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestTextsOfOperatorAndMails checks that the texts of the operator, the names of categories and
// mails are in the language of the visitor.
func TestTextsOfOperatorAndMails(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"welcome.md": "# Hello", "welcome.de.md": "# Hallo", "privacy.md": "# Privacy", "privacy.de.md": "# Datenschutz",
		"terms.md": "# Terms", "imprint.de.md": "# Impressum",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			box := mailtest.New(t, mailtest.Options{})
			s := servertest.Start(t, engine, func(c *config.Settings) {
				c.SiteFolder, c.SMTPURL, c.SMTPFrom, c.Registration = folder, box.URL, "no-reply@example.org", true
			})
			servertest.PublishedThing(t, s.User("ada"), "Gear")
			for code, want := range map[string][]string{
				"en": {"Hello", "Tools", "Imprint: Impressum, Privacy, Terms", "Create your account on Meshyard",
					"Someone, probably you", "The link works once"},
				"de": {"Hallo", "Werkzeuge", "Imprint: Impressum, Datenschutz, Terms", "Erstelle dein Konto bei Meshyard",
					"Jemand, vermutlich du", "Der Link funktioniert einmal"},
			} {
				b := s.Browser()
				b.Languages, b.Accept = code, "text/html"
				if home := string(b.Get("/").Bytes); !strings.Contains(home, ">"+want[0]+"</h1>") ||
					!strings.Contains(home, ">"+want[1]+"</a>") {
					t.Errorf("%s: the home page has no %q, or no category %q: %s", code, want[0], want[1], home)
				}
				if category := textsOf(t, b.Get("/category/tools").Bytes); !slices.Contains(category, want[1]) {
					t.Errorf("%s: the page of the category has no %q: %q", code, want[1], category)
				}
				for i, name := range []string{"imprint", "privacy", "terms"} {
					title := strings.Split(strings.TrimPrefix(want[2], "Imprint: "), ", ")[i]
					if page := textsOf(t, b.Get("/legal/"+name).Bytes); !slices.Contains(page, title) ||
						!strings.Contains(string(b.Get("/").Bytes), `"title":"`+title+`"`) {
						t.Errorf("%s: the page %s is not %q, or no page links to it: %q", code, name, title, page)
					}
				}
				b.Post("/signup", url.Values{"email": {code + "@example.org"}})
				letter := box.Next()
				if letter.Subject != want[3] || !strings.Contains(letter.Text, want[4]) || !strings.Contains(letter.Text, want[5]) {
					t.Errorf("%s: got the mail %q, %q", code, letter.Subject, letter.Text)
				}
			}
		})
	}
}
