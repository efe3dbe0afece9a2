package server

import (
	"context"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/internal/preview/cad"
)

// previewPoll is how often an idle worker polls for a preview to generate.
const previewPoll = 150 * time.Millisecond

// previewWorkers returns the number of previews that this server generates concurrently.
func (a *Server) previewWorkers() int {
	if !a.Settings.Roles.Has(config.RolePreviews) {
		return 0
	}
	return a.Settings.PreviewWorkers
}

// cadConverter returns the converter of CAD files, or nil if there is none.
func cadConverter(command string) (*cad.Converter, error) {
	if command == "" {
		return nil, nil
	}
	return cad.Parse(command)
}

// startPreviews starts the workers that generate previews. stop cancels their current work, which
// is repeated later, and waits until they have ended.
func (a *Server) startPreviews(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for range a.previewWorkers() {
		workers.Go(func() { a.generatePreviews(ctx) })
	}
	return func() {
		cancel()
		workers.Wait()
	}
}

// generatePreviews generates one preview after another until ctx ends. During an outage, it tries
// again as often as clients should.
func (a *Server) generatePreviews(ctx context.Context) {
	for ctx.Err() == nil {
		again, err := a.Store.Previews.GeneratePreview(ctx)
		wait := previewPoll
		if err != nil && ctx.Err() == nil {
			if found := outage.Of(err); found != nil {
				outage.Log(ctx, found, err)
				wait = outage.RetryAfter
			} else {
				a.Logger.Error("a preview was not generated", "error", err)
			}
		}
		if again {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}
