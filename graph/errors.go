package graph

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

	"github.com/meshyard/meshyard/models"
)

// Codes is the one table from kinds of failure to what both faces say, the gravest first. Its Status is what the REST face answers.
var Codes = []struct {
	Code   models.Code
	Status int
}{
	{models.Internal, http.StatusInternalServerError},
	{models.RateLimited, http.StatusTooManyRequests},
	{models.Unauthenticated, http.StatusUnauthorized},
	{models.Forbidden, http.StatusForbidden},
	{models.NotFound, http.StatusNotFound},
	{models.TooLarge, http.StatusBadRequest}, // the old interface knows neither 409 nor 413
	{models.Conflict, http.StatusBadRequest},
	{models.BadInput, http.StatusBadRequest},
}

// statusOf gives the status of an error.
func statusOf(err error) int {
	for _, row := range Codes {
		if row.Code == models.CodeOf(err) {
			return row.Status
		}
	}
	return http.StatusInternalServerError
}

// internalMessage is all that is said of a failure of our own.
const internalMessage = "something went wrong on the server; it has been logged"

// PresentError turns an error into the one that clients see: with extensions.code always, and field, limit, retryAfter (seconds) and reasons where they apply.
// What has no code is ours: it is logged whole and shown as one fixed sentence.
func PresentError(ctx context.Context, err error) *gqlerror.Error {
	shown := graphql.DefaultErrorPresenter(ctx, err)
	if len(shown.Path) > 1 && shown.Path[0] == ast.PathName("variable") {
		field := inputName(shown.Path[1:])
		shown.Path = nil
		return withCode(shown, &models.Error{Code: models.BadInput, Message: field + ": " + shown.Message, Field: field})
	}
	if field, ok := argument(ctx, shown); ok {
		bad := &models.Error{Code: models.BadInput, Message: shown.Message, Field: field}
		shown.Path = graphql.GetFieldContext(ctx).Path()
		return withCode(shown, bad)
	}
	var known *models.Error
	switch {
	case errors.As(err, &known):
		return withCode(shown, known)
	case errors.Is(err, context.DeadlineExceeded) && context.Cause(ctx) == error(errTookLong):
		return withCode(shown, errTookLong)
	case errors.Is(err, context.Canceled):
		return withCode(shown, &models.Error{Code: models.BadInput, Message: "the client went away"})
	case len(shown.Path) > 0 && (shown.Path[0] == ast.PathName("__schema") || shown.Path[0] == ast.PathName("__type")):
		return withCode(shown, &models.Error{Code: models.Forbidden, Message: "introspection is closed on this server"})
	case shown.Extensions["code"] != nil || shown.Rule != "": // the document or its variables, before any resolver ran
		return withCode(shown, &models.Error{Code: models.BadInput, Message: shown.Message})
	}
	slog.ErrorContext(ctx, "internal error", "error", err.Error(), "path", shown.Path.String())
	return withCode(shown, &models.Error{Code: models.Internal, Message: internalMessage})
}

// argument tells the input at fault where an argument does not fit its type. The generated code says so by a path that goes on
// beyond the field, into its arguments.
func argument(ctx context.Context, e *gqlerror.Error) (field string, ok bool) {
	fc := graphql.GetFieldContext(ctx)
	if fc == nil || len(e.Path) <= len(fc.Path()) {
		return "", false
	}
	return inputName(e.Path[len(fc.Path()):]), true
}

// inputName names an input as clients know it, without the input object that every mutation has around it.
func inputName(path ast.Path) string {
	if len(path) > 1 && path[0] == ast.PathName("input") {
		path = path[1:]
	}
	return path.String()
}

func withCode(shown *gqlerror.Error, e *models.Error) *gqlerror.Error {
	out := *shown
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

// Recover turns a panic of a resolver into an internal error, logged with its stack.
func Recover(ctx context.Context, cause any) error {
	slog.ErrorContext(ctx, "panic in a resolver", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
	return &models.Error{Code: models.Internal, Message: internalMessage}
}
