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

// Handler is all that the server answers. Subscriptions end with ctx.
func (a *Server) Handler(ctx context.Context) (http.Handler, error) {
	key, err := a.Store.Secret(ctx, "signing")
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	addresses := urls.Builder{Base: a.Settings.BaseURL, Key: signing.Key(key)}
	g := graph.New(&graph.Resolver{Store: a.Store, URLs: addresses, AnonymousRead: a.Settings.AnonymousRead})
	charge := a.budget()
	face, err := rest.Handler(rest.Options{
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
	api.Handle("/", face)
	api.Handle("/api/", http.StripPrefix("/api", face)) // where some old programs look for it

	people, err := a.webpages(g)
	if err != nil {
		return nil, err
	}
	web := a.limited(webpage.Handler(people), refusePage(people)) // it compresses itself

	calls := http.NewServeMux()
	calls.Handle("/", compressed(api))
	// not compressed: the length of a page that holds secrets beside what a link says would tell of
	// them
	signIn := a.signIn(addresses.Key, people.IsPage)
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
	mux.Handle("GET /view/", compressed(a.viewer(addresses)))
	mux.Handle("GET "+gallery.Prefix, gallery.Handler()) // compresses by itself
	mux.HandleFunc(webpage.LogoPattern, people.Site.ServeLogo)
	mux.Handle("GET /renders/default/{name}", placeholder.Handler(func(w http.ResponseWriter) { missing(w) }))
	if !a.Settings.Hardened {
		mux.Handle("/graphiql", compressed(graphiql.Handler(graphiql.Options{Username: a.usernameOf})))
		mux.Handle("/graphiql/", compressed(graphiql.Handler(graphiql.Options{Username: a.usernameOf})))
		mux.Handle("GET /schema.graphql", a.document("text/plain; charset=utf-8", func() ([]byte, error) { return []byte(g.SDL()), nil }))
	}
	for _, pattern := range []string{"GET /developers", "GET /reference", "GET /reference/", "GET /migration"} {
		mux.Handle(pattern, pages)
	}
	mux.Handle("GET /openapi.json", a.document("application/json; charset=utf-8", func() ([]byte, error) { return rest.OpenAPI(g, a.Settings.BaseURL) }))
	mux.Handle("/", a.limited(calls, refuseCall(people)))

	root := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, blobs.DownloadPrefix):
			bytes.ServeHTTP(w, r)
		case !clean(r.URL.Path) && !isSearch(r.URL):
			missing(w)
		case people.Serves(r):
			web.ServeHTTP(w, r)
		default:
			mux.ServeHTTP(w, r)
			if r.Pattern != "/" { // else the REST API names its routes itself
				telemetry.SetRoute(r.Context(), r.Pattern)
			}
		}
	})
	return a.Settings.TrustedProxies.Resolve(telemetry.Requests(httptimeout.Handler(crossOrigin(draining.Handler(root, a.draining), a.Settings.CORSOrigins), httptimeout.IdleTimeout), a.Logger, a.metrics.Request, a.tracer)), nil
}

// clean reports whether a path is one that the mux takes as it is. Others it redirects, and a
// redirect turns a POST into a GET.
func clean(p string) bool {
	return p == path.Clean(p) || p == path.Clean(p)+"/"
}

// isSearch reports whether the path is one of a search, whose last segment may hold a URL.
func isSearch(u *url.URL) bool {
	return strings.HasPrefix(strings.TrimPrefix(u.Path, "/api"), "/search/") && clean(u.EscapedPath())
}

// document serves a text that does not change while the server runs. It is generated by the first
// request, because most servers are never asked for it.
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

// limited finds out who calls and bounds how often: by token and, without a good one, by address.
// refuse responds to requests above the limit.
func (a *Server) limited(next http.Handler, refuse func(w http.ResponseWriter, r *http.Request, e *models.Error)) http.Handler {
	limiter := ratelimit.New(a.Settings.RateLimit)
	next = limiter.Limit(next, clientip.Account, func(w http.ResponseWriter, r *http.Request, wait time.Duration) {
		message := fmt.Sprintf("more than %d requests in 5 minutes: wait %s", a.Settings.RateLimit, wait)
		refuse(w, r, &models.Error{Code: models.RateLimited, Message: message, Limit: int64(a.Settings.RateLimit), RetryAfter: wait})
	})
	return clientip.WithNetwork(a.authenticated(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _ := auth.From(r.Context())
		telemetry.SetCaller(r.Context(), caller.UserID, caller.TokenID)
		// Statements of the request that panic give back their database slots at its end.
		ctx, end := database.WithSlots(r.Context())
		defer end()
		next.ServeHTTP(w, r.WithContext(ctx))
	})))
}

