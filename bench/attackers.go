package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/graphqltest"
)

const (
	attackers  = 16  // callers that send the most expensive operations
	attacks    = 8   // number of different expensive operations
	maxSlowing = 3.0 // maximum median latency of others during the attack, relative to none
)

// compareCallers measures the latency of ordinary callers while attackers send the most expensive
// of the given operations, relative to the latency without attackers.
func (v *target) compareCallers(ctx context.Context, o options, all []amplified) error {
	tokens := make([]string, attackers)
	for i := range tokens {
		var err error
		if tokens[i], err = v.newUser(ctx, fmt.Sprint("attacker-", i)); err != nil {
			return err
		}
	}
	honest := make([]string, o.conns)
	for i := range honest {
		var err error
		if honest[i], err = v.newUser(ctx, fmt.Sprint("reader-", i)); err != nil {
			return err
		}
	}
	var documents [][]byte
	v.token = tokens[0]
	for _, a := range v.mostExpensive(ctx, all) {
		body, err := json.Marshal(map[string]any{"query": a.document})
		if err != nil {
			return err
		}
		documents = append(documents, body)
	}
	pages := []string{"/users/bench/things?per_page=100", "/things/" + fmt.Sprint(graphqltest.Base+worstList) + "/comments?per_page=30", "/search/a%20e%20i%20o%20s?per_page=100", "/categories?per_page=100"}
	for _, c := range []struct {
		name     string
		requests []request
		attack   func(i, n int) (*http.Request, error)
	}{
		{
			"GraphQL", []request{graphRequest(nestedDocument, ""), graphRequest("{newest(perPage:30){id name creator{username} defaultImage{url}}}", "")},
			func(i, n int) (*http.Request, error) {
				return v.as(tokens[i]).request(ctx, http.MethodPost, "/graphql", documents[(i+n)%len(documents)])
			},
		},
		{
			"REST", []request{{http.MethodGet, "/newest?per_page=30", ""}, {http.MethodGet, "/popular?per_page=30", ""}},
			func(i, n int) (*http.Request, error) {
				return v.as(tokens[i]).request(ctx, http.MethodGet, pages[(i+n)%len(pages)], nil)
			},
		},
	} {
		turns := make([]int, o.conns)
		readers, err := newLoadGenerator(v.server.address, o.conns, func(conn int) []byte {
			turns[conn]++
			return c.requests[(conn+turns[conn])%len(c.requests)].text(v.server.address, honest[conn])
		})
		if err != nil {
			return err
		}
		var medians [2]series
		attacked := 0
		for i := range o.pairs {
			for _, side := range inTurns(i, 0, 1) {
				got, n, err := askDuringAttack(ctx, o, readers, side*attackers, c.attack)
				if err != nil {
					readers.close()
					return err
				}
				medians[side] = append(medians[side], got.median.Seconds()*1000)
				attacked += n
			}
		}
		readers.close()
		t := newTable("%d callers by %s on %s, during an attack by %d callers with the most expensive operations, relative to none", o.conns, c.name, v.engine, attackers)
		t.row("median alone, ms", "%.1f", medians[0])
		t.atMost("median during the attack", "%.2f", medians[1].over(medians[0]), maxSlowing)
		t.row("operations of the attackers that ended meanwhile", "%.0f", series{float64(attacked)})
		t.print()
	}
	return nil
}

// askDuringAttack measures the readers while a number of callers attack. It returns the number of
// attacks that were executed.
func askDuringAttack(ctx context.Context, o options, readers *loadGenerator, callers int, attack func(i, n int) (*http.Request, error)) (got turn, answered int, err error) {
	attacking, stop := context.WithCancel(ctx)
	defer stop()
	counts := make([]int, callers)
	var group errgroup.Group
	for i := range callers {
		group.Go(func() error {
			for n := 0; attacking.Err() == nil; n++ {
				request, err := attack(i, n)
				if err != nil {
					return err
				}
				response, err := http.DefaultClient.Do(request.WithContext(attacking))
				if err != nil {
					continue // canceled at the end of the turn
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				if response.StatusCode == http.StatusOK {
					counts[i]++
				}
			}
			return nil
		})
	}
	if callers > 0 { // let the attack start
		if _, err := readers.run(ctx, o.round/4); err != nil {
			return got, 0, err
		}
	}
	got, err = readers.run(ctx, o.round)
	stop()
	err = cmp.Or(err, group.Wait())
	for _, n := range counts {
		answered += n
	}
	return got, answered, err
}

// mostExpensive returns the operations that take the most CPU time for a caller who is not an
// administrator.
func (v *target) mostExpensive(ctx context.Context, all []amplified) (found []amplified) {
	slices.SortFunc(all, func(a, b amplified) int { return cmp.Compare(b.cpu, a.cpu) })
	for _, a := range all[:min(len(all), 5*attacks)] {
		if again, accepted, err := v.measure(ctx, a.document); err == nil && accepted {
			again.document = a.document
			found = append(found, again)
		}
	}
	slices.SortFunc(found, func(a, b amplified) int { return cmp.Compare(b.cpu, a.cpu) })
	return found[:min(len(found), attacks)]
}

// newUser creates a user and returns a token of that user.
func (v *target) newUser(ctx context.Context, name string) (token string, err error) {
	if _, err := v.store.Admin().CreateUser(ctx, name, false); err != nil {
		return "", err
	}
	return v.store.Admin().CreateToken(ctx, strings.ToLower(name), "bench", auth.Scopes{auth.Read, auth.Write}, 0)
}

// as returns a copy of v with the token of another caller.
func (v *target) as(token string) *target {
	other := *v
	other.token = token
	return &other
}
