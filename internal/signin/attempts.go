package signin

import (
	"context"
	"time"

	"github.com/meshyard/meshyard/internal/ratelimit"
)

// attempts limits how often passwords are tried. It counts alike whether or not there is such an
// account.
//
// A network that tries too often is refused, for one account or for many. An account that is tried
// too often from many networks is not locked, because then anyone could lock anyone out: further
// attempts on it are slowed down instead. A browser in which the user signed in before has a limit
// of its own, so that others' guesses neither slow it down nor lock it out.
type attempts struct {
	pair, account, network, device *ratelimit.Limiter
	slowdown                       time.Duration
}

// In a ratelimit.Window.
const (
	perPair    = 10 // for one account from one network
	perAccount = 50 // for one account from anywhere, before attempts are slowed down
	perNetwork = 100
	perDevice  = 10 // for one account in one browser that is known as its user's
)

// accountSlowdown is how long each attempt on an account takes that is tried too often.
const accountSlowdown = 2 * time.Second

func newAttempts() attempts {
	return attempts{
		pair: ratelimit.New(perPair), account: ratelimit.New(perAccount), network: ratelimit.New(perNetwork), device: ratelimit.New(perDevice),
		slowdown: accountSlowdown,
	}
}

// take counts an attempt on an account, "" for a text that is no user name. device is the browser's
// id if it is known as the user's, else "". If the attempt is one too many, ok is false and wait
// says how long to wait.
func (a attempts) take(ctx context.Context, account, network, device string) (wait time.Duration, ok bool) {
	now := time.Now()
	if device != "" {
		if _, ok := a.device.Allow(device, now); ok {
			return 0, true
		}
	}
	if wait, ok := a.network.Allow(network, now); !ok || account == "" {
		return wait, ok
	}
	if wait, ok := a.pair.Allow(pairOf(account, network), now); !ok {
		return wait, false
	}
	if _, ok := a.account.Allow(account, now); !ok {
		select {
		case <-time.After(a.slowdown):
		case <-ctx.Done(): // the browser went away
		}
	}
	return 0, true
}

// succeeded forgets the attempts of a user who turned out to know the password: those of their
// device if it is known, so that others on the same network gain nothing from it.
func (a attempts) succeeded(account, network, device string) {
	if device != "" {
		a.device.Forgive(device)
		return
	}
	a.pair.Forgive(pairOf(account, network))
}

func pairOf(account, network string) string { return account + " " + network }
