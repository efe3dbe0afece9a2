package auth

import "context"

type networkKey struct{}

// WithNetwork returns a context whose work counts for a network while it has no known caller.
func WithNetwork(ctx context.Context, network string) context.Context {
	return context.WithValue(ctx, networkKey{}, network)
}

// WithoutAccount returns a context whose work counts for nobody, for work that several callers
// share.
func WithoutAccount(ctx context.Context) context.Context {
	return WithNetwork(WithCaller(ctx, Caller{}, nil), "")
}

// OfRequest reports whether a request caused the work of ctx.
func OfRequest(ctx context.Context) bool { return ctx.Value(networkKey{}) != nil }

// Account names the account that the work of ctx counts for: the user or the application that calls
// or, without a known caller, the network of the request. It is empty for work that no request
// caused.
func Account(ctx context.Context) string {
	caller, _ := From(ctx)
	if account := caller.Account(); account != "" {
		return account
	}
	network, _ := ctx.Value(networkKey{}).(string)
	return network
}
