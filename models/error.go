package models

import (
	"errors"

	"github.com/meshyard/meshyard/internal/apierror"
)

// Code classifies an Error.
type Code = apierror.Code

// Error is a failure whose message may be shown to the client.
type Error = apierror.Error

// The codes that rules in this package return.
const (
	Unauthenticated = apierror.Unauthenticated
	Forbidden       = apierror.Forbidden
	NotFound        = apierror.NotFound
	BadInput        = apierror.BadInput
	Conflict        = apierror.Conflict
	TooLarge        = apierror.TooLarge
	RateLimited     = apierror.RateLimited
	Internal        = apierror.Internal
)

func Fail(code Code, format string, args ...any) *Error {
	return apierror.New(code, format, args...)
}

func NoSuch(noun string, id int64) *Error {
	return Fail(NotFound, "%s %d does not exist", noun, id)
}

func Invalid(field, format string, args ...any) *Error {
	return apierror.Invalid(field, format, args...)
}

// About returns an error with a code as one about the given input, and any other error unchanged.
func About(input string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	named := *e
	named.Field = input
	return &named
}

// Required returns the error for an input that must not be empty.
func Required(field string) *Error {
	return Invalid(field, "%s: must not be blank", field).WithFieldCode(apierror.FieldRequired)
}

// RequiredList returns the error for a list that must not be empty.
func RequiredList(field string) *Error {
	return Invalid(field, "%s: must have at least one entry", field).WithFieldCode(apierror.FieldRequired)
}

// TooMany returns the error for a list that has n entries and may have at most limit.
func TooMany(field string, n, limit int) *Error {
	e := Invalid(field, "%s: must have at most %d entries (got %d)", field, limit, n).WithFieldCode(apierror.FieldTooMany)
	e.Limit = int64(limit)
	return e
}

// GivenTwice returns the error for a list of IDs that contains one twice.
func GivenTwice(field string, id int64) *Error {
	return Invalid(field, "%s: %d is given twice", field, id).WithFieldCode(apierror.FieldDuplicate)
}

// CodeOf returns the code of the Error that err is or wraps, and Internal for any other error.
func CodeOf(err error) Code { return apierror.CodeOf(err) }
