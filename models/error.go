package models

import (
	"errors"
	"fmt"
	"time"
)

// Code says what kind of failure an Error is. The faces turn it into their own terms.
type Code string

// The whole vocabulary: an error with none of these codes is internal.
const (
	Unauthenticated Code = "UNAUTHENTICATED" // nobody, or a token that is unknown, expired or revoked
	Forbidden       Code = "FORBIDDEN"       // known, but may not
	NotFound        Code = "NOT_FOUND"       // missing, deleted, or nobody's business
	BadInput        Code = "BAD_USER_INPUT"  // the input cannot be taken as it is; Field names it
	Conflict        Code = "CONFLICT"        // well formed, but the state of things stands against it
	TooLarge        Code = "TOO_LARGE"       // over a limit; Limit holds it
	RateLimited     Code = "RATE_LIMITED"    // too many requests
	Internal        Code = "INTERNAL"        // our fault; its text stays in the log
)

// Error is a failure whose Message may be shown to whoever caused it.
type Error struct {
	Code    Code
	Message string
	Field   string   // the input at fault, in the names of the GraphQL schema; "" where none is
	Limit   int64    // the limit that was passed, in the unit of Message; 0 where none is
	Reasons []string // every reason, where there may be several at once

	RetryAfter time.Duration // when the same may be taken, in whole seconds; 0: that cannot be told
}

func (e *Error) Error() string { return e.Message }

func fail(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func missing(noun string, id int64) *Error {
	return fail(NotFound, "%s %d does not exist", noun, id)
}

func badInput(field, format string, args ...any) *Error {
	e := fail(BadInput, format, args...)
	e.Field = field
	return e
}

// CodeOf gives the code of the Error that err is or wraps, Internal for any other.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}
