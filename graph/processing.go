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

// processing returns the processing state of a file. p is nil if the file has no preview. Files of
// types that earlier versions tried to process can have one that failed.
func (r *Resolver) processing(f *models.File, p *models.Preview) *model.Processing {
	subject := r.Store.SubjectOf(f)
	if p == nil && f.State == models.Pending && subject != "" {
		return &model.Processing{State: model.ProcessingStateWaiting}
	}
	if p == nil || subject == "" || p.IsEmpty() {
		state := &model.Processing{State: model.ProcessingStateNotApplicable}
		if reason, hint := preview.Hint(f.Name, f.ContentType); reason != "" {
			state.Hint, state.Reason = &hint, &reason
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
		if p.Reason != "" {
			state.Reason = &p.Reason
		}
	default:
		state.State = model.ProcessingStateWaiting
	}
	return state
}
