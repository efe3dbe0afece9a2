package main

import (
	"context"
	"fmt"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/graphqlhttp"
	"github.com/meshyard/meshyard/models"
)

// showListingLayers reads the first page of the newest things in this process, through an
// increasing number of layers of the server, and shows how many statements each layer executes.
func showListingLayers(ctx context.Context, o options, e engine, a *server.Server, token string) error {
	caller, err := a.Store.Authenticate(ctx, token)
	if err != nil {
		return err
	}
	stack, err := newStack(a.Store)
	if err != nil {
		return err
	}
	ctx = auth.WithCaller(ctx, caller, nil)
	overHTTP, err := stack.graph.Handler(graphqlhttp.Options{})
	if err != nil {
		return err
	}
	graphLayer := func(document string) *layer {
		return &layer{name: "graph: the whole handler, into a recorder", run: func(ctx context.Context, _ int64) error {
			return serve(ctx, overHTTP, graphRequest(document, ""))
		}}
	}
	for _, reads := range []struct {
		title  string
		layers []*layer
	}{
		{"The first page of GET /newest", []*layer{
			{name: "models: the page, and what its things need", run: func(ctx context.Context, _ int64) error {
				things, owners, err := newestThings(ctx, a.Store)
				return all(err,
					func() error { _, err := a.Store.CountPublished(ctx); return err },
					func() error { _, err := a.Store.UsersByID(ctx, owners); return err },
					func() error { _, err := a.Store.FollowedBy(ctx, caller.UserID, owners); return err },
					func() error { _, err := a.Store.TagsOf(ctx, things); return err },
					func() error { _, err := a.Store.FirstImages(ctx, models.OnThing, things); return err },
				)
			}},
			{name: "graph: the stored document, and its response as JSON", run: func(ctx context.Context, _ int64) error {
				return stack.execute(ctx, "get_newest", map[string]any{"page": 1, "per_page": listedPage})
			}},
			{name: "rest: the whole handler, into a recorder", run: func(ctx context.Context, _ int64) error {
				return serve(ctx, stack.rest, newestRequest(1, ""))
			}},
		}},
		{"The first page of the GraphQL document with creator, tags and files", []*layer{
			{name: "models: the page, and what its things need", run: func(ctx context.Context, _ int64) error {
				things, owners, err := newestThings(ctx, a.Store)
				return all(err,
					func() error { _, err := a.Store.UsersByID(ctx, owners); return err },
					func() error { _, err := a.Store.TagsOf(ctx, things); return err },
					func() error { _, err := a.Store.FilesOn(ctx, models.OnThing, things); return err },
				)
			}},
			graphLayer(nodesDocument),
		}},
		{"The first page of the GraphQL document with comments and makes", []*layer{
			{name: "models: the page, and what its things need", run: func(ctx context.Context, _ int64) error {
				things, _, err := newestThings(ctx, a.Store)
				part := models.Slice{First: nestedPage}
				return all(err,
					func() error {
						_, err := a.Store.CommentsOnPages(ctx, a.Store.CommentsOn(models.OnThing, false), things, part)
						return err
					},
					func() error {
						_, err := a.Store.MakesOnPages(ctx, a.Store.MakesOfThings(), things, part)
						return err
					},
				)
			}},
			graphLayer(listsDocument),
		}},
	} {
		for _, l := range reads.layers {
			before := a.Statements()
			if err := l.run(ctx, 0); err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
			l.name += fmt.Sprintf(", %d statements", a.Statements()-before)
		}
		if err := measureLayers(ctx, o, reads.layers, 1); err != nil {
			return err
		}
		printLayers(fmt.Sprintf("%s in this process on %s", reads.title, e), reads.layers)
	}
	return nil
}

// newestThings reads a page of things and returns their IDs and the IDs of their creators.
func newestThings(ctx context.Context, s *models.Store) (things, owners []int64, err error) {
	list, err := s.Things(models.Filter{}, models.ByNewest)
	if err != nil {
		return nil, nil, err
	}
	pages, err := list.Page(ctx, []int64{1}, models.Slice{First: listedPage})
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range pages[1].Entries {
		things = append(things, entry.NodeID)
	}
	found, err := s.ThingsByID(ctx, things)
	known := make(map[int64]bool)
	for _, t := range found {
		if !known[t.OwnerID] {
			known[t.OwnerID] = true
			owners = append(owners, t.OwnerID)
		}
	}
	return things, owners, err
}

// all runs the steps until one returns an error.
func all(err error, steps ...func() error) error {
	for _, step := range steps {
		if err != nil {
			return err
		}
		err = step()
	}
	return err
}
