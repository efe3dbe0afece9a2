package graphqlhttp

import (
	"sync"

	"github.com/meshyard/meshyard/internal/apierror"
)

// How many subscriptions, and how many WebSockets, may be open at once on one server.
const (
	maxOpenByCaller = 32 // by one user or application or, without a token, from one network
	maxOpen         = 10_000
)

// openLimit bounds how many of something are open at once, in all and by each caller.
type openLimit struct {
	noun string // in the plural, for messages

	mu       sync.Mutex
	byCaller map[string]int
	total    int
}

// acquire counts one more for the caller. The caller of acquire must call release, which may be
// called more than once.
func (l *openLimit) acquire(caller string) (release func(), err *apierror.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.byCaller[caller] >= maxOpenByCaller:
		err = apierror.New(apierror.RateLimited, "too many open %s: at most %d per client; close one first", l.noun,
			maxOpenByCaller)
		err.Limit = maxOpenByCaller
		return nil, err
	case l.total >= maxOpen:
		err = apierror.New(apierror.RateLimited, "too many open %s: at most %d on this server; try again later", l.noun,
			maxOpen)
		err.Limit = maxOpen
		return nil, err
	}
	if l.byCaller == nil {
		l.byCaller = make(map[string]int)
	}
	l.byCaller[caller]++
	l.total++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.total--
		if l.byCaller[caller]--; l.byCaller[caller] == 0 {
			delete(l.byCaller, caller)
		}
	}), nil
}
