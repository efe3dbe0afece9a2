package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/graphqltest"
	"github.com/meshyard/meshyard/rest"
)

// endlessRate is the rate limit of the server. It is so high that no request is rejected, but costs
// are charged, so that they can be computed from the remaining budget.
const endlessRate = 1_000_000

// routes requests every REST path that contains part, with the longest pages of the most expensive
// objects.
func (v *target) routes(ctx context.Context, part string) ([]amplified, error) {
	worst, first := fmt.Sprint(graphqltest.Base+worstList), fmt.Sprint(graphqltest.Base+1)
	fill := strings.NewReplacer("{thing_id}", worst, "{copy_id}", worst, "{comment_id}", worst, "{file_id}", first, "{image_id}", first, "{id}", worst,
		"{collection_id}", fmt.Sprint(graphqltest.Base+100), "{username}", "bench", "{slug}", "art", "{tag}", "worst%20tag%201", "{term}", "a%20e%20i%20o%20s",
		"{startDate}", "2026-01-01", "{endDate}", "2026-12-31")
	paths := rest.Paths()
	slices.Sort(paths)
	var all []amplified
	for _, path := range slices.Compact(paths) {
		if strings.Contains(path, "download") || strings.Contains(path, "finalize") || !strings.Contains(path, part) {
			continue // these change data
		}
		found, accepted, err := v.lowest(func() (amplified, bool, error) { return v.get(ctx, fill.Replace(path)+"?per_page=100") })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if found.name = path; accepted {
			all = append(all, found)
		}
	}
	return all, nil
}

// get requests a REST path. accepted is false if the request was not charged, for example because
// no GET route exists.
func (v *target) get(ctx context.Context, path string) (found amplified, accepted bool, err error) {
	before, err := v.budget(ctx)
	if err != nil {
		return found, false, err
	}
	if _, found, err = v.take(ctx, http.MethodGet, path, nil); err != nil {
		return found, false, err
	}
	after, err := v.budget(ctx)
	found.cost = before - after - 1 // reading the budget costs 1
	return found, found.cost > 0, err
}

// budget returns the remaining cost budget of the caller.
func (v *target) budget(ctx context.Context) (float64, error) {
	text, _, err := v.take(ctx, http.MethodPost, "/graphql", []byte(`{"query":"{__typename}","extensions":{"cost":true}}`))
	if err != nil {
		return 0, err
	}
	var said struct {
		Extensions struct{ Cost struct{ Remaining float64 } }
	}
	err = json.Unmarshal(text, &said)
	return said.Extensions.Cost.Remaining, err
}