// refusePage responds to a request for a page: with a page, unless a program sent it.
func refusePage(people webpage.Options) func(w http.ResponseWriter, r *http.Request, e *models.Error) {
	return func(w http.ResponseWriter, r *http.Request, e *models.Error) {
		if webpage.HasToken(r) {
			rest.WriteError(w, http.StatusTooManyRequests, e.Message)
			return
		}
		people.Refuse(w, r, webpage.Problem{Status: http.StatusTooManyRequests, Message: sentence(e.Message)})
	}
}

// refuseCall responds to a call of an API, or to a request for one of the pages to sign in.
func refuseCall(people webpage.Options) func(w http.ResponseWriter, r *http.Request, e *models.Error) {
	page := refusePage(people)
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

// allowSocket reports whether the page that asks for a WebSocket may have one, which browsers ask
// no preflight for: one that may call, or one of this server.
func (a *Server) allowSocket(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || a.Settings.CORSOrigins.Allow(origin) {
		return true // no page, or a good one
	}
	return a.ownOrigin(r, origin)
}

// ownOrigin reports whether the pages of an origin are those of this server: under its base URL, or
// under the host name of the request.
func (a *Server) ownOrigin(r *http.Request, origin string) bool {
	base, err := url.Parse(a.Settings.BaseURL)
	from, fromErr := url.Parse(origin)
	return err == nil && fromErr == nil && (strings.EqualFold(from.Host, r.Host) || from.Scheme == base.Scheme && strings.EqualFold(from.Host, base.Host))
}

// costOfRequest is the cost of GraphQL that the limit of requests allows for each of them, in the
// mean.
const costOfRequest = 10_000

// budget bounds what the operations of one caller cost together, as the limit of requests bounds
// how many they are.
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
			Code: models.RateLimited, Limit: int64(limit), RetryAfter: wait, Message: fmt.Sprintf("the operation costs %d, of %d in 5 minutes %d are left: wait %s", cost, limit, left+cost, wait),
		}}
	}
}

// budgetOfREST charges REST operations from the same budget, but none more than the budget grows by
// with each request: a client within the rate limit never meets the limit of costs by REST, whose
// pages hold whole things.
func (a *Server) budgetOfREST(charge func(r *http.Request, cost int) graphqlhttp.Budget) func(r *http.Request, cost int) graphqlhttp.Budget {
	if charge == nil {
		return nil
	}
	return func(r *http.Request, cost int) graphqlhttp.Budget { return charge(r, min(cost, costOfRequest)) }
}

func (a *Server) blobs(addresses urls.Builder) blobs.Handler {
	return blobs.Handler{
		Find: func(r *http.Request, id int64, by blobs.Address) (blobs.Blob, error) {
			f, key, err := a.Store.Blob(r.Context(), id, by == blobs.Signed)
			if err != nil {
				return blobs.Blob{}, refused(err, by)
			}
			return blobs.Blob{Key: key, Name: f.Name, ContentType: f.ContentType, ETag: f.SHA256}, nil
		},
		Signed:  addresses.Verified,
		Serve:   blobs.Serve(a.bucket),
		Fail:    rest.WriteFailure,
		Status:  func(w http.ResponseWriter, status int, message string) { rest.WriteError(w, status, message) },
		Missing: missing,
	}
}

// refused says of an address that was once good that it is so no more.
func refused(err error, by blobs.Address) error {
	if by == blobs.Stale && models.CodeOf(err) == models.Forbidden {
		return &models.Error{Code: models.Forbidden, Message: "the address has expired, or is not as it was handed out"}
	}
	return err
}

func missing(w http.ResponseWriter) {
	rest.WriteError(w, http.StatusNotFound, "there is nothing at this path")
}

// compressed compresses what is text. Bytes of files do not pass here: they are compressed by
// nature, or asked for in ranges.
func compressed(next http.Handler) http.Handler { return gzhttp.GzipHandler(next) }

// crossOrigin lets pages of the origins call with a token. It allows no credentials, so browsers
// neither send cookies along nor let such a page send the header that makes a session count.
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
		options.AllowOriginFunc = origins.Allow // a list of theirs would be compared in small letters
	}
	return cors.New(options).Handler(next)
}
