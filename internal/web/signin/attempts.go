package signin

import (
	"context"
	"time"

	"github.com/meshyard/meshyard/internal/ratelimit"
)

// attempts limits how often passwords can be tried. Attempts on accounts that do not exist are
// counted in the same way.
//
// A network with too many attempts is refused, whether they were on one account or on many. An
// account with too many attempts from many networks is not locked, because then anyone could lock
// out its user. Instead, further attempts on it are slowed down. A browser in which the user has
// signed in before has a separate limit, so attempts of others neither slow it down nor lock it
// out.
type attempts struct {
	pair, account, network, device *ratelimit.Strict
	slowdown                       time.Duration
}

// The maximum numbers of attempts in a ratelimit.Window.
const (
	perPair    = 10 // on one account from one network
	perAccount = 50 // on one account from anywhere; further attempts are slowed down
	perNetwork = 100
	perDevice  = 10 // on one account in a browser in which its user has signed in before
)

// accountSlowdown is the delay of each attempt on an account with too many attempts.
const accountSlowdown = 2 * time.Second

func newAttempts(g *ratelimit.Group) attempts {
	return attempts{
		pair: g.Strict("sign-in of a pair", perPair), account: g.Strict("sign-in to an account", perAccount),
		network: g.Strict("sign-in from a network", perNetwork), device: g.Strict("sign-in with a device", perDevice),
		slowdown: accountSlowdown,
	}
}

// take counts an attempt on an account. account is "" for a text that is not a valid username.
// device is the ID of the browser if its user has signed in with it before, and otherwise "". If a
// limit is exceeded, ok is false and wait is the time until the next attempt is allowed.
func (a attempts) take(ctx context.Context, account, network, device string) (wait time.Duration, ok bool) {
	if device != "" {
		if _, ok := a.device.Allow(ctx, device); ok {
			return 0, true
		}
	}
	if wait, ok := a.network.Allow(ctx, network); !ok || account == "" {
		return wait, ok
	}
	if wait, ok := a.pair.Allow(ctx, pairOf(account, network)); !ok {
		return wait, false
	}
	if _, ok := a.account.Allow(ctx, account); !ok {
		select {
		case <-time.After(a.slowdown):
		case <-ctx.Done(): // the client has disconnected
		}
	}
	return 0, true
}

// succeeded resets the counts of attempts of a user who entered the correct password. If the
// browser is known, only its own count is reset, so that others on the same network gain no
// attempts. The attempt itself does not count for the network: many users may share one address.
func (a attempts) succeeded(ctx context.Context, account, network, device string) {
	if device != "" {
		a.device.Forgive(ctx, device)
		return
	}
	a.network.Refund(ctx, network)
	a.pair.Forgive(ctx, pairOf(account, network))
}

func pairOf(account, network string) string { return account + " " + network }
