//go:build !pgbouncer

package pgtest

import "testing"

// clientAddress returns the URL of a database for a test.
func (s *session) clientAddress(database string) (string, error) { return s.addressOf(database), nil }

// Direct returns the URL of a database without PgBouncer. With the build tag pgbouncer, the URLs of
// the other functions lead to PgBouncer.
func Direct(_ testing.TB, address string) string { return address }
