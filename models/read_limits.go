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

// readLimits holds the bytes that an operation may still read and render.
type readLimits struct {
	text, render atomic.Int64
	exceeded     context.CancelCauseFunc // cancels the operation
}

type readLimitsKey struct{}

// WithReadLimits returns a context that limits the reads of one operation. If the operation reads
// more than 20 MiB of texts, the context is canceled with a TooLarge error as its cause, so that
// the operation does not read anything else. A context without read limits has none.
func WithReadLimits(ctx context.Context) context.Context {
	ctx, exceeded := context.WithCancelCause(ctx)
	b := &readLimits{exceeded: exceeded}
	b.text.Store(maxTextRead)
	b.render.Store(maxRendered)
	return context.WithValue(ctx, readLimitsKey{}, b)
}

// readText counts n bytes of text that the operation reads. If they exceed its limit, it returns
// TooLarge and cancels the operation.
func readText(ctx context.Context, n int) error {
	if b, ok := ctx.Value(readLimitsKey{}).(*readLimits); ok && b.text.Add(-int64(n)) < 0 {
		e := Fail(TooLarge, "the operation reads more than %d MiB of texts: request fewer objects", maxTextRead>>20)
		e.Limit = maxTextRead
		b.exceeded(e)
		return e
	}
	return nil
}

// mayRender counts n bytes of Markdown that the operation renders, and reports whether they are
// within its limit.
func mayRender(ctx context.Context, n int) bool {
	b, ok := ctx.Value(readLimitsKey{}).(*readLimits)
	return !ok || b.render.Add(-int64(n)) >= 0
}
