package server

import (
	"fmt"
	"net/http"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/internal/ratelimit"
	"github.com/meshyard/meshyard/internal/telemetry"
	"github.com/meshyard/meshyard/internal/web/signin"
	"github.com/meshyard/meshyard/internal/web/webpage"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/rest"
)

// limited authenticates requests and limits their rate: by the user or application of the token, or
// by the network if there is no valid token. refuse responds to requests above the limit. accepts
// returns false and responds if the server does not support another request; it may be nil.
func (a *Server) limited(next http.Handler, refuse func(w http.ResponseWriter, r *http.Request, e *models.Error),
	accepts func(w http.ResponseWriter, r *http.Request) bool,
) http.Handler {
	limit := a.Settings.RateLimit
	limiter := ratelimit.New(limit)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := a.withCaller(auth.WithNetwork(r.Context(), clientip.Network(r)), r)
		caller, _ := auth.From(ctx)
		telemetry.SetCaller(ctx, caller.UserID, caller.TokenID)
		// Release the database slots of statements that panicked.
		ctx, end := database.WithSlots(ctx)
		defer end()
		r = r.WithContext(ctx)
		if wait, ok := limiter.Admit(w.Header(), clientip.Account(r)); !ok {
			message := fmt.Sprintf("more than %d requests in 5 minutes: wait %s", limit, wait)
			refuse(w, r, &models.Error{Code: models.RateLimited, Message: message, Limit: int64(limit), RetryAfter: wait})
			return
		}
		if accepts == nil || accepts(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

// refusePage returns a function that responds to a page request above the rate limit: with an error
// page, or in JSON if the request has a token.
func refusePage(webPages webpage.Options) func(w http.ResponseWriter, r *http.Request, e *models.Error) {
	return func(w http.ResponseWriter, r *http.Request, e *models.Error) {
		if webpage.HasToken(r) {
			rest.WriteError(w, http.StatusTooManyRequests, e.Message)
			return
		}
		webPages.Refuse(w, r, http.StatusTooManyRequests, e)
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
