package graph

import (
	"fmt"
	"sync"

	"github.com/meshyard/meshyard/models"
)

// How many subscriptions, and how many WebSockets, may be open at once on one server.
const (
	maxOpenByCaller = 32 // by one token or, without one, from one address
	maxOpen         = 10_000
)

// places bounds how many of something are open at once.
type places struct {
	what string

	mu    sync.Mutex
	taken map[string]int // by caller
	inAll int
}

// take takes a place until it is given back, which may be done twice.
func (p *places) take(caller string) (giveBack func(), err *models.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.taken[caller] >= maxOpenByCaller:
		return nil, tooManyOpen(maxOpenByCaller, fmt.Sprintf("you have %d %s open, and no more are taken at a time: end one first", maxOpenByCaller, p.what))
	case p.inAll >= maxOpen:
		return nil, tooManyOpen(maxOpen, fmt.Sprintf("%d %s are open on this server, and it takes no more: try again later", maxOpen, p.what))
	}
	if p.taken == nil {
		p.taken = make(map[string]int)
	}
	p.taken[caller]++
	p.inAll++
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.inAll--
		if p.taken[caller]--; p.taken[caller] == 0 {
			delete(p.taken, caller)
		}
	}), nil
}

func tooManyOpen(limit int64, message string) *models.Error {
	return &models.Error{Code: models.RateLimited, Limit: limit, Message: message}
}
