// Package pages serves the pages for programmers: where the APIs are, the reference of the REST
// API, and the guide for those who come from the old service. Everything the pages load comes from
// inside the binary.
package pages

import (
	"bytes"
	"crypto/rand"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
)

// Options says what the pages tell.
type Options struct {
	// BaseURL is the address that clients see, with no slash at the end. A path in it is put before
	// every link.
	BaseURL string
	// Hardened leaves GraphiQL and the schema out.
	Hardened bool
	// Username returns the name of the user who is signed in in the browser of a request, or "". Nil:
	// nobody is.
	Username func(r *http.Request) string
	// Guide returns the migration guide in Markdown, written by us and not by users. It is asked
	// once, by the first visitor. Nil leaves the guide out.
	Guide func() ([]byte, error)
}

// Asked is the GraphQL document with which the page for developers shows how to call the server. A
// hardened server runs it too.
const Asked = "{ me { username role } }"

//go:embed pages/*.html
var pageFiles embed.FS

// Each page fills the place that the layout leaves for it.
var pageTemplates = map[string]*template.Template{
	"home":      parsePage("home"),
	"reference": parsePage("reference"),
	"migration": parsePage("migration"),
}

func parsePage(name string) *template.Template {
	return template.Must(template.ParseFS(pageFiles, "pages/layout.html", "pages/"+name+".html"))
}

// Handler answers GET and HEAD of /developers, of /reference and what is below it, and of
// /migration. Mount it without StripPrefix:
//
//	h := pages.Handler(pages.Options{BaseURL: …})
//	mux.Handle("GET /developers", h)
//	mux.Handle("GET /reference", h)
//	mux.Handle("GET /reference/", h)
//	mux.Handle("GET /migration", h)
//
// The reference reads /openapi.json and calls the API, both below BaseURL's path. The pages contain
// no secret and are for everyone: mount them without authentication.
func Handler(o Options) http.Handler {
	s := site{Options: o, base: BasePath(o.BaseURL)}
	mux := http.NewServeMux()
	mux.Handle("GET /developers", s.page("home", homePolicy, nil))
	mux.Handle("GET /reference", s.page("reference", referencePolicy, nil))
	mux.Handle("GET /reference/{$}", s.page("reference", referencePolicy, nil))
	mux.HandleFunc("GET /reference/assets/{version}/{name}", serveAsset)
	if o.Guide != nil {
		mux.Handle("GET /migration", s.page("migration", homePolicy, sync.OnceValues(func() (guide, error) {
			text, err := o.Guide()
			if err != nil {
				return guide{}, err
			}
			return renderGuide(text, s.base)
		})))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		mux.ServeHTTP(w, r)
	})
}

// setHeaders returns every answer, refusals too, the strictest policy; the pages alone widen it.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// The pages run and wear what has their nonce and nothing else, not even other files of this
// server: some of those are uploads.
func homePolicy(nonce string) string {
	return "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'nonce-" + nonce + "'; img-src 'self'; " +
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// referencePolicy lets in the icons that are data: addresses in Swagger UI's style sheet, and
// answers that are pictures, which it shows as blobs.
func referencePolicy(nonce string) string {
	return strings.Replace(homePolicy(nonce), "img-src 'self'", "img-src 'self' data: blob:", 1)
}

// BasePath returns the path of an address, escaped and with no slash at the end; what is no address
// has none.
func BasePath(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	// Clean leaves one slash at the front: a browser takes what is behind two for a host.
	return strings.TrimSuffix(path.Clean("/"+u.EscapedPath()), "/")
}

type site struct {
	Options
	base string
}

// A view is what the templates see.
type view struct {
	Page     string
	Base     string // before each path of this server
	BaseURL  string
	Nonce    string
	Username string // who is signed in; empty: nobody
	GraphiQL bool
	Migrates bool
	Guide    guide
}

// Asset is the address of a file under assets.
func (v view) Asset(name string) (string, error) { return AssetAddress(v.Base, name) }

// Shell is a path's address, quoted for a shell.
func (v view) Shell(path string) string {
	return "'" + strings.ReplaceAll(v.BaseURL+path, "'", `'\''`) + "'"
}

// page writes a page with a fresh nonce, which is why it may not be stored.
func (s site) page(name string, policy func(nonce string) string, text func() (guide, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := view{Page: name, Base: s.base, BaseURL: s.BaseURL, Nonce: rand.Text(), GraphiQL: !s.Hardened, Migrates: s.Guide != nil}
		if s.Username != nil {
			v.Username = s.Username(r)
		}
		var err error
		if text != nil {
			v.Guide, err = text()
		}
		var page bytes.Buffer
		if err == nil {
			err = pageTemplates[name].ExecuteTemplate(&page, "layout.html", v)
		}
		if err != nil { // only a name misspelt in a template, which a test would find
			http.Error(w, "The page could not be written.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Security-Policy", policy(v.Nonce))
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = page.WriteTo(w) // an error means that the browser has gone
	})
}
