package models

import (
	"context"
	"sync/atomic"
)

// Limits of one operation that its cost does not express: a cost counts objects, and an object may
// contain long texts.
const (
	// maxTextRead is the maximum number of bytes of long texts and HTML that one operation reads: a
	// little more than a response may hold.
	maxTextRead = 20 << 20
	// maxRendered is the maximum number of bytes of Markdown without stored HTML that one operation
	// renders.
	maxRendered = 1 << 20
)

// budget is the remaining budget of an operation.
type budget struct {
	text, render atomic.Int64
	exceeded     context.CancelCauseFunc // ends the operation
}

type budgetKey struct{}

// WithBudget returns a context that limits the reads of one operation: an operation that reads more
// than 20 MiB of texts ends with TooLarge, which is then the cause of the end of the context, so
// that it reads nothing else in vain. Without a budget there is no limit.
func WithBudget(ctx context.Context) context.Context {
	ctx, exceeded := context.WithCancelCause(ctx)
	b := &budget{exceeded: exceeded}
	b.text.Store(maxTextRead)
	b.render.Store(maxRendered)
	return context.WithValue(ctx, budgetKey{}, b)
}

// readText adds to the bytes of texts that were read.
func readText(ctx context.Context, n int) error {
	if b, ok := ctx.Value(budgetKey{}).(*budget); ok && b.text.Add(-int64(n)) < 0 {
		e := fail(TooLarge, "the operation reads more than %d MiB of texts: request fewer objects", maxTextRead>>20)
		e.Limit = maxTextRead
		b.exceeded(e)
		return e
	}
	return nil
}

// mayRender adds to the bytes of Markdown to render on demand, and reports whether they are within
// the budget.
func mayRender(ctx context.Context, n int) bool {
	b, ok := ctx.Value(budgetKey{}).(*budget)
	return !ok || b.render.Add(-int64(n)) >= 0
}
