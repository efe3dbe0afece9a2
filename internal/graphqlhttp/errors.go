package graphqlhttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/outage"
)

// statuses maps error codes to the HTTP status of a REST answer, the most severe first.
var statuses = []struct {
	code   apierror.Code
	status int
}{
	{apierror.Internal, http.StatusInternalServerError},
	{apierror.InsufficientStorage, http.StatusInsufficientStorage},
	{apierror.Unavailable, http.StatusServiceUnavailable},
	{apierror.Timeout, http.StatusServiceUnavailable},
	{apierror.RateLimited, http.StatusTooManyRequests},
	{apierror.Unauthenticated, http.StatusUnauthorized},
	{apierror.Forbidden, http.StatusForbidden},
	{apierror.NotFound, http.StatusNotFound},
	{apierror.TooLarge, http.StatusBadRequest}, // the legacy interface has neither 409 nor 413
	{apierror.Conflict, http.StatusBadRequest},
	{apierror.BadInput, http.StatusBadRequest},
	{apierror.Canceled, statusClientClosedRequest},
}

// statusClientClosedRequest is logged for a request whose client closed the connection; nobody
// receives it. The number is nginx's.
const statusClientClosedRequest = 499

// internalMessage is what clients see of an internal error.
const internalMessage = "internal server error; the details are in the server's log"

// Status returns the HTTP status for a code.
func Status(code apierror.Code) int {
	for _, row := range statuses {
		if row.code == code {
			return row.status
		}
	}
	return http.StatusInternalServerError
}

// MostSevere returns the most severe of errs, which must come from PresentError, with its HTTP
// status. The executor reports errors in no fixed order. errs must not be empty.
func MostSevere(errs gqlerror.List) (*gqlerror.Error, int) {
	for _, row := range statuses {
		for _, e := range errs {
			if e.Extensions["code"] == string(row.code) {
				return e, row.status
			}
		}
	}
	return &gqlerror.Error{Message: internalMessage}, http.StatusInternalServerError
}

// PresentError returns err as clients see it: extensions.code is always set; field, limit,
// retryAfter (seconds) and reasons are set where they apply. An error without a code is logged and
// replaced by a fixed message.
func PresentError(ctx context.Context, err error) *gqlerror.Error {
	presented := graphql.DefaultErrorPresenter(ctx, err)
	if len(presented.Path) > 1 && presented.Path[0] == ast.PathName("variable") {
		field := inputName(presented.Path[1:])
		presented.Path = nil
		return withCode(presented, &apierror.Error{Code: apierror.BadInput, Message: field + ": " + presented.Message, Field: field})
	}
	if field, ok := argument(ctx, presented); ok {
		bad := &apierror.Error{Code: apierror.BadInput, Message: presented.Message, Field: field}
		presented.Path = graphql.GetFieldContext(ctx).Path()
		return withCode(presented, bad)
	}
	var known *apierror.Error
	switch {
	case errors.As(err, &known):
		return withCode(presented, known)
	case errors.Is(err, context.DeadlineExceeded) && context.Cause(ctx) == error(errTimeout):
		return withCode(presented, errTimeout)
	case errors.Is(err, context.Canceled):
		return withCode(presented, &apierror.Error{Code: apierror.Canceled, Message: "the client closed the connection"})
	case len(presented.Path) > 0 && (presented.Path[0] == ast.PathName("__schema") || presented.Path[0] == ast.PathName("__type")):
		return withCode(presented, &apierror.Error{Code: apierror.Forbidden, Message: "introspection is disabled on this server"})
	// an invalid document or variable
	case presented.Extensions["code"] != nil || presented.Rule != "":
		return withCode(presented, &apierror.Error{Code: apierror.BadInput, Message: presented.Message})
	}
	if found := outage.Of(err); found != nil {
		outage.Log(ctx, found, err)
		return withCode(presented, found)
	}
	slog.ErrorContext(ctx, "internal error", "error", err.Error(), "path", presented.Path.String())
	return withCode(presented, &apierror.Error{Code: apierror.Internal, Message: internalMessage})
}

// argument returns the name of the argument that does not fit its type. The generated code reports
// such an error with a path that continues from the field into its arguments.
func argument(ctx context.Context, e *gqlerror.Error) (field string, ok bool) {
	fc := graphql.GetFieldContext(ctx)
	if fc == nil || len(e.Path) <= len(fc.Path()) {
		return "", false
	}
	return inputName(e.Path[len(fc.Path()):]), true
}

// inputName returns the name of an input without the "input" object that wraps every mutation's.
func inputName(path ast.Path) string {
	if len(path) > 1 && path[0] == ast.PathName("input") {
		path = path[1:]
	}
	return path.String()
}

func withCode(presented *gqlerror.Error, e *apierror.Error) *gqlerror.Error {
	out := *presented
	out.Err = nil
	out.Message = e.Message
	out.Extensions = map[string]any{"code": string(e.Code)}
	if e.Field != "" {
		out.Extensions["field"] = e.Field
	}
	if e.Limit != 0 {
		out.Extensions["limit"] = e.Limit
	}
	if e.RetryAfter > 0 {
		out.Extensions["retryAfter"] = int(e.RetryAfter.Seconds())
	}
	if len(e.Reasons) > 0 {
		out.Extensions["reasons"] = e.Reasons
	}
	return &out
}

// Recover turns a panic of a resolver into an internal error and logs it with its stack.
func Recover(ctx context.Context, cause any) error {
	slog.ErrorContext(ctx, "panic in a resolver", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
	return &apierror.Error{Code: apierror.Internal, Message: internalMessage}
}
