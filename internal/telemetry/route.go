package telemetry

import "context"

type routeKey struct{}

// SetRoute names the route that serves the request of ctx, such as "GET /things/{thing_id}". The
// last call wins. Outside of [Requests] it does nothing.
func SetRoute(ctx context.Context, route string) {
	if named, ok := ctx.Value(routeKey{}).(*string); ok {
		*named = route
	}
}
