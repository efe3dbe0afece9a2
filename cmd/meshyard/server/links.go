package server

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/remote/reader"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/link"
)

// linkOptions returns the options for imports from URLs.
func linkOptions(s config.Settings) link.Options {
	o := link.Options{AllowPrivate: s.LinkAllowPrivate}
	if s.LinkLimit > 0 {
		o.Open = reader.New(reader.Options{AllowPrivate: s.LinkAllowPrivate, UserAgent: "Meshyard/" + s.Version,
			MaxBytes: int64(s.LinkLimit), MaxFiles: cmp.Or(s.ThingFiles, models.DefaultThingFiles)})
	}
	return o
}

const (
	// linkWorkers is the number of imports from URLs that a server runs at a time.
	linkWorkers = 2
	// linkCheck is how often a server looks for imports that were started on another server, or that
	// another server has left.
	linkCheck = 5 * time.Second
)

// startLinks runs imports from URLs. The returned function stops it; those in progress then
// continue on another server, or after the next start.
func (a *Server) startLinks(ctx context.Context) (stop func()) {
	if a.Settings.LinkLimit == 0 || !a.Settings.Roles.Has(config.RoleJobs) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	for range linkWorkers {
		working.Go(func() {
			for ctx.Err() == nil {
				worked, err := a.Store.Link.Work(ctx)
				if err != nil && ctx.Err() == nil {
					a.logScan(ctx, "an import from a URL was interrupted", err)
				}
				if worked && err == nil {
					continue
				}
				select {
				case <-ctx.Done():
				case <-a.Store.Link.Wake():
				case <-time.After(linkCheck):
				}
			}
		})
	}
	return func() {
		cancel()
		working.Wait()
	}
}
