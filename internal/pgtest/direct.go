//go:build !pgbouncer

package pgtest

// clientAddress returns the URL of a database for a test.
func (s *session) clientAddress(database string) (string, error) { return s.addressOf(database), nil }
