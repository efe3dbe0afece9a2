package auth

import "context"

type networkKey struct{}

// WithNetwork returns a context whose work is attributed to a network as long as it has no known
// caller.
func WithNetwork(ctx context.Context, network string) context.Context {
	return context.WithValue(ctx, networkKey{}, network)
}

// WithoutAccount returns a context whose work is attributed to no account, for work that several
// callers share.
func WithoutAccount(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, nobody)
}

var nobody = &identity{shared: true}

// OfRequest reports whether the work of ctx was started by a request.
func OfRequest(ctx context.Context) bool { return ctx.Value(networkKey{}) != nil }

// Account returns the account that the work of ctx is attributed to: the user or the application of
// the caller or, without a known caller, the network of the request. It is empty for work that was
// not started by a request.
func Account(ctx context.Context) string {
	if id := identityOf(ctx); id != nil && (id.shared || id.account != "") {
		return id.account
	}
	network, _ := ctx.Value(networkKey{}).(string)
	return network
}
