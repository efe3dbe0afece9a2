package graphqlhttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/outage"
)

// statuses maps error codes to the HTTP status of a REST response, the most severe first.
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
	{apierror.ValidationFailed, http.StatusBadRequest},
	{apierror.ParseFailed, http.StatusBadRequest},
	{apierror.PersistedQueryNotFound, http.StatusBadRequest},
	{apierror.Canceled, statusClientClosedRequest},
}

// statusClientClosedRequest is logged for a request whose client closed the connection. It is never
// sent. nginx uses the same number.
const statusClientClosedRequest = 499

// internalMessage is what clients see of an internal error.
const internalMessage = "internal server error; the details are in the server's log"

// statusOf returns the HTTP status for a code.
func statusOf(code apierror.Code) int {
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

// Presenter returns PresentError for operations on a schema. Errors about enum values list the
// allowed ones.
func Presenter(schema *ast.Schema) graphql.ErrorPresenterFunc {
	return func(ctx context.Context, err error) *gqlerror.Error { return presentError(ctx, schema, err) }
}

// PresentError returns err as clients see it: extensions.code is always set; field, limit,
// retryAfter (seconds) and fields (see [apierror.FieldError]) are set where they apply. If err
// joins the faults of several inputs, fields lists them all. An error without a code is logged and
// replaced by a fixed message.
func PresentError(ctx context.Context, err error) *gqlerror.Error {
	return presentError(ctx, &ast.Schema{}, err)
}

func presentError(ctx context.Context, schema *ast.Schema, err error) *gqlerror.Error {
	presented := graphql.DefaultErrorPresenter(ctx, err)
	if len(presented.Path) > 1 && presented.Path[0] == ast.PathName("variable") {
		bad := badValue(argumentOf(ctx, presented.Path[1:]), err, inputMessage(schema, presented.Message))
		presented.Path = nil
		return withCode(ctx, presented, bad)
	}
	if path, ok := argument(ctx, presented); ok {
		bad := badValue(path, err, inputMessage(schema, presented.Message))
		presented.Path = graphql.GetFieldContext(ctx).Path()
		_ = graphql.AddFieldLocationToError(ctx, presented) // it changes presented
		return withCode(ctx, presented, bad)
	}
	var known *apierror.Error
	switch {
	case errors.As(err, &known):
		return withCode(ctx, presented, merged(known, apierror.Faults(err)))
	case errors.Is(err, context.DeadlineExceeded) && context.Cause(ctx) == error(errTimeout):
		return withCode(ctx, presented, errTimeout)
	case errors.Is(err, context.Canceled) && errors.As(context.Cause(ctx), &known):
		return withCode(ctx, presented, known) // another field ended the operation
	case errors.Is(err, context.Canceled):
		return withCode(ctx, presented, &apierror.Error{Code: apierror.Canceled, Message: "the client closed the connection"})
	case len(presented.Path) > 0 && (presented.Path[0] == ast.PathName("__schema") ||
		presented.Path[0] == ast.PathName("__type")):
		return withCode(ctx, presented, &apierror.Error{Code: apierror.Forbidden,
			Message: "introspection is disabled on this server"})
	case presented.Extensions["code"] == errcode.ParseFailed:
		return withCode(ctx, presented, &apierror.Error{Code: apierror.ParseFailed, Message: presented.Message})
	case presented.Rule != "":
		return withCode(ctx, presented, &apierror.Error{Code: apierror.ValidationFailed, Message: presented.Message})
	case presented.Extensions["code"] != nil: // a variable, or no such operation
		return withCode(ctx, presented, &apierror.Error{Code: apierror.BadInput, Message: presented.Message})
	}
	if found := outage.Of(err); found != nil {
		outage.Log(ctx, found, err)
		return withCode(ctx, presented, found)
	}
	slog.ErrorContext(ctx, "internal error", "error", err.Error(), "path", presented.Path.String())
	return withCode(ctx, presented, &apierror.Error{Code: apierror.Internal, Message: internalMessage})
}

// argument returns the path of the argument that does not fit its type. The generated code reports
// such an error with a path that continues from the field into its arguments.
func argument(ctx context.Context, e *gqlerror.Error) (path ast.Path, ok bool) {
	fc := graphql.GetFieldContext(ctx)
	if fc == nil || len(e.Path) <= len(fc.Path()) {
		return nil, false
	}
	return e.Path[len(fc.Path()):], true
}

// wrappers are the arguments that contain other inputs: input, which mutations have, and filter,
// which lists have. extensions.field and messages name an input without them: name, not input.name.
var wrappers = []string{"input", "filter"}

// inputName returns the name of an input without the argument that wraps it.
func inputName(path ast.Path) string {
	if len(path) > 1 && slices.ContainsFunc(wrappers, func(name string) bool { return path[0] == ast.PathName(name) }) {
		path = path[1:]
	}
	return path.String()
}

// merged returns the faults of several inputs as one error, or known if there are fewer than two.
func merged(known *apierror.Error, faults []*apierror.Error) *apierror.Error {
	if len(faults) < 2 {
		return known
	}
	all := *faults[0]
	messages := make([]string, len(faults))
	for i, fault := range faults {
		messages[i] = fault.Message
		all.Fields = append(all.Fields, fieldError(fault))
	}
	all.Message = strings.Join(messages, "; ")
	return &all
}

// fieldError returns an error about one input with a path that is relative to the input object.
// The input has the form of [ast.Path.String], such as files[1].id.
func fieldError(e *apierror.Error) apierror.FieldError {
	code := e.FieldCode
	switch {
	case code != "":
	case e.Code == apierror.TooLarge:
		code = apierror.FieldTooLarge
	case e.Code == apierror.NotFound:
		code = apierror.FieldNotFound
	case e.Code == apierror.Conflict && e.Limit > 0:
		code = apierror.FieldTooMany
	case e.Code == apierror.Conflict:
		code = apierror.FieldDuplicate
	default:
		code = apierror.FieldInvalid
	}
	path := make([]any, 0, 4)
	for key := range strings.FieldsFuncSeq(e.Field, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		if index, err := strconv.Atoi(key); err == nil {
			path = append(path, index)
		} else {
			path = append(path, key)
		}
	}
	return apierror.FieldError{Path: path, Code: code, Message: e.Message, Limit: e.Limit}
}

// fieldErrors returns the faults of an error with paths that begin at the arguments of the field. A
// rule names an input without the argument that wraps it.
func fieldErrors(ctx context.Context, e *apierror.Error) []apierror.FieldError {
	fields := e.Fields
	fc := graphql.GetFieldContext(ctx)
	if fc == nil || fc.Field.Field == nil || fc.Field.Definition == nil {
		return fields // the fault is not in an argument
	}
	if len(fields) == 0 && e.Field != "" {
		fields = []apierror.FieldError{fieldError(e)}
	}
	arguments := fc.Field.Definition.Arguments
	wrapper := slices.IndexFunc(wrappers, func(name string) bool { return arguments.ForName(name) != nil })
	if wrapper < 0 {
		return fields
	}
	whole := make([]apierror.FieldError, len(fields))
	for i, f := range fields {
		if name, _ := f.Path[0].(string); arguments.ForName(name) == nil {
			f.Path = append([]any{wrappers[wrapper]}, f.Path...)
		}
		whole[i] = f
	}
	return whole
}

// pathKeys returns the elements of a path as JSON has them.
func pathKeys(path ast.Path) []any {
	keys := make([]any, len(path))
	for i, element := range path {
		switch element := element.(type) {
		case ast.PathName:
			keys[i] = string(element)
		case ast.PathIndex:
			keys[i] = int(element)
		}
	}
	return keys
}

func withCode(ctx context.Context, presented *gqlerror.Error, e *apierror.Error) *gqlerror.Error {
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
	if fields := fieldErrors(ctx, e); len(fields) > 0 {
		out.Extensions["fields"] = fields
	}
	return &out
}

// Recover turns a panic of a resolver into an internal error and logs it with its stack.
func Recover(ctx context.Context, cause any) error {
	slog.ErrorContext(ctx, "panic in a resolver", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
	return &apierror.Error{Code: apierror.Internal, Message: internalMessage}
}
