package webpage

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/web/language"
)

// page describes the page at a path: an operation of Documents whose data the page shows, a page
// that only the client shows, or a redirect to another path.
type page struct {
	kind      kind
	operation string // in Documents; "" if the page needs no data
	variables map[string]any
	paged     bool                             // the page has a list, which takes the parameter page
	name      string                           // the user name in the path of a user
	tab       string                           // the rest of the path of a user
	title     func(t *language.Gallery) string // of a page without data
	canonical string                           // the path to redirect to, escaped; "" if there is none
}

// kind is the kind of a page.
type kind string

const (
	homePage       kind = "home"
	explorePage    kind = "explore"
	thingPage      kind = "thing"
	zipFile        kind = "zip"
	makePage       kind = "make"
	collectionPage kind = "collection"
	tagPage        kind = "tag"
	categoryPage   kind = "category"
	userPage       kind = "user"
	clientPage     kind = "client" // the client shows it without data from the server
	legalPage      kind = "legal"
	missingPage    kind = "missing"
	problemPage    kind = "problem"
	redirectTo     kind = "redirect"
)

// clientPages are the titles, by path, of pages that require a sign-in and that only the client
// shows.
var clientPages = map[string]func(t *language.Gallery) string{
	"/upload":        func(t *language.Gallery) string { return t.Upload },
	"/feed":          func(t *language.Gallery) string { return t.Feed },
	"/notifications": func(t *language.Gallery) string { return t.Notifications },
	"/settings":      func(t *language.Gallery) string { return t.Settings },
	"/moderation":    func(t *language.Gallery) string { return t.Moderation },
}

// tabs maps the paths below the page of a user to the operations of their lists.
var tabs = map[string]string{
	"": "designs", "designs": "designs", "makes": "makes", "collections": "collections", "likes": "likes",
	"followers": "followers", "following": "following",
}

// formerTabs maps paths below the page of a user on other services to the paths here.
var formerTabs = map[string]string{"about": "", "things": "/designs", "favorites": "/likes"}

// find returns the page at a path. ok is false if the path is not a page of this package.
func (o Options) find(path string) (p page, ok bool) {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.HasPrefix(path, "/\\") {
		return page{}, false
	}
	if trimmed := strings.TrimRight(path, "/"); trimmed != "" && trimmed != path {
		_, ok := o.find(trimmed)
		return to(trimmed), ok
	}
	if title, ok := clientPages[path]; ok {
		return page{kind: clientPage, title: title}, true
	}
	switch path {
	case "/":
		return page{kind: homePage, operation: "home"}, true
	case "/explore":
		return page{kind: explorePage, operation: "explore", paged: true}, true
	}
	if name, ok := strings.CutPrefix(path, "/tag:"); ok { // a tag may contain a slash
		return page{kind: tagPage, operation: "tag", variables: map[string]any{"name": name}, paged: true}, true
	}
	first, rest, _ := strings.Cut(path[1:], "/")
	if noun, key, isObject := strings.Cut(first, ":"); isObject {
		return object(noun, key, rest)
	}
	switch strings.ToLower(first) {
	case "category":
		return page{kind: categoryPage, operation: "category", variables: map[string]any{"slug": rest}, paged: true},
			rest != "" && !strings.Contains(rest, "/")
	case "legal":
		return page{kind: legalPage, name: rest}, true
	case "thing", "make", "collection":
		id, _, _ := strings.Cut(rest, "/")
		id, _, _ = strings.Cut(id, "-")
		return to("/" + strings.ToLower(first) + ":" + id), isID(id)
	case "tag":
		return to("/tag:" + rest), rest != ""
	case "user":
		return to("/" + rest), auth.IsUsername(rest)
	}
	if name, ok := strings.CutPrefix(first, "@"); ok {
		return to("/" + name), rest == "" && auth.IsUsername(name)
	}
	if o.Reserved(first) {
		return page{}, false
	}
	return ofUser(first, rest)
}

// object returns the page at a path such as /thing:42 or /thing:42/zip.
func object(noun, key, rest string) (p page, ok bool) {
	switch noun {
	case "thing":
		p := page{kind: thingPage, operation: "thing", variables: map[string]any{"id": id(key)}}
		switch rest {
		case "", "files", "comments", "makes", "remixes": // the tabs, which only the client shows
		case "zip":
			p.kind, p.operation = zipFile, "archive"
		case "edit":
			p = page{kind: clientPage, title: func(t *language.Gallery) string { return t.Edit }}
		default:
			p = to("/thing:" + key)
		}
		return p, true
	case "make":
		return page{kind: makePage, operation: "make", variables: map[string]any{"id": id(key)}}, rest == ""
	case "collection":
		return page{kind: collectionPage, operation: "collection", variables: map[string]any{"id": id(key)}, paged: true},
			rest == ""
	}
	return page{}, false
}

// ofUser returns the page of a user, or the list at the path rest below it.
func ofUser(name, rest string) (p page, ok bool) {
	if number, ok := strings.CutPrefix(rest, "collections/"); ok {
		return to("/collection:" + number), isID(number)
	}
	if tab, ok := formerTabs[rest]; ok {
		return to("/" + name + tab), true
	}
	if rest == "problems" {
		return page{kind: clientPage, title: func(t *language.Gallery) string { return t.Problems }}, true
	}
	if rest == "drafts" {
		return page{kind: clientPage, title: func(t *language.Gallery) string { return t.Drafts }}, true
	}
	operation, ok := tabs[rest]
	return page{kind: userPage, operation: operation, variables: map[string]any{"name": name}, paged: true, name: name,
		tab: rest}, ok
}

// to returns a redirect to a path. path is not escaped.
func to(path string) page {
	return page{kind: redirectTo, canonical: (&url.URL{Path: path}).EscapedPath()}
}

// isID reports whether a text is a decimal id.
func isID(text string) bool { return text != "" && id(text) == text }

// id returns the text if it is an id, and "0" otherwise.
func id(text string) string {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		return strconv.FormatInt(n, 10)
	}
	return "0"
}

// IsPage reports whether a path, perhaps with a query and a fragment, is that of a page that people
// open in a browser.
func (o Options) IsPage(path string) bool {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" {
		return false
	}
	p, ok := o.find(u.Path)
	return ok && p.kind != zipFile
}
