package account

import (
	"sync"
	"time"
)

const (
	identityMemory     = time.Second
	identityMemorySize = 10_000
)

// identityCache caches which user a verified token of the operator's OpenID provider belongs to.
// Without it, every request would verify a signature and compare roles. It holds nothing that
// decides what the user may do: the privileges and a suspension are read for each request.
type identityCache struct {
	mu    sync.Mutex
	known map[string]cachedIdentity // by the hash of the token
}

type cachedIdentity struct {
	userID  int64
	expires time.Time // of the token; zero: never
	until   time.Time
}

func newIdentityCache() *identityCache {
	return &identityCache{known: make(map[string]cachedIdentity)}
}

// get returns a cached identity.
func (c *identityCache) get(hash string) (id cachedIdentity, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, ok = c.known[hash]
	return id, ok && time.Now().Before(id.until)
}

// put caches the user of a token, at most until the token expires.
func (c *identityCache) put(hash string, userID int64, expires time.Time) {
	until := time.Now().Add(identityMemory)
	if !expires.IsZero() && expires.Before(until) {
		until = expires
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= identityMemorySize {
		clear(c.known) // entries live for a second, so an LRU list would cost more
	}
	c.known[hash] = cachedIdentity{userID, expires, until}
}
