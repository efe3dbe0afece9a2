package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzhttp"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/blobs"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/internal/httpserver/draining"
	"github.com/meshyard/meshyard/internal/httpserver/httptimeout"
	"github.com/meshyard/meshyard/internal/httpserver/requestline"
	"github.com/meshyard/meshyard/internal/image/thumbnail/placeholder"
	"github.com/meshyard/meshyard/internal/telemetry"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/internal/urls/signing"
	"github.com/meshyard/meshyard/internal/web/gallery"
	"github.com/meshyard/meshyard/internal/web/graphiql"
	"github.com/meshyard/meshyard/internal/web/pages"
	"github.com/meshyard/meshyard/internal/web/signin"
	"github.com/meshyard/meshyard/internal/web/webpage"
	"github.com/meshyard/meshyard/rest"
)

// Handler returns the handler of all requests to the server. Subscriptions end with ctx.
func (a *Server) Handler(ctx context.Context) (http.Handler, error) {
	key, err := a.Store.Secret(ctx, "signing")
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	addresses := urls.Builder{Base: a.Settings.BaseURL, Key: signing.Key(key)}
	g := graph.New(&graph.Resolver{Store: a.Store, URLs: addresses, AnonymousRead: a.Settings.AnonymousRead})
	api, err := a.api(ctx, g, addresses)
	if err != nil {
		return nil, err
	}
	webPages, err := a.webpages(g)
	if err != nil {
		return nil, err
	}
	bytes := a.blobs(addresses)
	calls := a.calls(api, addresses.Key, webPages)
	mux := a.routes(g, addresses, bytes, webPages)
	mux.Handle("/", a.limited(calls, refuseCall(webPages), uncompressed))
	web := a.limited(pageOrNotFound(webPages, bytes), refusePage(webPages), nil)

	var handler http.Handler = &dispatcher{mux: mux, calls: calls, api: api, bytes: bytes, web: web, webPages: webPages, draining: a.draining, addresses: addresses}
	handler = a.withOwnBase(handler)
	handler = crossOrigin(handler, a.Settings.CORSOrigins)
	handler = httptimeout.Handler(handler, httptimeout.IdleTimeout)
	handler = telemetry.Requests(handler, a.Logger, a.metrics.Request, a.tracer)
	return a.Settings.TrustedProxies.Resolve(handler), nil
}

// routes returns the routes of everything but the APIs, sign-in and the web pages.
func (a *Server) routes(g *graph.Graph, addresses urls.Builder, bytes blobs.Handler, webPages webpage.Options) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", telemetry.Healthz)
	mux.HandleFunc("GET /readyz", telemetry.Readyz(a.ready))
	mux.HandleFunc("GET /metrics", a.mainMetrics)
	mux.Handle("GET /blobs/{file_id}/{name}", bytes)
	derived := a.renditions(bytes)
	mux.Handle("GET /renders/{file_id}/{tag}/{name}", derived)
	mux.Handle("GET /renders/{file_id}/{tag}/{name}/{filename}", derived)
	mux.Handle("GET /glb/{file_id}/{tag}/{name}", derived)
	mux.Handle("GET /threejs/{file_id}/{tag}/{name}", derived)
	mux.Handle("GET /view/", compressed(a.viewer(addresses, webPages)))
	mux.Handle("GET "+gallery.Prefix, gallery.Handler()) // serves compressed files itself
	mux.HandleFunc(webpage.LogoPattern, webPages.Site.ServeLogo)
	mux.Handle("GET /renders/default/{name}", placeholder.Handler(func(w http.ResponseWriter) { missing(w) }))
	a.mountDocumentation(mux, g)
	return mux
}

// calls returns the routes of the APIs, of sign-in and of the archives of users.
func (a *Server) calls(api http.Handler, key signing.Key, webPages webpage.Options) *http.ServeMux {
	calls := http.NewServeMux()
	calls.Handle("/", compressed(api))
	// Not compressed: the length of a compressed page that contains both a secret and text from the
	// URL would reveal the secret (BREACH attack).
	signIn := a.signIn(key, webPages)
	for _, pattern := range signin.Patterns {
		calls.Handle(pattern, signIn)
	}
	calls.Handle("GET "+archivePath, &archives{server: a, webPages: webPages, sending: make(map[int64]bool)})
	return calls
}

