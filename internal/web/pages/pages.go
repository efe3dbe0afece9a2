// Package pages serves the pages for developers: an overview of the APIs, the reference of the REST
// API, and the migration guide for users of the old service. All files that the pages load are
// embedded in the binary.
package pages

import (
	"bytes"
	"crypto/rand"
	"embed"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/internal/web/assets"
	"github.com/meshyard/meshyard/internal/web/language"
)

// Options configure the pages.
type Options struct {
	// BaseURL is the URL of the server as clients see it, without a trailing slash. Its path is the
	// prefix of every link.
	BaseURL string
	// Hardened omits GraphiQL and the schema.
	Hardened bool
	// SignedIn returns the user of the browser session of a request. ok is false if there is none. If
	// it is nil, the pages treat every visitor as signed out.
	SignedIn func(r *http.Request) (who auth.SignedIn, ok bool)
	// Guide returns the migration guide in Markdown. It must be trusted text, not written by users. It
	// is called when the page is requested, until it succeeds. If it is nil, there is no guide.
	Guide func() ([]byte, error)
}

// ExampleDocument is the GraphQL document in the example request on /developers. A hardened server
// accepts it too.
const ExampleDocument = "{ me { username role } }"

//go:embed pages/*.html
var pageFiles embed.FS

// pageTemplates are the pages by name, each with the layout.
var pageTemplates = map[string]*template.Template{
	"home":      parsePage("home"),
	"reference": parsePage("reference"),
	"migration": parsePage("migration"),
}

func parsePage(name string) *template.Template {
	return template.Must(template.ParseFS(pageFiles, "pages/layout.html", "pages/"+name+".html"))
}

// Handler serves GET and HEAD of /developers, /reference, the files below /reference/assets/, and
// /migration. Mount it without StripPrefix:
//
//	h := pages.Handler(pages.Options{BaseURL: …})
//	mux.Handle("GET /developers", h)
//	mux.Handle("GET /reference", h)
//	mux.Handle("GET /reference/{$}", h)
//	mux.Handle("GET /reference/assets/", h)
//	mux.Handle("GET /migration", h)
//
// The reference reads /openapi.json and calls the API, both below the path of BaseURL. The pages
// contain no secrets and are public: mount them without authentication.
func Handler(o Options) http.Handler {
	s := site{Options: o, base: BasePath(o.BaseURL)}
	mux := http.NewServeMux()
	mux.Handle("GET /developers", s.page("home", homePolicy, nil))
	mux.Handle("GET /reference", s.page("reference", referencePolicy, nil))
	mux.Handle("GET /reference/{$}", s.page("reference", referencePolicy, nil))
	mux.HandleFunc("GET /reference/assets/{version}/{name}", serveAsset)
	if o.Guide != nil {
		mux.Handle("GET /migration", s.page("migration", homePolicy, s.guide()))
	}
	return assets.Strict(mux)
}

// homePolicy allows scripts and styles with the nonce and no others, not even other files of this
// server, because some of those are uploads.
func homePolicy(nonce string) string {
	return "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'nonce-" + nonce + "'; img-src 'self'; " +
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// referencePolicy also allows the icons in the style sheet of Swagger UI, which are data: URLs, and
// responses that are images, which Swagger UI shows as blob: URLs.
func referencePolicy(nonce string) string {
	return strings.Replace(homePolicy(nonce), "img-src 'self'", "img-src 'self' data: blob:", 1)
}

// BasePath returns the path of a URL, escaped and without a trailing slash. It returns "" for an
// invalid URL.
func BasePath(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	// Clean leaves one leading slash. A browser would treat the part after two slashes as a host.
	return strings.TrimSuffix(path.Clean("/"+u.EscapedPath()), "/")
}

type site struct {
	Options
	base string
}

// guide returns a function that returns the rendered guide. The function keeps the guide once it
// has succeeded.
func (s site) guide() func() (guide, error) {
	var mu sync.Mutex
	var kept *guide
	return func() (guide, error) {
		mu.Lock()
		defer mu.Unlock()
		if kept != nil {
			return *kept, nil
		}
		text, err := s.Guide()
		if err != nil {
			return guide{}, err
		}
		g, err := renderGuide(text, s.base)
		if err == nil {
			kept = &g
		}
		return g, err
	}
}

// A view is the data of the templates.
type view struct {
	Page     string
	Base     string // the path of the base URL, the prefix of each path of this server
	BaseURL  string
	Nonce    string
	User     auth.SignedIn // zero if no user is signed in
	GraphiQL bool
	Migrates bool
	Guide    guide
	Language *language.Texts
	T        *language.Developers
}

// Fill replaces the placeholders of a text that contains HTML.
func (v view) Fill(text string, values ...any) template.HTML { return language.Fill(text, values...) }

// Asset returns the path of a file in assets.
func (v view) Asset(name string) (string, error) { return AssetPath(v.Base, name) }

// Shell returns the URL of a path, quoted for a shell.
func (v view) Shell(path string) string {
	return "'" + strings.ReplaceAll(v.BaseURL+path, "'", `'\''`) + "'"
}

// page serves a page with a new nonce, so the response must not be stored.
func (s site) page(name string, policy func(nonce string) string, text func() (guide, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := language.Of(r)
		v := view{
			Page: name, Base: s.base, BaseURL: urls.BaseOf(r.Context(), s.BaseURL), Nonce: rand.Text(), GraphiQL: !s.Hardened,
			Migrates: s.Guide != nil,
			Language: t, T: &t.Developers,
		}
		if s.SignedIn != nil {
			v.User, _ = s.SignedIn(r)
		}
		var err error
		if text != nil {
			v.Guide, err = text()
		}
		var page bytes.Buffer
		if err == nil {
			err = pageTemplates[name].ExecuteTemplate(&page, "layout.html", v)
		}
		// Guide failed, or a template contains a misspelt name, which a test would detect.
		if err != nil {
			slog.ErrorContext(r.Context(), "page failed", "page", name, "error", err.Error())
			http.Error(w, "The page could not be created. The log of the server has the cause.", http.StatusInternalServerError)
			return
		}
		t.SetHeader(w.Header())
		assets.WritePage(w, http.StatusOK, policy(v.Nonce), page.Bytes())
	})
}
