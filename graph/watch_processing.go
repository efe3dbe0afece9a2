package graph

import (
	"context"
	"reflect"
	"time"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models/previews"
)

// maxWatchTime is how long the processing of a file can be watched.
const maxWatchTime = 15 * time.Minute

// watch returns a channel that receives the processing state of a file immediately and after each
// change, until processing ends or maxWatchTime has passed. A slow receiver gets only the latest
// state. It returns NotFound or Forbidden if the caller cannot see the file.
func (r *Resolver) watch(ctx context.Context, fileID int64) (<-chan *model.Processing, error) {
	watcher := caller(ctx)
	snapshots, unsubscribe := r.Store.Previews.WatchFile(fileID)
	var first previews.FileSnapshot
	select {
	case first = <-snapshots:
	case <-ctx.Done():
		unsubscribe()
		return nil, ctx.Err()
	}
	state, err := r.processingFor(watcher, fileID, first)
	if err != nil {
		unsubscribe()
		return nil, err
	}
	states := make(chan *model.Processing)
	go func() {
		defer close(states)
		defer unsubscribe()
		ctx, cancel := context.WithTimeout(ctx, maxWatchTime)
		defer cancel()
		for {
			select {
			case states <- state:
			case <-ctx.Done():
				return
			}
			for previous := state; reflect.DeepEqual(state, previous); {
				if state.State != model.ProcessingStateWaiting && state.State != model.ProcessingStateRunning {
					return
				}
				select {
				case next := <-snapshots:
					if state, err = r.processingFor(watcher, fileID, next); err != nil {
						return // the file was deleted or hidden from the watcher
					}
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return states, nil
}

// processingFor returns the processing state in a snapshot of a file. It returns NotFound or
// Forbidden if the watcher cannot see the file.
func (r *Resolver) processingFor(watcher auth.Caller, fileID int64,
	s previews.FileSnapshot) (*model.Processing, error) {
	switch {
	case s.Err != nil:
		return nil, s.Err
	case s.File == nil:
		return nil, apierror.New(apierror.NotFound, "file %d does not exist", fileID)
	}
	return r.processing(s.File, s.Preview), s.File.Allows(watcher)
}
