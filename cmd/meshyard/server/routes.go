package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/meshyard/meshyard/cmd/meshyard/server/tus"
	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/httpserver/httptimeout"
	"github.com/meshyard/meshyard/internal/image/thumbnail/placeholder"
	"github.com/meshyard/meshyard/internal/slicerlink"
	"github.com/meshyard/meshyard/internal/telemetry"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/internal/urls/signing"
	"github.com/meshyard/meshyard/internal/web/gallery"
	"github.com/meshyard/meshyard/internal/web/graphiql"
	"github.com/meshyard/meshyard/internal/web/webpage"
)

// route is a row of the table of routes.
type route struct {
	pattern string // as in http.ServeMux
	handler http.Handler
	limits  limits  // nil: the handler counts nothing, and checks the caller itself if it has to
	refusal refusal // the response to a request beyond the limits
}

// routes returns the table of all routes except the pages of the gallery and the downloads, whose
// paths no pattern matches; see dispatcher. The most specific pattern applies, in whatever order.
// Requests of browsers with a session pass visits, all other requests that are counted pass calls.
func (a *Server) routes(h handlers, calls, visits limits) []route {
	table := []route{
		{"/graphql", h.graphql, calls, asGraphQL},
		{"/", h.rest, calls, asREST},
		{"/api/", http.StripPrefix("/api", h.rest), calls, asREST}, // some old clients use this path
		{tus.Path, h.resumable, calls, asREST},
		{tus.Path + "/", h.resumable, calls, asREST},
		{"/api", compressed(http.HandlerFunc(addSlash)), calls, asREST},

		{"/login", h.signIn, visits, h.asSignIn},
		{"/login/", h.signIn, visits, h.asSignIn},
		{"/signin", h.signIn, visits, h.asSignIn},
		{"/signup", h.signIn, visits, h.asSignIn},
		{"/logout", h.signIn, visits, h.asSignIn},
		{"/.well-known/oauth-authorization-server", h.signIn, calls, h.asSignIn},
		{"GET " + archivePath, h.archives, visits, h.asSignIn},

		{"GET /blobs/{file_id}/{name}", h.bytes, nil, nil},
		{"GET /blobs/open/{token}/{name}", h.opened, nil, nil},
		{"GET /renders/{file_id}/{tag}/{name}", h.renditions, nil, nil},
		{"GET /renders/{file_id}/{tag}/{name}/{filename}", h.renditions, nil, nil},
		{"GET /renders/default/{name}", placeholder.Handler(missing), nil, nil},
		{"GET /glb/{file_id}/{tag}/{name}", h.renditions, nil, nil},
		{"GET /threejs/{file_id}/{tag}/{name}", h.renditions, nil, nil},
		{"GET /view/", h.viewer, nil, nil},

		{"GET " + gallery.Prefix, gallery.Handler(), nil, nil},
		{webpage.LogoPattern, http.HandlerFunc(h.webPages.Site.ServeLogo), nil, nil},
		{"GET /developers", h.developers, nil, nil},
		{"GET /migration", h.developers, nil, nil},
		{"GET /reference", h.developers, nil, nil},
		{"GET /reference/{$}", h.developers, nil, nil},
		{"GET /reference/assets/", h.developers, nil, nil},
		{"GET /openapi.json", h.openAPI, nil, nil},

		{"GET /healthz", http.HandlerFunc(telemetry.Healthz), nil, nil},
		{"GET /readyz", a.readiness(), nil, nil},
		{"GET /metrics", http.HandlerFunc(a.mainMetrics), nil, nil},
	}
	if a.Settings.Hardened {
		return table
	}
	explorer := compressed(graphiql.Handler(graphiql.Options{SignedIn: a.signedIn}))
	return append(table, []route{
		{"/graphiql", explorer, nil, nil},
		{"/graphiql/{$}", explorer, nil, nil},
		{"/graphiql/examples.json", explorer, nil, nil},
		{"/graphiql/assets/", explorer, nil, nil},
		{"GET /schema.graphql", h.schema, nil, nil},
	}...)
}

// middleware returns what each request passes before it is dispatched, outermost first.
func (a *Server) middleware() []func(http.Handler) http.Handler {
	return []func(http.Handler) http.Handler{
		// The address of the client, which the logs and the limits use.
		a.Settings.TrustedProxies.Resolve,
		// The ID of the request, its log line, metrics and trace. It logs panics, too.
		func(next http.Handler) http.Handler {
			return telemetry.Requests(next, a.Logger, a.metrics.Request, a.tracer)
		},
		// Deadlines for each read and write of a client that stalls.
		func(next http.Handler) http.Handler { return httptimeout.Handler(next, httptimeout.IdleTimeout) },
		// CORS: it answers preflight requests, which have no token.
		func(next http.Handler) http.Handler { return crossOrigin(next, a.Settings.CORSOrigins) },
		// The database of a request that changes nothing.
		a.orReplica,
		// The base URL of the request, if the operator has set none.
		a.withOwnBase,
	}
}

// Handler returns the handler of all requests to the server. Subscriptions end with ctx.
func (a *Server) Handler(ctx context.Context) (http.Handler, error) {
	handler, err := a.probes(), error(nil)
	if a.Settings.Roles.Has(config.RoleWeb) {
		handler, err = a.site(ctx)
	}
	for _, wrap := range slices.Backward(a.middleware()) {
		handler = wrap(handler)
	}
	return handler, err
}

// site returns the handler of the APIs, the files and the pages.
func (a *Server) site(ctx context.Context) (http.Handler, error) {
	key, err := a.Store.Secret(ctx, "signing")
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	addresses := urls.Builder{Base: a.Settings.BaseURL, Key: signing.Key(key)}
	g := graph.New(&graph.Resolver{Store: a.Store, URLs: addresses, AnonymousRead: a.Settings.AnonymousRead,
		Programs: slicerlink.With(a.Settings.OpenIn)})
	h, err := a.handlers(ctx, g, addresses)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	calls := a.limiters.New("calls", a.Settings.RateLimit)
	for _, r := range a.routes(h, a.limits(calls, accountOfCall, uncompressed),
		a.limits(calls, a.accountOfPage, uncompressed)) {
		if r.limits != nil {
			r.handler = r.limits(r.handler, r.refusal)
		}
		mux.Handle(r.pattern, r.handler)
	}
	page := a.limits(a.limiters.New("pages", a.Settings.RateLimit), a.accountOfPage, nil)
	return &dispatcher{
		routes: mux, webPages: h.webPages, addresses: addresses, draining: a.draining, downloads: h.bytes,
		pages: page(h.pages, h.asPage), downloadHeaders: page(h.bytes, h.asPage),
		notFound: page(http.HandlerFunc(h.webPages.NotFound), h.asPage),
	}, nil
}

// addSlash redirects to the same path with a slash at its end, as http.ServeMux does.
func addSlash(w http.ResponseWriter, r *http.Request) {
	to := url.URL{Path: r.URL.Path + "/", RawQuery: r.URL.RawQuery}
	http.Redirect(w, r, to.String(), http.StatusTemporaryRedirect)
}