// pageOrNotFound serves the web pages, the headers of downloads, and a page with status 404 at all
// other paths. It is not compressed here, because it compresses its responses itself.
func pageOrNotFound(webPages webpage.Options, bytes http.Handler) http.Handler {
	found := webpage.Handler(webPages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, blobs.DownloadPrefix):
			bytes.ServeHTTP(w, r)
		case routable(r.URL) && webPages.Serves(r):
			found.ServeHTTP(w, r)
		default:
			webPages.NotFound(w, r)
		}
	})
}

// dispatcher sends each request to the web pages or to the routes. A ServeMux cannot decide this by
// its patterns: an unknown path is a page for browsers and a JSON error for other clients.
type dispatcher struct {
	mux, calls, api *http.ServeMux // each passes paths without a route to the next one
	bytes, web      http.Handler
	webPages        webpage.Options
	addresses       urls.Builder
	draining        <-chan struct{} // closed when the server begins to shut down
}

func (d *dispatcher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	draining.Announce(w.Header(), d.draining)
	requestline.Unmark(r)
	r = rest.OneTerm(withOneSlash(withOpened(r, d.addresses)))
	switch search, ok := webpage.SearchURL(r); {
	case ok:
		w.Header().Set("Vary", "Accept")
		http.Redirect(w, r, urls.BaseOf(r.Context(), d.webPages.BaseURL)+search, http.StatusFound)
	case strings.HasPrefix(r.URL.Path, blobs.DownloadPrefix):
		if r.Method == http.MethodHead { // so cheap that all IDs could be tried
			d.web.ServeHTTP(w, r)
			return
		}
		d.bytes.ServeHTTP(w, r)
	case !routable(r.URL):
		if webpage.IsVisit(r) {
			d.web.ServeHTTP(w, r)
			return
		}
		missing(w)
	case d.webPages.Serves(r) || webpage.IsVisit(r) && d.isUnknown(r):
		d.web.ServeHTTP(w, r)
	default:
		d.mux.ServeHTTP(w, r)
		if r.Pattern != "/" { // else the REST API sets the route
			telemetry.SetRoute(r.Context(), r.Pattern)
		}
	}
}

// isUnknown reports whether nothing is served at the path of r. The REST API serves its documented
// paths and all paths below /api/.
func (d *dispatcher) isUnknown(r *http.Request) bool {
	for _, m := range []*http.ServeMux{d.mux, d.calls, d.api} {
		if _, pattern := m.Handler(r); pattern != "/" {
			return false
		}
	}
	return !rest.IsPath(r.URL)
}

// api returns the handler of the GraphQL and the REST API. Subscriptions end with ctx.
func (a *Server) api(ctx context.Context, g *graph.Graph, addresses urls.Builder) (*http.ServeMux, error) {
	charge := a.budget()
	restHandler, err := rest.Handler(rest.Options{
		Graph: g, URLs: addresses, Charge: a.budgetOfREST(charge), Sunset: a.Settings.Sunset.Time,
		Observe: a.metrics.Operation,
		NoteDeprecated: func(r *http.Request, operation string) {
			caller, _ := auth.From(r.Context())
			a.Store.NoteDeprecated(caller, operation, r.UserAgent())
		},
		MayUpload: func(ctx context.Context, atLeast int64) error {
			caller, _ := auth.From(ctx)
			return a.Store.MayUpload(ctx, caller, atLeast)
		},
		StoreForm: func(ctx context.Context, form signing.Form, atLeast int64, file io.Reader) error {
			return a.Store.StoreStaged(ctx, form.FileID, atLeast, form.Limit, file)
		},
	})
	if err != nil {
		return nil, err
	}
	documents, err := Documents(a.Settings, g)
	if err != nil {
		return nil, err
	}
	queries, err := g.Handler(graphqlhttp.Options{Hardened: a.Settings.Hardened, Documents: documents, Charge: charge, Authenticate: a.authenticate, AllowWebSocket: a.allowSocket, Observe: a.metrics.Operation, Done: ctx.Done()})
	if err != nil {
		return nil, err
	}
	api := http.NewServeMux()
	api.HandleFunc("/graphql", func(w http.ResponseWriter, r *http.Request) {
		telemetry.SetRoute(r.Context(), "/graphql")
		queries.ServeHTTP(w, r)
	})
	api.Handle("/", restHandler)
	api.Handle("/api/", http.StripPrefix("/api", restHandler)) // some old clients use this path
	return api, nil
}

