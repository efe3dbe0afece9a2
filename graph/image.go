package graph

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
)

// mediaImage returns the image for a file, or nil if it has none. p can be nil.
func (r *Resolver) mediaImage(f *models.File, p *models.Preview) *model.MediaImage {
	if f == nil || f.ImageID() == 0 {
		return nil
	}
	done := p != nil && p.State == models.PreviewDone && p.ImageFormat != ""
	m := &model.MediaImage{ID: f.ImageID(), Name: f.Name, Rank: f.ImageRank(), File: f, CreatedAt: f.CreatedAt}
	if done {
		m.Preview = p
	}
	switch {
	case f.Kind == models.Image:
		m.URL = r.blob(f)
	case done:
		m.IsRendering = true
		m.Name = strings.TrimSuffix(f.Name, path.Ext(f.Name)) + "." + p.ImageFormat
		m.URL = r.thumbnail(f, p, fullImage).URL
	default:
		return nil
	}
	return m
}

// mediaImages returns the image of each file, or nil for a file without one.
func (r *Resolver) mediaImages(ctx context.Context, files []*models.File) ([]*model.MediaImage, error) {
	some := slices.DeleteFunc(slices.Clone(files), func(f *models.File) bool { return f == nil })
	previews, err := previewsOf(ctx, some)
	if err != nil {
		return nil, err
	}
	of := make(map[*models.File]*models.Preview, len(some))
	for i, f := range some {
		of[f] = previews[i]
	}
	images := make([]*model.MediaImage, len(files))
	for i, f := range files {
		images[i] = r.mediaImage(f, of[f])
	}
	return images, nil
}

// imagesOf returns the first images of each target, in their order.
func imagesOf[O comparable](ctx context.Context, r *Resolver, objs []O, on models.TargetType, id func(O) int64, first int32, ids []int64) ([][]*model.MediaImage, error) {
	if err := inRange("first", first, models.MaxFiles); err != nil {
		return nil, err
	}
	lists, err := batch.Load(ctx, objs, loadersOf(ctx).filesOn[on], id)
	if err != nil {
		return nil, err
	}
	images := make([][]*model.MediaImage, len(lists))
	for i, files := range lists {
		shown := slices.DeleteFunc(slices.Clone(files), func(f *models.File) bool {
			return f.ImageID() == 0 || ids != nil && !slices.Contains(ids, f.ImageID())
		})
		slices.SortFunc(shown, models.CompareImages)
		all, err := r.mediaImages(ctx, shown)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(m *model.MediaImage) bool { return m == nil })
		images[i] = all[:min(len(all), int(first))]
	}
	return images, nil
}

// defaultImages returns the first image of each target, or nil for a target without one.
func defaultImages[O comparable](ctx context.Context, r *Resolver, objs []O, on models.TargetType, id func(O) int64) ([]*model.MediaImage, error) {
	files, err := batch.Load(ctx, objs, loadersOf(ctx).images[on], id)
	if err != nil {
		return nil, err
	}
	return r.mediaImages(ctx, files)
}

// userImages returns the image URL for each of the given files of users, in the requested size and
// format, or nil for a user without an image.
func (r *Resolver) userImages(ctx context.Context, files []*models.File, request imageRequest) ([]*string, error) {
	images, err := r.mediaImages(ctx, files)
	if err != nil {
		return nil, err
	}
	shown := make([]*string, len(images))
	for i, image := range images {
		switch {
		case image == nil:
		case image.Preview == nil:
			shown[i] = &image.URL
		default:
			shown[i] = &r.thumbnail(image.File, image.Preview, request).URL
		}
	}
	return shown, nil
}

// blob returns the URL of the bytes of a file. It is signed if the bytes are not public, so the
// caller must be allowed to see the file.
func (r *Resolver) blob(f *models.File) string {
	url := r.URLs.Blob(f.ID, f.Name)
	if r.servesToAnyone(f) {
		return url
	}
	return r.signed(url, f)
}

// servesToAnyone reports whether the server serves the bytes of a file, and what is derived from
// them, at URLs without a signature.
func (r *Resolver) servesToAnyone(f *models.File) bool { return r.AnonymousRead && f.Public() }

// signed returns a signed URL of the bytes of a file or of a rendition.
func (r *Resolver) signed(url string, f *models.File) string {
	return r.URLs.Signed(url, f.ID, f.TakenDown, recordExpiry())
}
