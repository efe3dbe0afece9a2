package models

import (
	"context"
	"sync/atomic"
)

// What one operation may make the server read and render, whatever its cost says: a cost counts
// objects, and an object may hold long texts.
const (
	// maxTextRead is how many bytes of long texts and HTML one operation reads.
	maxTextRead = 32 << 20
	// maxRendered is how many bytes of Markdown without stored HTML one operation renders.
	maxRendered = 1 << 20
)

// budget is what is left to an operation.
type budget struct{ text, render atomic.Int64 }

type budgetKey struct{}

// WithBudget returns a context whose reads together are bounded: an operation that reads more than
// 32 MiB of texts ends with TooLarge. Without a budget nothing is bounded.
func WithBudget(ctx context.Context) context.Context {
	b := new(budget)
	b.text.Store(maxTextRead)
	b.render.Store(maxRendered)
	return context.WithValue(ctx, budgetKey{}, b)
}

// readText counts bytes of texts that were read.
func readText(ctx context.Context, n int) error {
	if b, ok := ctx.Value(budgetKey{}).(*budget); ok && b.text.Add(-int64(n)) < 0 {
		e := fail(TooLarge, "the operation reads more than %d MiB of texts: ask for fewer objects at a time", maxTextRead>>20)
		e.Limit = maxTextRead
		return e
	}
	return nil
}

// mayRender counts bytes of Markdown that are to be rendered on demand, and returns whether they
// are within the budget.
func mayRender(ctx context.Context, n int) bool {
	b, ok := ctx.Value(budgetKey{}).(*budget)
	return !ok || b.render.Add(-int64(n)) >= 0
}
