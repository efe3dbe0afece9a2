// Package graphiql serves GraphiQL, the GraphQL workbench, from assets inside the binary: the page
// and all it needs work with no network but the server itself. Over plain GraphiQL it adds a bar
// for the access token, a file chooser for Upload variables and example operations.
package graphiql

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/meshyard/meshyard/internal/assets"
)

// Options says what the page shows. The zero value is ready to use.
type Options struct {
	// Examples are opened as tabs on the first visit and listed in the page's Examples menu, in
	// this order. Nil stands for [Examples].
	Examples []Example
}

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// Handler answers /graphiql and everything below /graphiql/. Mount it at both patterns, without
// StripPrefix:
//
//	h := graphiql.Handler(graphiql.Options{})
//	mux.Handle("/graphiql", h)
//	mux.Handle("/graphiql/", h)
//
// The page sends its operations to the path /graphql beside it. All addresses in the page are
// relative, so it also works behind a proxy that adds a path in front. It needs no session and
// holds no secret: mount it without authentication.
//
// Handler panics when an example cannot be encoded, which no [Example] can cause.
func Handler(opts Options) http.Handler {
	examples := opts.Examples
	if examples == nil {
		examples = Examples()
	}
	encoded, err := json.Marshal(examples)
	if err != nil {
		panic(fmt.Sprintf("encode GraphiQL examples: %v", err))
	}
	list := assets.New("examples.json", encoded)

	mux := http.NewServeMux()
	mux.HandleFunc("GET /graphiql", func(w http.ResponseWriter, r *http.Request) { servePage(w, r, list) })
	mux.HandleFunc("GET /graphiql/{$}", func(w http.ResponseWriter, r *http.Request) { servePage(w, r, list) })
	mux.HandleFunc("GET /graphiql/examples.json", func(w http.ResponseWriter, r *http.Request) { list.Serve(w, r, r.URL.Query().Get("v")) })
	mux.HandleFunc("GET /graphiql/assets/{name}", func(w http.ResponseWriter, r *http.Request) {
		a, ok := files[r.PathValue("name")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		a.Serve(w, r, r.URL.Query().Get("v"))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		mux.ServeHTTP(w, r)
	})
}

// setHeaders gives every answer, refusals too, the strictest policy; the page alone widens it.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// pagePolicy is the page's Content-Security-Policy. The nonce is for one thing: GraphiQL's menus
// and dialogs lock scrolling through a style element of their own. CodeMirror and React style
// through the CSSOM, which the policy does not reach. Fonts and icons in GraphiQL's style sheet are
// data: addresses.
func pagePolicy(nonce string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonce + "'; font-src data:; img-src 'self' data:; " +
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// servePage writes the page with a fresh nonce, which is why it may not be stored.
func servePage(w http.ResponseWriter, r *http.Request, examples *assets.Asset) {
	nonce := rand.Text()
	// Addresses are relative to the page's own, which has a slash at its end or not.
	base := "graphiql/"
	if strings.HasSuffix(r.URL.Path, "/") {
		base = ""
	}
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, map[string]any{
		"Nonce":    nonce,
		"Asset":    func(name string) (string, error) { return assetAddress(base, name) },
		"Examples": base + "examples.json?v=" + examples.Version,
	})
	if err != nil { // only an asset name misspelt in page.html, which a test would find
		http.Error(w, "The page could not be written.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", pagePolicy(nonce))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = page.WriteTo(w) // an error means that the browser has gone
}
