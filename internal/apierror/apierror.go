// Package apierror defines the errors whose messages may be shown to API clients.
//
// Every package that can refuse a request returns an *Error. The GraphQL and REST layers turn its
// code into extensions.code and an HTTP status. Any other error is internal: it is logged, and
// clients see one fixed sentence.
package apierror

import (
	"errors"
	"fmt"
	"time"
)

// Code classifies an Error.
type Code string

// The codes that clients can receive.
const (
	// no token, or one that is unknown, expired or revoked
	Unauthenticated Code = "UNAUTHENTICATED"
	Forbidden       Code = "FORBIDDEN"      // the caller is known but not permitted
	NotFound        Code = "NOT_FOUND"      // missing, deleted, or hidden from the caller
	BadInput        Code = "BAD_USER_INPUT" // the input is invalid; Error.Field names it
	Conflict        Code = "CONFLICT"       // the current state forbids a valid input
	TooLarge        Code = "TOO_LARGE"      // over a limit; Error.Limit holds it
	RateLimited     Code = "RATE_LIMITED"   // too many requests, or too much work at once
	// the database, the storage for files or the OpenID provider is down
	Unavailable         Code = "UNAVAILABLE"
	InsufficientStorage Code = "INSUFFICIENT_STORAGE" // the server has no space left
	Timeout             Code = "TIMEOUT"              // an operation that took too long
	Canceled            Code = "CANCELED"             // the client closed the connection

	// The codes of GraphQL documents that cannot be executed. Apollo's clients know them by name.
	ParseFailed      Code = "GRAPHQL_PARSE_FAILED"      // a syntax error
	ValidationFailed Code = "GRAPHQL_VALIDATION_FAILED" // the document does not fit the schema
	// the hash is unknown: send the text
	PersistedQueryNotFound Code = "PERSISTED_QUERY_NOT_FOUND"
	Internal               Code = "INTERNAL" // a fault of the server; details are in its log
)

// Error is a failure whose Message may be shown to the client that caused it.
type Error struct {
	Code    Code
	Message string
	// Field is the invalid input, by its GraphQL name, such as name or files[1].id. It is "" if no
	// single input is at fault.
	Field string
	Limit int64 // the limit that was exceeded, in the unit that Message names; 0 if none

	// FieldCode says what is wrong with Field. If empty, it is derived from Code.
	FieldCode FieldCode
	// Fields lists several faults. If empty, Field is the only one.
	Fields []FieldError

	// RetryAfter is when the same request may succeed, in whole seconds; 0 if unknown.
	RetryAfter time.Duration
}

// FieldCode says what is wrong with one input.
type FieldCode string

// The field codes that clients can receive.
const (
	FieldRequired   FieldCode = "REQUIRED"     // missing, empty or blank
	FieldTooLong    FieldCode = "TOO_LONG"     // a text with too many characters
	FieldTooMany    FieldCode = "TOO_MANY"     // a list with too many entries, or one object too many
	FieldTooLarge   FieldCode = "TOO_LARGE"    // over a limit in bytes
	FieldOutOfRange FieldCode = "OUT_OF_RANGE" // a number or date beyond its bounds
	FieldDuplicate  FieldCode = "DUPLICATE"    // given twice, or taken by another object
	FieldNotFound   FieldCode = "NOT_FOUND"    // refers to an object that does not exist
	FieldInvalid    FieldCode = "INVALID"      // anything else

	// a thing without a description cannot be published
	FieldDescriptionRequired FieldCode = "DESCRIPTION_REQUIRED"
	// a thing without a model file cannot be published
	FieldModelRequired FieldCode = "MODEL_REQUIRED"
	// FieldLicenseRequired means that a thing cannot be published while its license is unknown.
	FieldLicenseRequired FieldCode = "LICENSE_REQUIRED"
)

// FieldError is one fault of an input.
type FieldError struct {
	Path    []any     `json:"path"` // keys and indices from the arguments of the field
	Code    FieldCode `json:"code"`
	Message string    `json:"message"`
	Limit   int64     `json:"limit,omitempty"`
}

// WithFieldCode sets FieldCode and returns e.
func (e *Error) WithFieldCode(code FieldCode) *Error {
	e.FieldCode = code
	return e
}

// Faults returns the errors about single inputs that err is or joins, in order.
func Faults(err error) []*Error {
	switch joined := err.(type) { //nolint:errorlint // it unwraps by itself, to find all
	case *Error:
		if joined.Field == "" {
			return nil
		}
		return []*Error{joined}
	case interface{ Unwrap() []error }:
		var all []*Error
		for _, part := range joined.Unwrap() {
			all = append(all, Faults(part)...)
		}
		return all
	case interface{ Unwrap() error }:
		return Faults(joined.Unwrap())
	}
	return nil
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// New returns an Error with a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns a BadInput error for the named input, which is "" if no single input is at fault.
func Invalid(field, format string, args ...any) *Error {
	e := New(BadInput, format, args...)
	e.Field = field
	return e
}

// Or returns the Error that err is or wraps, or else the given one: a reader of a body may fail for
// a reason of its own.
func Or(err error, otherwise error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return otherwise
}

// CodeOf returns the code of the Error that err is or wraps, and Internal for any other error.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}
