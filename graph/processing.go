package graph

import (
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/models"
)

// fromPreview converts the finished preview of each file. The result is nil for a file without one.
func fromPreview[V any](files []*models.File, convert func(f *models.File, p *models.Preview) *V) ([]*V, error) {
	values := make([]*V, len(files))
	for i, f := range files {
		if f.Preview != nil && f.Preview.State == models.PreviewDone {
			values[i] = convert(f, f.Preview)
		}
	}
	return values, nil
}

// processing returns the processing state of a file. p is nil if the file has no preview.
func processing(f *models.File, p *models.Preview) *model.Processing {
	if p != nil && p.IsEmpty() {
		return &model.Processing{State: model.ProcessingStateNotApplicable}
	}
	if p == nil {
		if f.State == models.Pending && preview.SubjectOf(f.Name, f.ContentType) != "" {
			return &model.Processing{State: model.ProcessingStateWaiting}
		}
		return &model.Processing{State: model.ProcessingStateNotApplicable}
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
