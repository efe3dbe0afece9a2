package account

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestIdentityCache checks that the cache keeps the user of a token for a second, or until the
// token expires.
func TestIdentityCache(t *testing.T) {
	for name, c := range map[string]struct {
		lifetime, wait time.Duration // lifetime 0: the token does not expire
		want           bool
	}{
		"at once":                  {want: true},
		"within a second":          {wait: identityMemory - 1, want: true},
		"after a second":           {wait: identityMemory},
		"before the token expires": {lifetime: time.Millisecond, wait: time.Millisecond - 1, want: true},
		"after the token expired":  {lifetime: time.Millisecond, wait: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cache := newIdentityCache()
				var expires time.Time
				if c.lifetime > 0 {
					expires = time.Now().Add(c.lifetime)
				}
				cache.put("hash", 1, expires)
				time.Sleep(c.wait)
				if _, got := cache.get("hash"); got != c.want {
					t.Errorf("the user is cached: %t, want %t", got, c.want)
				}
			})
		})
	}
}
