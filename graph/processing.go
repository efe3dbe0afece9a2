package graph

import (
	"context"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/models"
)

// previewsOf returns the preview of each file, or nil for a file without one. Most files were read
// with their previews; for the others, the previews are loaded.
func previewsOf(ctx context.Context, files []*models.File) ([]*models.Preview, error) {
	isRead := func(f *models.File) bool { return f.Preview != nil || f.PreviewID == 0 }
	return readOrLoad(files, isRead, func(f *models.File) *models.Preview { return f.Preview }, func() ([]*models.Preview, error) {
		return batch.Load(ctx, files, loadersOf(ctx).previews, func(f *models.File) int64 { return f.PreviewID })
	})
}

// fromPreview converts the finished preview of each file. The result is nil for a file without one.
func fromPreview[V any](ctx context.Context, files []*models.File, convert func(f *models.File, p *models.Preview) *V) ([]*V, error) {
	previews, err := previewsOf(ctx, files)
	if err != nil {
		return nil, err
	}
	values := make([]*V, len(files))
	for i, p := range previews {
		if p != nil && p.State == models.PreviewDone {
			values[i] = convert(files[i], p)
		}
	}
	return values, nil
}

// processing returns the processing state of a file. p is nil if the file has no preview. Files of
// types that earlier versions tried to process can have one that failed.
func processing(f *models.File, p *models.Preview) *model.Processing {
	subject := preview.SubjectOf(f.Name, f.ContentType)
	if p == nil && f.State == models.Pending && subject != "" {
		return &model.Processing{State: model.ProcessingStateWaiting}
	}
	if p == nil || subject == "" {
		state := &model.Processing{State: model.ProcessingStateNotApplicable}
		if hint := preview.Hint(f.ContentType); hint != "" {
			state.Hint = &hint
		}
		return state
	}
	state := &model.Processing{Progress: p.Progress, Attempts: p.Attempts}
	switch p.State {
	case models.PreviewRunning:
		state.State = model.ProcessingStateRunning
		if p.Stage != "" {
			state.Stage = &p.Stage
		}
	case models.PreviewDone:
		state.State = model.ProcessingStateDone
	case models.PreviewFailed:
		state.State, state.Error = model.ProcessingStateFailed, &p.Error
	default:
		state.State = model.ProcessingStateWaiting
	}
	return state
}