// mountDocumentation mounts the pages for developers and the descriptions of both APIs.
func (a *Server) mountDocumentation(mux *http.ServeMux, g *graph.Graph) {
	pages := compressed(pages.Handler(pages.Options{BaseURL: a.Settings.BaseURL, Hardened: a.Settings.Hardened, SignedIn: a.signedIn, Guide: func() ([]byte, error) { return rest.Guide(g) }}))
	for _, pattern := range []string{"GET /developers", "GET /reference", "GET /reference/{$}", "GET /reference/assets/", "GET /migration"} {
		mux.Handle(pattern, pages)
	}
	mux.Handle("GET /openapi.json", a.document("application/json; charset=utf-8", func() ([]byte, error) { return rest.OpenAPI(g, a.Settings.BaseURL) }))
	if a.Settings.Hardened {
		return
	}
	explorer := compressed(graphiql.Handler(graphiql.Options{SignedIn: a.signedIn}))
	for _, pattern := range []string{"/graphiql", "/graphiql/{$}", "/graphiql/examples.json", "/graphiql/assets/"} {
		mux.Handle(pattern, explorer)
	}
	mux.Handle("GET /schema.graphql", a.document("text/plain; charset=utf-8", func() ([]byte, error) { return []byte(g.SDL()), nil }))
}

// clean reports whether the mux accepts a path as it is. The mux redirects other paths, and clients
// repeat a redirected POST as a GET.
func clean(p string) bool {
	return p == path.Clean(p) || p == path.Clean(p)+"/"
}

// withOneSlash returns r with one slash at the start of its path. Clients whose base URL ends with
// a slash send two.
func withOneSlash(r *http.Request) *http.Request {
	if !strings.HasPrefix(r.URL.Path, "//") {
		return r
	}
	clone, u := *r, *r.URL
	u.Path = "/" + strings.TrimLeft(u.Path, "/")
	if u.RawPath != "" {
		u.RawPath = "/" + strings.TrimLeft(u.RawPath, "/")
	}
	clone.URL = &u
	return &clone
}

// routable reports whether the path of u is clean. Segments that are texts may contain any escaped
// slashes: the text of a search of the REST API, which may be a URL, and tags.
func routable(u *url.URL) bool {
	path := strings.TrimPrefix(u.Path, "/api")
	hasText := strings.HasPrefix(path, "/search/") || strings.HasPrefix(path, "/tags/") || strings.HasPrefix(path, "/tag:")
	return clean(u.Path) || hasText && clean(u.EscapedPath())
}

// document serves a text that does not change while the server runs. The first request generates
// it, because most servers never need it.
func (a *Server) document(contentType string, generate func() ([]byte, error)) http.Handler {
	generate = sync.OnceValues(generate)
	return compressed(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text, err := generate()
		if err != nil {
			a.Logger.Error("cannot generate a document", "err", err)
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "public, max-age=60")
		_, _ = w.Write(text)
	}))
}

func missing(w http.ResponseWriter) {
	rest.WriteError(w, http.StatusNotFound, "this path does not exist")
}

// compressed compresses the text responses of next. It is not used for file contents, which are
// usually compressed already or requested in ranges.
func compressed(next http.Handler) http.Handler { return gzhttp.GzipHandler(next) }
