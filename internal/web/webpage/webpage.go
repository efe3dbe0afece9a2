// Package webpage serves the pages of the gallery: the home page, searches, things, makes, users,
// tags, categories, collections and the pages of the operator. It also serves metadata for search
// engines and previews of links, Atom feeds, and the ZIP archive of the files of a thing.
//
// Each page contains its content as plain HTML and works without JavaScript. The client of package
// gallery then replaces the content. All data of objects comes from stored GraphQL documents, so
// visitors see exactly what the schema shows them.
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
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzhttp"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/filesize"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/internal/web/language"
	"github.com/meshyard/meshyard/internal/web/pages"
)

// Documents contains the GraphQL operations that [Options.Run] runs, by name.
//
//go:embed documents.graphql
var Documents string

//go:embed shell.html
var shellHTML string

// Errors of [Options.Run].
var (
	// ErrNotFound means that an object does not exist or is not visible to the visitor.
	ErrNotFound = errors.New("not found")
	// ErrSignInRequired means that the server shows nothing to visitors who are not signed in.
	ErrSignInRequired = errors.New("signing in is required")
)

// Options are the dependencies of Handler.
type Options struct {
	// BaseURL is the URL of the server as clients see it, without a trailing slash.
	BaseURL string
	// Site holds the settings of the operator.
	Site *Site
	// AnonymousRead reports whether visitors who are not signed in can see published content.
	AnonymousRead bool
	// Registration reports whether visitors can create an account without an invitation.
	Registration bool
	// UploadLimit is the number of bytes of the largest file that users can upload.
	UploadLimit int64
	// Styles is the style sheet of the client.
	Styles string
	// Script returns the path of the client in a language, and Icon is that of its icon, both below
	// BaseURL.
	Script func(code string) string
	Icon   string
	// Visitor returns the user who is signed in with the browser session of a request, or nil, and a
	// request whose context has that user as the caller. If it cannot read the session, it returns
	// the request unchanged and an error.
	Visitor func(r *http.Request) (*User, *http.Request, error)
	// Run runs an operation of [Documents] for the caller in ctx and returns its data. It returns
	// [ErrNotFound] for an object that does not exist or is not visible to the caller.
	Run func(ctx context.Context, operation string, variables map[string]any) ([]byte, error)
	// RunClient runs one of [ClientDocuments] as Run does.
	RunClient func(ctx context.Context, operation string, variables map[string]any) ([]byte, error)
	// Sitemap returns the public pages for search engines.
	Sitemap Sitemap
	// Open opens the content of a file that is visible to the visitor.
	Open func(ctx context.Context, fileID int64) (io.ReadSeekCloser, error)
	// Reserved reports whether the first element of a path belongs to the server, so it cannot be a
	// user name.
	Reserved func(name string) bool
	// Fail writes the response for an error, including [ErrNotFound], to a program.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
	// Explain returns the status for an error, and its public part. It logs errors that have no public
	// message.
	Explain func(ctx context.Context, err error) (status int, public *apierror.Error)

	known          *checksums
	urlsPerSitemap int
	// building is a semaphore for one sitemap at a time: each reads tens of thousands of rows.
	building chan struct{}
}

// User is the signed-in user. The client reads it from the page.
type User struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
	Name     string `json:"name"` // first and last name; may be empty
	Role     string `json:"role"` // as in the schema
	// Avatar is the URL of the avatar; "" if there is none. [Handler] sets it if HasAvatar is true.
	Avatar    string `json:"avatar"`
	HasAvatar bool   `json:"-"`
}

// Serves reports whether a request is for a page of this package.
func (o Options) Serves(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if r.URL.Path == feedPath || r.URL.Path == sitemapPath || r.URL.Path == robotsPath {
		return true
	}
	_, ok := o.find(r.URL.Path)
	return ok
}

var shell = template.Must(template.New("shell").
	Funcs(template.FuncMap{"fill": language.Fill, "size": filesize.Format, "path": url.PathEscape,
		"safe": func(html string) template.HTML {
			return template.HTML(html) // sanitized by the schema
		}}).Parse(shellHTML))

// Handler serves the requests for which [Options.Serves] returns true.
func Handler(o Options) http.Handler {
	o.known, o.building = &checksums{sums: make(map[string]uint32)}, make(chan struct{}, 1)
	if o.urlsPerSitemap == 0 {
		o.urlsPerSitemap = maxURLs
	}
	texts := gzhttp.GzipHandler(http.HandlerFunc(o.serveText))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o := o.at(r)
		if p, _ := o.find(r.URL.Path); p.kind == zipFile {
			o.serveArchive(w, r, p) // not compressed: archives are served in ranges
			return
		}
		texts.ServeHTTP(w, r)
	})
}

