package graph

import (
	"context"
	"strings"
	"time"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/internal/thumbnail"
	"github.com/meshyard/meshyard/models"
)

func previewID(f *models.File) int64 { return f.PreviewID }

// fromPreview returns, for each file, what convert makes of its finished preview, or nil.
func fromPreview[V any](ctx context.Context, files []*models.File, convert func(f *models.File, p *models.Preview) *V) ([]*V, error) {
	previews, err := batch.Load(ctx, files, loadersOf(ctx).previews, previewID)
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

// processing returns the processing state of a file. p is nil if the file has no preview.
func processing(f *models.File, p *models.Preview) *model.Processing {
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

// thumbnail returns the rendering of a preview in a size, or nil if it has none.
func (r *Resolver) thumbnail(f *models.File, p *models.Preview, size model.ThumbnailSize) *model.Image {
	if p.Picture == "" {
		return nil
	}
	name, width, height := thumbnailSize(size, int(p.Width), int(p.Height))
	return &model.Image{URL: r.renditionURL(f, "renders", p.Tag(), name+"."+p.Picture), Width: int32(width), Height: int32(height)}
}

// thumbnailSize returns the name of a size in URLs and the size in pixels of an image of
// width × height pixels at that size.
func thumbnailSize(size model.ThumbnailSize, width, height int) (name string, w, h int) {
	if size == model.ThumbnailSizeFull {
		return thumbnail.Full, width, height
	}
	name = strings.ToLower(string(size))
	if !strings.Contains(name, "_") {
		name = "thumb_" + name
	}
	s, _ := thumbnail.SizeNamed(name) // a test checks that every size of the schema exists
	w, h = s.Of(width, height)
	return name, w, h
}

// How long signed URLs are valid.
const (
	recordURLTTL   = time.Hour        // in a record, which clients may keep for a while
	downloadURLTTL = 10 * time.Minute // after a tracked download
)

// renditionURL returns the URL of a file that was derived from f. It is signed if f is not public.
func (r *Resolver) renditionURL(f *models.File, kind, tag, name string) string {
	url := r.URLs.Derived(kind, f.ID, tag, name)
	if f.Public() {
		return url
	}
	return r.URLs.Signed(url, f.ID, renditionExpiry())
}

// renditionExpiry returns when a URL that is signed now expires. It stays the same for some
// minutes, so that browsers can reuse cached images.
func renditionExpiry() time.Time {
	const step = 15 * time.Minute
	return time.Now().Truncate(step).Add(recordURLTTL + step)
}
