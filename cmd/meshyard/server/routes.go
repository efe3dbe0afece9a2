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
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/rs/cors"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/blobs"
	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/draining"
	"github.com/meshyard/meshyard/internal/gallery"
	"github.com/meshyard/meshyard/internal/graphiql"
	"github.com/meshyard/meshyard/internal/graphqlhttp"
	"github.com/meshyard/meshyard/internal/httptimeout"
	"github.com/meshyard/meshyard/internal/pages"
	"github.com/meshyard/meshyard/internal/ratelimit"
	"github.com/meshyard/meshyard/internal/signin"
	"github.com/meshyard/meshyard/internal/signing"
	"github.com/meshyard/meshyard/internal/telemetry"
	"github.com/meshyard/meshyard/internal/thumbnail/placeholder"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/internal/webpage"
	"github.com/meshyard/meshyard/models"
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
	bytes := a.blobs(addresses)
	pages := compressed(pages.Handler(pages.Options{BaseURL: a.Settings.BaseURL, Hardened: a.Settings.Hardened, Username: a.usernameOf, Guide: func() ([]byte, error) { return rest.Guide(g) }}))

	api := http.NewServeMux()
	documents, err := Documents(a.Settings, g)
	if err != nil {
		return nil, err
	}
	queries, err := g.Handler(graphqlhttp.Options{Hardened: a.Settings.Hardened, Documents: documents, Charge: charge, Authenticate: a.authenticate, AllowWebSocket: a.allowSocket, Observe: a.metrics.Operation, Done: ctx.Done()})
	if err != nil {
		return nil, err
	}
	api.HandleFunc("/graphql", func(w http.ResponseWriter, r *http.Request) {
		telemetry.SetRoute(r.Context(), "/graphql")
		queries.ServeHTTP(w, r)
	})
	api.Handle("/", restHandler)
	api.Handle("/api/", http.StripPrefix("/api", restHandler)) // some old clients use this path

	webPages, err := a.webpages(g)
	if err != nil {
		return nil, err
	}
	// Not compressed here: it compresses its responses itself.
	found := webpage.Handler(webPages)
	web := a.limited(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if clean(r.URL.Path) && webPages.Serves(r) {
			found.ServeHTTP(w, r)
			return
		}
		webPages.NotFound(w, r)
	}), refusePage(webPages))

	calls := http.NewServeMux()
	calls.Handle("/", compressed(api))
	// Not compressed: the length of a compressed page that contains both a secret and text from the
	// URL would reveal the secret (BREACH attack).
	signIn := a.signIn(addresses.Key, webPages)
	for _, pattern := range signin.Patterns {
		calls.Handle(pattern, signIn)
	}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", telemetry.Healthz)
	mux.HandleFunc("GET /readyz", telemetry.Readyz(a.ready))
	mux.HandleFunc("GET /metrics", a.mainMetrics)
	mux.Handle("GET /blobs/{file_id}/{name}", bytes)
	derived := a.renditions(bytes)
	mux.Handle("GET /renders/{file_id}/{tag}/{name}", derived)
	mux.Handle("GET /glb/{file_id}/{tag}/{name}", derived)
	mux.Handle("GET /threejs/{file_id}/{tag}/{name}", derived)
	mux.Handle("GET /view/", compressed(a.viewer(addresses, webPages)))
	mux.Handle("GET "+gallery.Prefix, gallery.Handler()) // serves compressed files itself
	mux.HandleFunc(webpage.LogoPattern, webPages.Site.ServeLogo)
	mux.Handle("GET /renders/default/{name}", placeholder.Handler(func(w http.ResponseWriter) { missing(w) }))
	if !a.Settings.Hardened {
		explorer := compressed(graphiql.Handler(graphiql.Options{Username: a.usernameOf}))
		for _, pattern := range []string{"/graphiql", "/graphiql/{$}", "/graphiql/examples.json", "/graphiql/assets/"} {
			mux.Handle(pattern, explorer)
		}
		mux.Handle("GET /schema.graphql", a.document("text/plain; charset=utf-8", func() ([]byte, error) { return []byte(g.SDL()), nil }))
	}
	for _, pattern := range []string{"GET /developers", "GET /reference", "GET /reference/{$}", "GET /reference/assets/", "GET /migration"} {
		mux.Handle(pattern, pages)
	}
	mux.Handle("GET /openapi.json", a.document("application/json; charset=utf-8", func() ([]byte, error) { return rest.OpenAPI(g, a.Settings.BaseURL) }))
	mux.Handle("/", a.limited(calls, refuseCall(webPages)))

	// isUnknown reports whether nothing is served at a path. The REST API serves its documented paths
	// and all paths below /api/.
	isUnknown := func(r *http.Request) bool {
		for _, m := range []*http.ServeMux{mux, calls, api} {
			if _, pattern := m.Handler(r); pattern != "/" {
				return false
			}
		}
		return !rest.IsPath(r.URL)
	}

	root := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, blobs.DownloadPrefix):
			bytes.ServeHTTP(w, r)
		case !clean(r.URL.Path) && !isSearch(r.URL):
			if webpage.IsVisit(r) {
				web.ServeHTTP(w, r)
				return
			}
			missing(w)
		case webPages.Serves(r) || webpage.IsVisit(r) && isUnknown(r):
			web.ServeHTTP(w, r)
		default:
			mux.ServeHTTP(w, r)
			if r.Pattern != "/" { // else the REST API sets the route
				telemetry.SetRoute(r.Context(), r.Pattern)
			}
		}
	})
	return a.Settings.TrustedProxies.Resolve(telemetry.Requests(httptimeout.Handler(crossOrigin(draining.Handler(root, a.draining), a.Settings.CORSOrigins), httptimeout.IdleTimeout), a.Logger, a.metrics.Request, a.tracer)), nil
}

