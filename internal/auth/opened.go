package auth

import (
	"context"
	"maps"
	"sync"
)

// Opened is a set of unlisted things that a request has opened with their keys. The user who makes
// the request can see them. It is safe for concurrent use, and a nil set is empty.
type Opened struct {
	mu     sync.RWMutex
	things map[int64]bool
}

// Has reports whether the set contains a thing.
func (o *Opened) Has(thingID int64) bool {
	if o == nil {
		return false
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.things[thingID]
}

type openedKey struct{}

// OpenedOf returns the set of ctx, or nil.
func OpenedOf(ctx context.Context) *Opened {
	o, _ := ctx.Value(openedKey{}).(*Opened)
	return o
}

// WithOpened returns a context with a set of its own, which has the things of the set of ctx and
// the given ones. [From] returns it with the caller.
func WithOpened(ctx context.Context, thingIDs ...int64) context.Context {
	o := &Opened{things: make(map[int64]bool)}
	if outer := OpenedOf(ctx); outer != nil {
		outer.mu.RLock()
		maps.Copy(o.things, outer.things)
		outer.mu.RUnlock()
	}
	for _, id := range thingIDs {
		o.things[id] = true
	}
	return context.WithValue(ctx, openedKey{}, o)
}

// Open adds a thing to the set of ctx, which must come from [WithOpened]. The caller has verified
// the key of the thing.
func Open(ctx context.Context, thingID int64) {
	o := OpenedOf(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.things[thingID] = true
}
