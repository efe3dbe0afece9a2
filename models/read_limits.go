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
	exceeded     context.CancelCauseFunc // cancels the operation
}

type budgetKey struct{}

// WithBudget returns a context that limits the reads of one operation. If the operation reads more
// than 20 MiB of texts, the context is canceled with a TooLarge error as its cause, so that the
// operation does not read anything else. Without a budget there is no limit.
func WithBudget(ctx context.Context) context.Context {
	ctx, exceeded := context.WithCancelCause(ctx)
	b := &budget{exceeded: exceeded}
	b.text.Store(maxTextRead)
	b.render.Store(maxRendered)
	return context.WithValue(ctx, budgetKey{}, b)
}

// readText subtracts n bytes of text from the budget. If the budget is exceeded, it returns
// TooLarge and cancels the operation.
func readText(ctx context.Context, n int) error {
	if b, ok := ctx.Value(budgetKey{}).(*budget); ok && b.text.Add(-int64(n)) < 0 {
		e := fail(TooLarge, "the operation reads more than %d MiB of texts: request fewer objects", maxTextRead>>20)
		e.Limit = maxTextRead
		b.exceeded(e)
		return e
	}
	return nil
}

// mayRender subtracts n bytes of Markdown to render on demand from the budget, and reports whether
// they are within the budget.
func mayRender(ctx context.Context, n int) bool {
	b, ok := ctx.Value(budgetKey{}).(*budget)
	return !ok || b.render.Add(-int64(n)) >= 0
}
