//go:build !unix

package pgtest

import (
	"context"
	"errors"
)

var errNoUnix = errors.New("a private PostgreSQL server needs Unix: set " + Variable +
	" to the postgres:// URL of a role that may create databases")

func startForgetful(context.Context, []string) (address string, stop func(), err error) {
	return "", nil, errNoUnix
}

// StartDurable returns an error.
func StartDurable(context.Context, string) (address string, stop func(), err error) {
	return "", nil, errNoUnix
}
