package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/meshyard/meshyard/cmd/meshyard/server/tus"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/bearer"
	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/internal/httpserver/contentdigest"
	"github.com/meshyard/meshyard/internal/ratelimit"
	"github.com/meshyard/meshyard/internal/telemetry"
	"github.com/meshyard/meshyard/internal/web/signin"
	"github.com/meshyard/meshyard/internal/web/webpage"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/rest"
)

// limits authenticates the requests to a handler and limits their rate. refuse responds to those
// that are not allowed.
type limits func(next http.Handler, refuse refusal) http.Handler

// limits returns limits that count in limiter, for each account that accountOf returns with the
// request to serve. check returns an error for a request that the server does not support; it may
// be nil.
func (a *Server) limits(
	limiter *ratelimit.Limiter,
	accountOf func(r *http.Request) (string, *http.Request),
	check func(w http.ResponseWriter, r *http.Request) *models.Error,
) limits {
	limit := a.Settings.RateLimit
	return func(next http.Handler, refuse refusal) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := a.withCaller(auth.WithNetwork(r.Context(), clientip.Network(r)), r)
			caller, _ := auth.From(ctx)
			telemetry.SetCaller(ctx, caller.UserID, caller.TokenID)
			// Release the database slots of statements that panicked.
			ctx, end := database.WithSlots(ctx)
			defer end()
			r = r.WithContext(ctx)
			if tus.IsPart(r) { // an upload has as many as its connection needs
				next.ServeHTTP(w, r)
				return
			}
			account, r := accountOf(r)
			if wait, ok := limiter.Admit(w.Header(), account); !ok {
				message := fmt.Sprintf("more than %d requests in 5 minutes: wait %s", limit, wait)
				e := &models.Error{Code: models.RateLimited, Message: message, Limit: int64(limit), RetryAfter: wait}
				refuse(w, r, http.StatusTooManyRequests, e)
				return
			}
			if !tus.Serves(r) {
				if err := contentdigest.Verify(r); err != nil {
					e, _ := errors.AsType[*models.Error](err)
					refuse(w, r, http.StatusBadRequest, e)
					return
				}
			}
			if check != nil {
				if err := check(w, r); err != nil {
					refuse(w, r, http.StatusUnsupportedMediaType, err)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// accountOfCall returns the user or the application of the token of a request, or its network if
// there is no valid token.
func accountOfCall(r *http.Request) (string, *http.Request) { return clientip.Account(r), r }

// accountOfPage is accountOfCall for pages, where the user can also be that of the session cookie.
// The request that it returns contains the session, so that the page does not look it up again. If
// the session cannot be looked up, the network counts.
func (a *Server) accountOfPage(r *http.Request) (string, *http.Request) {
	if a.Settings.RateLimit == 0 || bearer.Token(r) != "" {
		return clientip.Account(r), r
	}
	r = r.WithContext(context.WithValue(r.Context(), sessionKey{}, a.lookUpSession(r)))
	if found := sessionOf(r.Context()); found.ok && found.err == nil {
		return found.who.Account(), r
	}
	return clientip.Account(r), r
}

// refusal responds to a request that limits do not allow, in the format of a route.
type refusal func(w http.ResponseWriter, r *http.Request, status int, e *models.Error)

func asGraphQL(w http.ResponseWriter, r *http.Request, status int, e *models.Error) {
	graphqlhttp.WriteError(w, r, status, e)
}

func asREST(w http.ResponseWriter, _ *http.Request, status int, e *models.Error) {
	rest.WriteError(w, status, e.Message)
}

// asPage responds with an error page, or as the REST API if the request has a token.
func (h handlers) asPage(w http.ResponseWriter, r *http.Request, status int, e *models.Error) {
	if webpage.HasToken(r) {
		asREST(w, r, status, e)
		return
	}
	h.webPages.Refuse(w, r, status, e)
}

// asSignIn responds with an error page at the paths that browsers use, and as the REST API at those
// for programs.
func (h handlers) asSignIn(w http.ResponseWriter, r *http.Request, status int, e *models.Error) {
	if status == http.StatusTooManyRequests && signin.IsPage(r.URL.Path) {
		h.asPage(w, r, status, e)
		return
	}
	asREST(w, r, status, e)
}

// costOfRequest is the GraphQL cost that the rate limit allows per request on average.
const costOfRequest = 10_000

// budget returns a function that charges the cost of a GraphQL operation to the budget of its
// caller and returns what is left of it. It returns nil if there is no rate limit.
func (a *Server) budget() charger {
	if a.Settings.RateLimit == 0 {
		return nil
	}
	limit := a.Settings.RateLimit * costOfRequest
	limiter := a.limiters.New("cost", limit)
	return func(r *http.Request, cost int) graphqlhttp.Budget {
		left, wait := limiter.Spend(clientip.Account(r), cost)
		if left >= 0 {
			return graphqlhttp.Budget{Remaining: left}
		}
		return graphqlhttp.Budget{Exceeded: &models.Error{
			Code: models.RateLimited, Limit: int64(limit), RetryAfter: wait,
			Message: fmt.Sprintf("the operation costs %d, and %d of %d are left in the current 5 minutes: wait %s",
				cost, left+cost, limit, wait),
		}}
	}
}

// budgetOfREST charges REST operations to the same budget, but at most costOfRequest each. So a
// client within the rate limit never exceeds the budget by REST, where pages contain complete
// things.
func (a *Server) budgetOfREST(charge charger) charger {
	if charge == nil {
		return nil
	}
	return func(r *http.Request, cost int) graphqlhttp.Budget { return charge(r, min(cost, costOfRequest)) }
}
