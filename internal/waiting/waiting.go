// Package waiting lets work announce that it is about to wait, for the database or for other work,
// so that something else can be done meanwhile. Work that turns out not to wait needs no goroutine
// of its own.
package waiting

import "context"

type noticeKey struct{}

// WithNotice returns a context for work that calls notice whenever it is about to wait. Several
// goroutines may call it at once, and also after the work has ended. It must not wait itself.
func WithNotice(ctx context.Context, notice func()) context.Context {
	return context.WithValue(ctx, noticeKey{}, notice)
}

// Begin calls the notice of ctx, if it has one: the work of ctx is about to wait.
func Begin(ctx context.Context) {
	if notice, ok := ctx.Value(noticeKey{}).(func()); ok {
		notice()
	}
}
