package models

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestTokenCache checks that the cache of authenticated tokens keeps a caller for a second, or
// until the token expires, and no caller that was read before the cache was cleared.
func TestTokenCache(t *testing.T) {
	for name, c := range map[string]struct {
		lifetime, wait time.Duration // lifetime 0: the token does not expire
		cleared        bool          // between the query and put
		want           bool
	}{
		"at once":                    {want: true},
		"within a second":            {wait: tokenMemory - 1, want: true},
		"after a second":             {wait: tokenMemory},
		"before the token expires":   {lifetime: time.Millisecond, wait: time.Millisecond - 1, want: true},
		"after the token expired":    {lifetime: time.Millisecond, wait: time.Millisecond},
		"read before it was revoked": {cleared: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cache := newTokenCache()
				_, _, age := cache.get("hash")
				if c.cleared {
					cache.forget()
				}
				var expires time.Time
				if c.lifetime > 0 {
					expires = time.Now().Add(c.lifetime)
				}
				cache.put("hash", auth.Caller{UserID: 1}, expires, age)
				time.Sleep(c.wait)
				if _, got, _ := cache.get("hash"); got != c.want {
					t.Errorf("the caller is cached: %t, want %t", got, c.want)
				}
			})
		})
	}
}
