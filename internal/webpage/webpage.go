// Package webpage serves the HTML pages of a thing, a make, a user, a tag and a collection, which
// URLs in API responses lead to, and the ZIP archive of the files of a thing. The pages need no
// JavaScript. All of their data comes from stored GraphQL documents, so visitors see exactly what
// the schema shows them.
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

	"github.com/meshyard/meshyard/internal/filesize"
)

// Documents contains the GraphQL operations that [Options.Run] runs, by name.
//
//go:embed documents.graphql
var Documents string

//go:embed pages.html
var pagesHTML string

// ErrNotFound means that an object does not exist or is not visible to the visitor.
var ErrNotFound = errors.New("not found")

// Options are the dependencies of Handler.
type Options struct {
	// BaseURL is the URL of the server as clients see it, without a trailing slash.
	BaseURL string
	// Run runs an operation of [Documents] for the visitor in ctx and returns its data. It returns
	// [ErrNotFound] for an object that does not exist or is not visible to the visitor.
	Run func(ctx context.Context, operation string, variables map[string]any) ([]byte, error)
	// LicenseName returns the display name of a license.
	LicenseName func(license string) string
	// Open opens the content of a file that is visible to the visitor.
	Open func(ctx context.Context, fileID int64) (io.ReadSeekCloser, error)
	// Reserved reports whether a path name belongs to the server and cannot be a user name.
	Reserved func(name string) bool
	// Fail writes the response for an error, including [ErrNotFound], to a client that does not
	// accept HTML.
	Fail func(w http.ResponseWriter, r *http.Request, err error)

	known *checksums
}

// target is the object that a path refers to.
type target struct {
	operation string // in Documents
	variables map[string]any
	zip       bool
	paged     bool
}

// find returns the target of a path. ok is false if the path is not a page of this package.
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

// id returns the text if it is an ID, and "0" otherwise.
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

var pages = template.Must(template.New("pages").Funcs(template.FuncMap{"size": filesize.Format, "safe": func(html string) template.HTML {
	return template.HTML(html) // sanitized by the schema
}}).Parse(pagesHTML))

// Handler serves the requests for which [Options.Serves] returns true.
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
			t.variables["after"] = fmt.Sprint("page:", page) // see PageCursor in package graph
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

// object is the union of the objects that the operations return.
type object struct {
	ID, Name, State, License, Slug, Username, FirstName, LastName, Location string
	DescriptionHTML, InstructionsHTML, BioHTML                              string
	LikeCount, MakeCount, DownloadCount                                     int64
	PublishedAt, UpdatedAt                                                  *time.Time
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

// Source returns the URL of the image, or "" if there is none.
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
	ID, Name, Kind, PublicURL, SHA256 string
	Size                              int64
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

// view is the data of the template.
type view struct {
	Kind, Title, Summary, URL, Base, Nonce string
	LicenseName                            string
	Object                                 *object
	Previous, Next                         int // numbers of pages of a list; 0 if there is none
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

// write responds with a page. Its policy allows one style sheet, images and links, and no scripts.
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
		_, _ = b.WriteTo(w) // an error means that the client has disconnected
	}
}

// origin returns the scheme and the host of a URL.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// fail responds with an error, as a page if the client is a browser.
func (o Options) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, ErrNotFound) && strings.Contains(r.Header.Get("Accept"), "text/html") {
		o.write(w, r, http.StatusNotFound, &view{Kind: "missing", Title: "Not found", Base: o.BaseURL, Summary: "There is no page at this URL.", Object: new(object)})
		return
	}
	o.Fail(w, r, err)
}
