package outage

import (
	"context"
	"errors"
	"net"
)

// connectionError marks an error of a connection to the database. The driver returns the error of
// the network unchanged, often a bare io.ErrUnexpectedEOF, whose origin would be unknown without
// this mark.
type connectionError struct{ err error }

func (e *connectionError) Error() string { return "database connection: " + e.err.Error() }
func (e *connectionError) Unwrap() error { return e.err }

// Dial wraps the dial function of a database driver so that [Of] recognizes connections that fail
// while they are in use.
func Dial(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(ctx context.Context, network,
	address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return connection{c}, nil
	}
}

type connection struct{ net.Conn }

func (c connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, mark(err)
}

func (c connection) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, mark(err)
}

// mark leaves timeouts and closed connections as they are: the driver causes both itself when the
// context of a statement ends.
func mark(err error) error {
	var network net.Error
	if err == nil || errors.Is(err, net.ErrClosed) || errors.As(err, &network) && network.Timeout() {
		return err
	}
	return &connectionError{err}
}