// at returns the options with the base URL that a request has used.
func (o Options) at(r *http.Request) Options {
	o.BaseURL = urls.BaseOf(r.Context(), o.BaseURL)
	return o
}

func (o Options) serveText(w http.ResponseWriter, r *http.Request) {
	o = o.at(r)
	switch r.URL.Path {
	case feedPath:
		o.serveFeed(w, r)
		return
	case sitemapPath:
		o.serveSitemap(w, r)
		return
	case robotsPath:
		o.serveRobots(w)
		return
	}
	p, ok := o.find(r.URL.Path)
	switch {
	case !ok:
		p = page{kind: missingPage}
	case p.kind == redirectTo:
		o.redirect(w, r, p.canonical)
		return
	}
	visitor, r, err := o.Visitor(r)
	if visitor != nil && visitor.HasAvatar {
		// If this fails, the page shows an initial instead.
		if of, err := o.run(r.Context(), "viewer", nil); err == nil && of.Page != nil {
			visitor.Avatar = of.Page.AvatarURL
		}
	}
	v := o.newView(r, p.kind, visitor)
	if p.kind == legalPage {
		o.serveLegal(w, r, v, p.name)
		return
	}
	if err != nil {
		o.fail(w, r, err)
		return
	}
	if visitor == nil && !o.AnonymousRead && !HasToken(r) {
		o.SignIn(w, r)
		return
	}
	status := http.StatusOK
	switch {
	case p.kind == missingPage && HasToken(r):
		o.Fail(w, r, ErrNotFound)
		return
	case p.kind == missingPage:
		status = http.StatusNotFound
	case p.operation == "":
		v.Title = p.title(&v.Lang.Gallery)
	default:
		switch err := o.load(r, v, p); {
		case errors.Is(err, ErrNotFound) && !HasToken(r):
			v, status = o.newView(r, missingPage, visitor), http.StatusNotFound
		case errors.Is(err, ErrSignInRequired) && !HasToken(r):
			o.SignIn(w, r)
			return
		case err != nil:
			o.fail(w, r, err)
			return
		case p.kind == userPage && v.Of.Username != p.name:
			o.redirect(w, r, v.Path)
			return
		}
	}
	o.write(w, r, status, v)
}

// load fills a view with the data of a page.
func (o Options) load(r *http.Request, v *view, p page) error {
	number := 1
	if n, err := strconv.Atoi(r.URL.Query().Get("page")); err == nil {
		number = min(max(n, 1), 1_000_000)
	}
	variables := map[string]any{}
	maps.Copy(variables, p.variables)
	if p.paged {
		variables["after"] = fmt.Sprint("page:", number) // see PageCursor in package graph
	}
	if p.kind == explorePage {
		v.Query = firstLetters(r.URL.Query().Get("q"), maxQuery)
		variables["query"] = v.Query
	}
	of, err := o.run(r.Context(), p.operation, variables)
	if err != nil {
		return err
	}
	o.describe(v, p, of)
	v.Response = o.responseFor(r, p)
	if v.List != nil && number > 1 {
		v.Previous = neighbor(r.URL.Query(), number-1)
	}
	if v.List != nil && v.List.PageInfo.HasNextPage {
		v.Next = neighbor(r.URL.Query(), number+1)
	}
	return nil
}

// run runs an operation and decodes its data. It returns ErrNotFound if the object of the page is
// null.
func (o Options) run(ctx context.Context, operation string, variables map[string]any) (of pageData, err error) {
	data, err := o.Run(ctx, operation, variables)
	if err != nil {
		return of, err
	}
	if err := json.Unmarshal(data, &of); err != nil {
		return of, fmt.Errorf("page %s: %w", operation, err)
	}
	if of.Page == nil && bytes.Contains(data, []byte(`"page":null`)) {
		return of, ErrNotFound
	}
	return of, nil
}

// maxQuery is the maximum length of a search query in characters, as in the schema.
const maxQuery = 200

func firstLetters(text string, n int) string {
	letters := []rune(strings.ToValidUTF8(text, ""))
	return string(letters[:min(len(letters), n)])
}

