// Package webpage serves the pages behind the web addresses that answers carry: a thing, a make, a
// user, a tag and a collection, and the ZIP archive of a thing's files. The pages are plain HTML
// and need no JavaScript. All of their data comes from stored GraphQL documents, so a visitor sees
// what the schema shows them.
package webpage

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Documents holds the GraphQL operations that [Options.Run] runs, by name.
//
//go:embed documents.graphql
var Documents string

//go:embed pages.html
var pagesHTML string

// ErrNotFound says that there is nothing that the visitor may see.
var ErrNotFound = errors.New("not found")

// Options connects the pages to the server.
type Options struct {
	// BaseURL is the address that clients see, with no slash at the end.
	BaseURL string
	// Run runs an operation of [Documents] for the visitor in ctx and returns its data. It returns
	// [ErrNotFound] for what does not exist and for what the visitor may not see.
	Run func(ctx context.Context, operation string, variables map[string]any) ([]byte, error)
	// LicenseName returns the name of a license for people.
	LicenseName func(license string) string
	// Open opens the bytes of a file that the visitor was shown.
	Open func(ctx context.Context, fileID int64) (io.ReadSeekCloser, error)
	// Reserved reports whether a name in the path is the server's own and thus no user's.
	Reserved func(name string) bool
	// Fail answers with an error, [ErrNotFound] among them, to a client that does not read HTML.
	Fail func(w http.ResponseWriter, r *http.Request, err error)

	known *checksums
}

// target is what a path leads to.
type target struct {
	operation string // of Documents
	variables map[string]any
	zip       bool
	paged     bool
}

// find returns what a path leads to; ok is false where it is not a page of this package.
func (o Options) find(path string) (t target, ok bool) {
	first, rest, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
	noun, key, isObject := strings.Cut(first, ":")
	switch {
	case isObject && noun == "thing" && (rest == "" || rest == "zip" || rest == "files"):
		return target{operation: "thing", variables: map[string]any{"id": id(key)}, zip: rest == "zip"}, true
	case isObject && noun == "make" && rest == "":
		return target{operation: "make", variables: map[string]any{"id": id(key)}}, true
	case isObject && noun == "tag" && rest == "":
		return target{operation: "tag", variables: map[string]any{"name": key}, paged: true}, true
	case isObject && noun == "collection" && rest == "":
		return target{operation: "collection", variables: map[string]any{"id": id(key)}, paged: true}, true
	case isObject || first == "" || o.Reserved(first):
		return target{}, false
	case rest == "" || rest == "designs":
		return target{operation: "user", variables: map[string]any{"name": first}, paged: true}, true
	}
	if number, ok := strings.CutPrefix(rest, "collections/"); ok {
		return target{operation: "collection", variables: map[string]any{"id": id(number)}, paged: true}, true
	}
	return target{}, false
}

// id returns what names an object, "0" where the text is no id.
func id(text string) string {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		return strconv.FormatInt(n, 10)
	}
	return "0"
}

// Serves reports whether a request is for a page of this package.
func (o Options) Serves(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	_, ok := o.find(r.URL.Path)
	return ok
}

var pages = template.Must(template.New("pages").Funcs(template.FuncMap{"safe": func(html string) template.HTML {
	return template.HTML(html) // sanitized by the schema
}}).Parse(pagesHTML))

// Handler answers the requests that [Options.Serves] reports.
func Handler(o Options) http.Handler {
	o.known = &checksums{sums: make(map[string]uint32)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t, ok := o.find(r.URL.Path)
		if !ok {
			o.fail(w, r, ErrNotFound)
			return
		}
		page := 1
		if n, err := strconv.Atoi(r.URL.Query().Get("page")); err == nil {
			page = min(max(n, 1), 1_000_000)
		}
		if t.paged {
			t.variables["page"] = page
		}
		data, err := o.Run(r.Context(), t.operation, t.variables)
		if err != nil {
			o.fail(w, r, err)
			return
		}
		var of struct{ Page *object }
		if err := json.Unmarshal(data, &of); err != nil {
			o.fail(w, r, fmt.Errorf("page %s: %w", t.operation, err))
			return
		}
		if of.Page == nil {
			o.fail(w, r, ErrNotFound)
			return
		}
		if t.zip {
			o.serveZip(w, r, of.Page)
			return
		}
		o.write(w, r, http.StatusOK, o.view(t.operation, of.Page, page))
	})
}

