package graphqlhttp

import (
	"container/list"
	"sync"
)

// cache is a least-recently-used cache that is bounded by the total weight of its entries.
type cache[V any] struct {
	limit int // total weight in bytes

	mu      sync.Mutex
	weight  int
	entries map[string]*list.Element
	order   list.List // of *cached[V], the most recently used first
}

type cached[V any] struct {
	key    string
	value  V
	weight int
}

func newCache[V any](limit int) *cache[V] {
	return &cache[V]{limit: limit, entries: make(map[string]*list.Element)}
}

func (c *cache[V]) get(key string) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.entries[key]
	if at == nil {
		return value, false
	}
	c.order.MoveToFront(at)
	return at.Value.(*cached[V]).value, true
}

// add stores a value unless the key is present. weight estimates the bytes of the key and the
// value.
func (c *cache[V]) add(key string, value V, weight int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[key] != nil || weight > c.limit {
		return
	}
	c.entries[key] = c.order.PushFront(&cached[V]{key, value, weight})
	for c.weight += weight; c.weight > c.limit; {
		last := c.order.Remove(c.order.Back()).(*cached[V])
		delete(c.entries, last.key)
		c.weight -= last.weight
	}
}