// neighbor returns the query of the page with another number of the same list.
func neighbor(query url.Values, number int) template.URL {
	of := url.Values{"page": {strconv.Itoa(number)}}
	if q := query.Get("q"); q != "" {
		of.Set("q", q)
	}
	return template.URL(of.Encode())
}

// HasToken reports whether the request has an access token. Such a request comes from a program,
// which gets errors instead of a redirect to the sign-in page.
func HasToken(r *http.Request) bool {
	return r.Header.Get("Authorization") != "" || r.URL.Query().Has("access_token")
}

// SignIn redirects the browser to the sign-in page, and from there back to this page.
func (o Options) SignIn(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, o.at(r).BaseURL+"/signin?"+url.Values{"next": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
}

// redirect redirects to the canonical path of a page, with the query of the request. canonical is
// escaped.
func (o Options) redirect(w http.ResponseWriter, r *http.Request, canonical string) {
	if r.URL.RawQuery != "" {
		canonical += "?" + r.URL.RawQuery
	}
	w.Header().Set("Cache-Control", "max-age=3600") // not longer, because a user may change their name
	http.Redirect(w, r, o.BaseURL+canonical, http.StatusMovedPermanently)
}

// languages are the languages that a visitor can choose.
var languages = func() (all []languageName) {
	for _, t := range language.All {
		all = append(all, languageName{t.Code, t.Name})
	}
	return all
}()

// newView returns the view of a page without its data.
func (o Options) newView(r *http.Request, k kind, visitor *User) *view {
	t := language.Of(r)
	base := pages.BasePath(o.BaseURL)
	v := &view{
		Kind: k, Lang: t, Scheme: pages.Scheme(r), Base: base, BaseURL: o.BaseURL, Nonce: rand.Text(), Site: o.Site,
		Theme: o.Site.Theme(), Styles: template.CSS(o.Styles), Script: base + o.Script(t.Code), Icon: base + o.Icon,
		Of: new(node),
		Config: clientConfig{
			Name: o.Site.Name, Accent: o.Site.Color.String(), BaseURL: o.BaseURL, User: visitor, AnonymousRead: o.AnonymousRead,
			Registration: o.Registration, UploadLimit: o.UploadLimit,
			Locale: t.Code, Languages: languages, Welcome: o.Site.Welcome(t.Code), Legal: []link{},
		},
	}
	if o.Site.Logo != nil {
		v.Config.Logo = base + o.Site.LogoPath()
	}
	for _, l := range o.Site.Legal(t.Code) {
		v.Config.Legal = append(v.Config.Legal, link{l.Title, base + "/legal/" + l.Name})
	}
	if k == missingPage {
		v.Title, v.Description = t.Gallery.NotFound, t.Gallery.NotFoundText
	}
	return v
}

// write responds with a page. Its content security policy allows the style sheets and scripts of
// the page, what the scripts import, and images of this server.
func (o Options) write(w http.ResponseWriter, r *http.Request, status int, v *view) {
	var b bytes.Buffer
	if err := shell.Execute(&b, v); err != nil {
		o.Fail(w, r, fmt.Errorf("page %s: %w", v.Kind, err))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy",
		"default-src 'none'; script-src 'nonce-"+v.Nonce+"'; style-src 'nonce-"+v.Nonce+"'; img-src 'self' "+origin(
			o.BaseURL)+
			" blob: data:; connect-src 'self'; font-src 'self'; frame-src 'self'; worker-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "private, no-store")
	h.Add("Vary", "Authorization")
	v.Lang.SetHeader(h)
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

// filesPerPage is the number of files that the operation archive reads at a time.
const filesPerPage = 1_000

// serveArchive streams the files of a thing as a ZIP archive. Its owner can also download the files
// of a draft.
func (o Options) serveArchive(w http.ResponseWriter, r *http.Request, p page) {
	_, r, err := o.Visitor(r)
	if err != nil {
		o.fail(w, r, err)
		return
	}
	of, err := o.run(r.Context(), p.operation, p.variables)
	for more := of.Page; err == nil && len(more.Files) == filesPerPage; {
		var next pageData
		next, err = o.run(r.Context(), p.operation, map[string]any{"id": p.variables["id"], "offset": len(of.Page.Files)})
		if err == nil {
			more = next.Page
			of.Page.Files = append(of.Page.Files, more.Files...)
		}
	}
	if err != nil {
		o.fail(w, r, err)
		return
	}
	o.serveZip(w, r, of.Page)
}
