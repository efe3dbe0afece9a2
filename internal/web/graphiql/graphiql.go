// Package graphiql serves GraphiQL, the GraphQL IDE, from assets in the binary: the page needs no
// network access except to the server. It extends plain GraphiQL by a bar for the access token, a
// file chooser for Upload variables and example operations.
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

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/web/assets"
	"github.com/meshyard/meshyard/internal/web/language"
)

// Options configure the page. The zero value is ready to use.
type Options struct {
	// Examples are opened as tabs on the first visit and listed in the Examples menu, in this
	// order. If nil, they are those of [Examples].
	Examples []Example
	// SignedIn returns the user of the browser session of a request. ok is false if there is none. If
	// it is nil, the page treats every visitor as signed out.
	SignedIn func(r *http.Request) (who auth.SignedIn, ok bool)
}

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// Handler serves /graphiql and the files that its page loads. Mount it at these patterns, without
// StripPrefix:
//
//	h := graphiql.Handler(graphiql.Options{})
//	mux.Handle("/graphiql", h)
//	mux.Handle("/graphiql/{$}", h)
//	mux.Handle("/graphiql/examples.json", h)
//	mux.Handle("/graphiql/assets/", h)
//
// The page sends its operations to the sibling path /graphql. All URLs in the page are relative, so
// it also works behind a proxy that adds a path prefix. The page contains no secrets and is public:
// mount it without authentication.
//
// Handler panics if an example cannot be encoded, which no [Example] can cause.
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
	mux.HandleFunc("GET /graphiql", func(w http.ResponseWriter, r *http.Request) { servePage(w, r, opts.SignedIn, list) })
	mux.HandleFunc("GET /graphiql/{$}", func(w http.ResponseWriter, r *http.Request) {
		servePage(w, r, opts.SignedIn,
			list)
	})
	mux.HandleFunc("GET /graphiql/examples.json",
		func(w http.ResponseWriter, r *http.Request) { list.Serve(w, r, r.URL.Query().Get("v")) })
	mux.HandleFunc("GET /graphiql/assets/{name}", func(w http.ResponseWriter, r *http.Request) {
		a, ok := files()[r.PathValue("name")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		a.Serve(w, r, r.URL.Query().Get("v"))
	})
	return assets.Strict(mux)
}

// pagePolicy returns the Content-Security-Policy of the page. Only the menus and dialogs of
// GraphiQL need the nonce: they lock scrolling by a style element. CodeMirror and React set styles
// through the CSSOM, which the policy does not affect. Fonts and icons in the style sheet of
// GraphiQL are data: URLs.
func pagePolicy(nonce string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonce +
		"'; font-src data:; img-src 'self' data:; " +
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// servePage writes the page with a new nonce, so the response must not be stored.
func servePage(w http.ResponseWriter, r *http.Request, signedIn func(*http.Request) (auth.SignedIn, bool),
	examples *assets.Asset) {
	nonce := rand.Text()
	// URLs are relative to that of the page, which may have a trailing slash.
	base, root := "graphiql/", ""
	if strings.HasSuffix(r.URL.Path, "/") {
		base, root = "", "../"
	}
	var who auth.SignedIn
	if signedIn != nil {
		who, _ = signedIn(r)
	}
	t := language.Of(r)
	texts, err := json.Marshal(t.GraphiQL)
	if err != nil { // never: it has strings alone
		http.Error(w, t.SignIn.PageFailed, http.StatusInternalServerError)
		return
	}
	var page bytes.Buffer
	err = pageTemplate.Execute(&page, map[string]any{
		"Language": t.Code,
		"T":        t.GraphiQL,
		"Texts":    string(texts),
		"Fill":     language.Fill,
		"Nonce":    nonce,
		"Root":     root,
		"User":     who,
		"Asset":    func(name string) (string, error) { return assetAddress(base, name) },
		"Examples": base + "examples.json?v=" + examples.Version,
	})
	if err != nil { // only if an asset name is misspelt in page.html, which a test would detect
		http.Error(w, "The page could not be created.", http.StatusInternalServerError)
		return
	}
	t.SetHeader(w.Header())
	assets.WritePage(w, http.StatusOK, pagePolicy(nonce), page.Bytes())
}
