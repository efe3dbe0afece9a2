package graph

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/previews"
)

// watchFiles returns a channel that receives the processing state of each file that read returns,
// immediately and after each change, for up to maxWatchTime. read receives the IDs of the files
// that are not finished yet. The channel is closed when read returns NotFound or Forbidden, for
// example because the thing was deleted.
func (r *Resolver) watchFiles(ctx context.Context,
	read func(ctx context.Context, unfinished []int64) ([]*models.File, error)) (<-chan *model.FileProcessing, error) {
	known := make(map[int64]*model.Processing)
	changes, err := r.changedFiles(ctx, known, read)
	if err != nil {
		return nil, err
	}
	states := make(chan *model.FileProcessing)
	go func() {
		defer close(states)
		ctx, cancel := context.WithTimeout(ctx, maxWatchTime)
		defer cancel()
		for interval := previews.MinPollInterval; ; interval = min(interval*3/2, previews.MaxPollInterval) {
			for _, change := range changes {
				select {
				case states <- change:
					interval = previews.MinPollInterval
				case <-ctx.Done():
					return
				}
			}
			select {
			case <-time.After(interval):
			case <-ctx.Done():
				return
			}
			changes, err = r.changedFiles(ctx, known, read)
			switch models.CodeOf(err) {
			case models.NotFound, models.Forbidden:
				return
			}
		}
	}()
	return states, nil
}

// changedFiles reads the files and returns those whose state differs from known. It updates known.
// If the database fails, it returns an error and leaves known unchanged.
func (r *Resolver) changedFiles(ctx context.Context, known map[int64]*model.Processing,
	read func(context.Context, []int64) ([]*models.File, error)) ([]*model.FileProcessing, error) {
	var unfinished []int64
	for id, state := range known {
		if state.State == model.ProcessingStateWaiting || state.State == model.ProcessingStateRunning {
			unfinished = append(unfinished, id)
		}
	}
	files, err := read(ctx, unfinished)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b *models.File) int { return cmp.Compare(a.ID, b.ID) })
	var changes []*model.FileProcessing
	for _, f := range files {
		state := r.processing(f, f.Preview)
		if !reflect.DeepEqual(known[f.ID], state) {
			known[f.ID] = state
			changes = append(changes, &model.FileProcessing{File: f, Processing: state})
		}
	}
	return changes, nil
}
