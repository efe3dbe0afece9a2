package graph

import (
	"context"

	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/models"
)

// Mesh is the facts of a file that is one.
type Mesh struct {
	*preview.Mesh
	file    *models.File
	preview *models.Preview
}

func point(p [3]float64) *Point { return &Point{X: p[0], Y: p[1], Z: p[2]} }

// Min is the lowest corner of the box.
func (m *Mesh) Min() *Point { return point(m.Mesh.Min) }

// Max is the highest corner of the box.
func (m *Mesh) Max() *Point { return point(m.Mesh.Max) }

// Size is the lengths of the box's sides, mm.
func (m *Mesh) Size() *Point { return point(m.Mesh.Size) }

// Components counts the pieces.
func (m *Mesh) Components() int32 { return int32(min(m.Mesh.Components, 1<<31-1)) }

func previewID(f *models.File) int64 { return f.PreviewID }

// ofPreview gives for each file something of its preview, nil for those without one that is done.
func ofPreview[V any](ctx context.Context, files []*models.File, of func(f *models.File, p *models.Preview) *V) ([]*V, error) {
	previews, err := each(ctx, files, &loadersOf(ctx).previews, previewID, same)
	if err != nil {
		return nil, err
	}
	values := make([]*V, len(files))
	for i, p := range previews {
		if p != nil && p.State == models.PreviewDone {
			values[i] = of(files[i], p)
		}
	}
	return values, nil
}

// processing tells how far the work on a file is, whose preview may be nil.
func processing(f *models.File, p *models.Preview) *Processing {
	if p == nil {
		if f.State == models.Pending && preview.SubjectOf(f.Name, f.ContentType) != "" {
			return &Processing{State: ProcessingStateWaiting}
		}
		return &Processing{State: ProcessingStateNotApplicable}
	}
	at := &Processing{Progress: p.Progress, Attempts: p.Attempts}
	switch p.State {
	case models.PreviewRunning:
		at.State = ProcessingStateRunning
		if p.Stage != "" {
			at.Stage = &p.Stage
		}
	case models.PreviewDone:
		at.State = ProcessingStateDone
	case models.PreviewFailed:
		at.State, at.Error = ProcessingStateFailed, &p.Error
	default:
		at.State = ProcessingStateWaiting
	}
	return at
}

// thumbnail gives the picture of a preview in a size.
func (r *Resolver) thumbnail(f *models.File, p *models.Preview, size ThumbnailSize) *Image {
	if p.Picture == "" {
		return nil
	}
	name, width, height := sizeOf(size, int(p.Width), int(p.Height))
	return &Image{URL: r.derived(f, "renders", p.Tag(), name+"."+p.Picture), Width: int32(width), Height: int32(height)}
}

// derived is where something that was derived of a file is for whoever may see the file.
func (r *Resolver) derived(f *models.File, kind, tag, name string) string {
	url := r.URLs.Derived(kind, f.ID, tag, name)
	if f.Public() {
		return url
	}
	return r.URLs.Signed(url, f.ID, signedUntil())
}