// clean reports whether the mux accepts a path as it is. The mux redirects other paths, and clients
// repeat a redirected POST as a GET.
func clean(p string) bool {
	return p == path.Clean(p) || p == path.Clean(p)+"/"
}

// isSearch reports whether u is a search of the REST API. The last segment of its path is the
// search text, which may be a URL with escaped slashes.
func isSearch(u *url.URL) bool {
	return strings.HasPrefix(strings.TrimPrefix(u.Path, "/api"), "/search/") && clean(u.EscapedPath())
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

// limited authenticates requests and limits their rate: by the user or application of the token, or
// by the network if there is no valid token. refuse responds to requests above the limit.
func (a *Server) limited(next http.Handler, refuse func(w http.ResponseWriter, r *http.Request, e *models.Error)) http.Handler {
	limiter := ratelimit.New(a.Settings.RateLimit)
	next = limiter.Limit(next, clientip.Account, func(w http.ResponseWriter, r *http.Request, wait time.Duration) {
		message := fmt.Sprintf("more than %d requests in 5 minutes: wait %s", a.Settings.RateLimit, wait)
		refuse(w, r, &models.Error{Code: models.RateLimited, Message: message, Limit: int64(a.Settings.RateLimit), RetryAfter: wait})
	})
	return clientip.WithNetwork(a.authenticated(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _ := auth.From(r.Context())
		telemetry.SetCaller(r.Context(), caller.UserID, caller.TokenID)
		// Release the database slots of statements that panicked.
		ctx, end := database.WithSlots(r.Context())
		defer end()
		next.ServeHTTP(w, r.WithContext(ctx))
	})))
}

// refusePage returns a function that responds to a page request above the rate limit: with an error
// page, or in JSON if the request has a token.
func refusePage(webPages webpage.Options) func(w http.ResponseWriter, r *http.Request, e *models.Error) {
	return func(w http.ResponseWriter, r *http.Request, e *models.Error) {
		if webpage.HasToken(r) {
			rest.WriteError(w, http.StatusTooManyRequests, e.Message)
			return
		}
		webPages.Refuse(w, r, webpage.Problem{Status: http.StatusTooManyRequests, Message: sentence(e.Message)})
	}
}

// refuseCall returns a function that responds to other requests above the rate limit: in the format
// of the API, or with an error page for a sign-in page.
func refuseCall(webPages webpage.Options) func(w http.ResponseWriter, r *http.Request, e *models.Error) {
	page := refusePage(webPages)
	return func(w http.ResponseWriter, r *http.Request, e *models.Error) {
		switch {
		case r.URL.Path == "/graphql":
			graphqlhttp.WriteError(w, r, http.StatusTooManyRequests, e)
		case signin.IsPage(r.URL.Path):
			page(w, r, e)
		default:
			rest.WriteError(w, http.StatusTooManyRequests, e.Message)
		}
	}
}

// allowSocket reports whether a page of the request's origin may open a WebSocket: if CORS allows
// the origin, or if it is a page of this server. Browsers send no preflight request for WebSockets.
func (a *Server) allowSocket(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || a.Settings.CORSOrigins.Allow(origin) {
		return true // not sent by a page, or allowed
	}
	return a.ownOrigin(r, origin)
}