// object is what an operation answers, each of them some of it.
type object struct {
	ID, Name, State, License, Slug, Username, FirstName, LastName, Location string
	DescriptionHTML, InstructionsHTML, BioHTML                              string
	LikeCount, MakeCount, DownloadCount                                     int64
	PublishedAt, ModifiedAt                                                 *time.Time
	Creator                                                                 struct{ Username string }
	Thing                                                                   *struct{ ID, Name string }
	Image                                                                   *picture
	Tags                                                                    []struct{ Name, Slug string }
	Files                                                                   []file
	Things                                                                  things
}

type picture struct {
	URL       string
	Thumbnail *struct{ URL string }
}

// Source is the address of the picture, "" where there is none.
func (p *picture) Source() string {
	switch {
	case p == nil:
		return ""
	case p.Thumbnail != nil:
		return p.Thumbnail.URL
	}
	return p.URL
}

type file struct {
	ID, Name, Kind, FormattedSize, PublicURL, SHA256 string
	Size                                             int64
}

type things struct {
	TotalCount int
	PageInfo   struct{ HasNextPage bool }
	Nodes      []struct {
		ID, Name string
		Creator  struct{ Username string }
		Image    *picture
	}
}

// view is what the template shows.
type view struct {
	Kind, Title, Summary, URL, Base, Nonce string
	LicenseName                            string
	Object                                 *object
	Previous, Next                         int // pages of a list; 0: none
}

func (o Options) view(kind string, of *object, page int) *view {
	v := &view{Kind: kind, Title: of.Name, Base: o.BaseURL, Object: of}
	switch kind {
	case "thing":
		v.URL = "/thing:" + of.ID
		v.LicenseName = o.LicenseName(of.License)
		v.Summary = fmt.Sprintf("%s by %s. License: %s.", of.Name, of.Creator.Username, v.LicenseName)
	case "make":
		v.URL = "/make:" + of.ID
		v.Summary = fmt.Sprintf("A make by %s.", of.Creator.Username)
	case "user":
		v.Title, v.URL = of.Username, "/"+of.Username
		v.Summary = fmt.Sprintf("Things by %s.", of.Username)
	case "tag":
		v.URL = "/tag:" + url.PathEscape(of.Slug)
		v.Summary = fmt.Sprintf("Things with the tag %s.", of.Name)
	case "collection":
		v.URL = "/collection:" + of.ID
		v.Summary = fmt.Sprintf("A collection by %s.", of.Creator.Username)
	}
	v.URL = o.BaseURL + v.URL
	if page > 1 {
		v.Previous = page - 1
	}
	if of.Things.PageInfo.HasNextPage {
		v.Next = page + 1
	}
	return v
}

// write answers with a page. Its policy allows one style sheet, pictures and links, and nothing
// that runs.
func (o Options) write(w http.ResponseWriter, r *http.Request, status int, v *view) {
	v.Nonce = rand.Text()
	var b bytes.Buffer
	if err := pages.Execute(&b, v); err != nil {
		o.Fail(w, r, fmt.Errorf("page %s: %w", v.Kind, err))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+v.Nonce+"'; img-src 'self' "+origin(o.BaseURL)+
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "private, no-store")
	h.Add("Vary", "Authorization, Accept")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = b.WriteTo(w) // an error means that the browser has gone
	}
}

// origin is the scheme and host of an address.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// fail answers with an error, as a page to browsers.
func (o Options) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, ErrNotFound) && strings.Contains(r.Header.Get("Accept"), "text/html") {
		o.write(w, r, http.StatusNotFound, &view{Kind: "missing", Title: "Not found", Base: o.BaseURL, Summary: "There is nothing at this address.", Object: new(object)})
		return
	}
	o.Fail(w, r, err)
}
