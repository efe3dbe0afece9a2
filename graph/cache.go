package graph

import (
	"container/list"
	"sync"
)

// cache keeps values by text until they weigh too much together; then those go that were not asked for the longest.
type cache[V any] struct {
	limit int // of the weight of all, in bytes

	mu      sync.Mutex
	weight  int
	entries map[string]*list.Element
	order   list.List // of *cached[V], the last asked for in front
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

// add keeps a value that is not there yet. weight is an estimate of the bytes that it and the key take.
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