// ownOrigin reports whether an origin is that of this server: its base URL, or the host name of the
// request.
func (a *Server) ownOrigin(r *http.Request, origin string) bool {
	base, err := url.Parse(a.Settings.BaseURL)
	from, fromErr := url.Parse(origin)
	return err == nil && fromErr == nil && (strings.EqualFold(from.Host, r.Host) || from.Scheme == base.Scheme && strings.EqualFold(from.Host, base.Host))
}

// costOfRequest is the GraphQL cost that the rate limit allows per request on average.
const costOfRequest = 10_000

// budget returns a function that charges the cost of a GraphQL operation to the budget of its
// caller and returns what is left of it. It returns nil if there is no rate limit.
func (a *Server) budget() func(r *http.Request, cost int) graphqlhttp.Budget {
	if a.Settings.RateLimit == 0 {
		return nil
	}
	limit := a.Settings.RateLimit * costOfRequest
	limiter := ratelimit.New(limit)
	return func(r *http.Request, cost int) graphqlhttp.Budget {
		left, wait := limiter.Spend(clientip.Account(r), cost)
		if left >= 0 {
			return graphqlhttp.Budget{Remaining: left}
		}
		return graphqlhttp.Budget{Wait: wait, Exceeded: &models.Error{
			Code: models.RateLimited, Limit: int64(limit), RetryAfter: wait, Message: fmt.Sprintf("the operation costs %d, and %d of %d are left in the current 5 minutes: wait %s", cost, left+cost, limit, wait),
		}}
	}
}

// budgetOfREST charges REST operations to the same budget, but at most costOfRequest each. So a
// client within the rate limit never exceeds the budget by REST, where pages contain complete
// things.
func (a *Server) budgetOfREST(charge func(r *http.Request, cost int) graphqlhttp.Budget) func(r *http.Request, cost int) graphqlhttp.Budget {
	if charge == nil {
		return nil
	}
	return func(r *http.Request, cost int) graphqlhttp.Budget { return charge(r, min(cost, costOfRequest)) }
}

func (a *Server) blobs(addresses urls.Builder) blobs.Handler {
	h := blobs.Handler{
		Find: func(r *http.Request, id int64, by blobs.Address) (blobs.Blob, error) {
			f, key, err := a.Store.Blob(r.Context(), id, signatureOf(by))
			if err != nil {
				return blobs.Blob{}, explainInvalidSignature(err, by)
			}
			return blobs.Blob{Key: key, Name: f.Name, ContentType: f.ContentType, ETag: f.SHA256}, nil
		},
		Signed:  addresses.Verified,
		Serve:   blobs.Serve(a.bucket),
		Fail:    rest.WriteFailure,
		Status:  func(w http.ResponseWriter, status int, message string) { rest.WriteError(w, status, message) },
		Missing: missing,
	}
	if !a.Settings.AnonymousRead {
		h.Permit = func(r *http.Request, by blobs.Address) error { return explainInvalidSignature(a.mayRead(r), by) }
	}
	return h
}

// signatureOf returns what a kind of URL permits.
func signatureOf(by blobs.Address) models.Signature {
	switch by {
	case blobs.Signed:
		return models.Signed
	case blobs.SignedTakenDown:
		return models.SignedTakenDown
	}
	return models.Unsigned
}

// explainInvalidSignature returns err, or a more specific message if the request used a signed URL
// that is no longer valid.
func explainInvalidSignature(err error, by blobs.Address) error {
	if code := models.CodeOf(err); by == blobs.Stale && (code == models.Forbidden || code == models.Unauthenticated) {
		return &models.Error{Code: models.Forbidden, Message: "the URL has expired or its signature is invalid"}
	}
	return err
}

func missing(w http.ResponseWriter) {
	rest.WriteError(w, http.StatusNotFound, "this path does not exist")
}

// compressed compresses the text responses of next. It is not used for file contents, which are
// usually compressed already or requested in ranges.
func compressed(next http.Handler) http.Handler { return gzhttp.GzipHandler(next) }

// crossOrigin lets pages of the allowed origins call the API with a token. It does not allow
// credentials: browsers send no cookies with these requests, so a session never counts, and they
// reject requests with cookies in the preflight.
func crossOrigin(next http.Handler, origins config.Origins) http.Handler {
	if origins.None() {
		return next
	}
	options := cors.Options{
		AllowedOrigins: []string{"*"},
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowedHeaders: []string{"*"},
		ExposedHeaders: []string{"Deprecation", "ETag", "Link", "Location", "RateLimit", "RateLimit-Policy", "Retry-After", "Sunset", "Total-Count", "X-Error", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"},
		MaxAge:         600,
	}
	if !origins.All() {
		// AllowedOrigins would be converted to lower case.
		options.AllowOriginFunc = origins.Allow
	}
	return cors.New(options).Handler(next)
}
