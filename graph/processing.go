package graph

import (
	"cmp"
	"context"
	"time"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/internal/thumbnail"
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

// imageRequest is the box and the format of a requested image.
type imageRequest struct {
	box    thumbnail.Box
	format string // empty: the stored format
}

// fullImage requests an image in its stored size and format.
var fullImage = imageRequest{}

// maxBox is the maximum width and height of the box of an image.
const maxBox = 10_000

// requestImage returns the image request for the arguments of a field. It returns BadInput if width
// or height is out of range.
func requestImage(width, height *int32, fit model.ImageFit, format *model.ImageFormat) (imageRequest, error) {
	r := imageRequest{box: thumbnail.Box{Crop: fit == model.ImageFitCover}}
	for _, side := range []struct {
		name  string
		value *int32
		of    *int
	}{{"width", width, &r.box.Width}, {"height", height, &r.box.Height}} {
		if side.value == nil {
			continue
		}
		if err := inRange(side.name, *side.value, maxBox); err != nil {
			return r, err
		}
		*side.of = int(*side.value)
	}
	if format != nil {
		r.format = map[model.ImageFormat]string{model.ImageFormatPng: thumbnail.PNG, model.ImageFormatJpeg: thumbnail.JPEG}[*format]
	}
	return r, nil
}

// thumbnail returns the rendering of a preview in the requested size and format, or nil if the
// preview has none.
func (r *Resolver) thumbnail(f *models.File, p *models.Preview, request imageRequest) *model.Image {
	if p.ImageFormat == "" {
		return nil
	}
	name, width, height := request.box.Covering(int(p.Width), int(p.Height))
	format := cmp.Or(request.format, p.ImageFormat)
	return &model.Image{URL: r.renditionURL(f, "renders", p.Tag(), name+"."+format), Width: int32(width), Height: int32(height)}
}

// downloadURLTTL is the validity period of the URL of a tracked download.
const downloadURLTTL = 10 * time.Minute

// renditionURL returns the URL of a rendition of f. It is signed if the rendition is not public.
func (r *Resolver) renditionURL(f *models.File, kind, tag, name string) string {
	url := r.URLs.Derived(kind, f.ID, tag, name)
	if r.servesToAnyone(f) {
		return url
	}
	return r.signed(url, f)
}

// recordExpiry returns the expiry time for a URL in a record, which clients can keep for an hour.
// It is rounded to 15 minutes, so that the URL stays the same for that time: browsers can cache an
// image, and the ETag of a response does not change.
func recordExpiry() time.Time {
	const step = 15 * time.Minute
	return time.Now().Truncate(step).Add(time.Hour + step)
}
