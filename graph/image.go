package graph

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/internal/image/thumbnail"
	"github.com/meshyard/meshyard/models"
)

// imageFields has the fields of a file that its image needs.
var imageFields = fieldset.Of[models.File]("Name", "Kind", "Rank", "RenderingID", "RenderingRank", "CreatedAt",
	"Preview", "ThingState")

// mediaImage returns the image of a file, which was read with imageFields, or nil if it has none. f
// can be nil.
func (r *Resolver) mediaImage(f *models.File) *model.MediaImage {
	if f == nil || f.ImageID() == 0 {
		return nil
	}
	p := f.Preview
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

// imagesOf returns the first images of each target, in their order.
func imagesOf[O any](ctx context.Context, r *Resolver, objs []O, on models.TargetType, id func(O) int64, first int32,
	ids []int64) ([][]*model.MediaImage, error) {
	if err := inRange("first", first, models.MaxFiles); err != nil {
		return nil, err
	}
	lists, err := loadValues(objs, id, func(targets []int64) (map[int64][]*models.File, error) {
		return r.Store.FilesOn(ctx, selected(ctx, models.AllFileFields).With(imageFields), on, targets)
	})
	return convert(lists, err, func(files []*models.File) []*model.MediaImage {
		shown := slices.DeleteFunc(slices.Clone(files), func(f *models.File) bool {
			return f.ImageID() == 0 || ids != nil && !slices.Contains(ids, f.ImageID())
		})
		slices.SortFunc(shown, models.CompareImages)
		images := make([]*model.MediaImage, 0, min(len(shown), int(first)))
		for _, f := range shown {
			if m := r.at(ctx).mediaImage(f); m != nil && len(images) < int(first) {
				images = append(images, m)
			}
		}
		return images
	})
}

// firstImages returns the file with the first image of each target, or nil for a target without
// one.
func firstImages[O any](ctx context.Context, r *Resolver, objs []O, fields models.FileFields, on models.TargetType,
	id func(O) int64) ([]*models.File, error) {
	return loadValues(objs, id, func(targets []int64) (map[int64]*models.File, error) {
		return r.Store.FirstImages(ctx, fields, on, targets)
	})
}

// defaultImages returns the first image of each target, or nil for a target without one.
func defaultImages[O any](ctx context.Context, r *Resolver, objs []O, on models.TargetType,
	id func(O) int64) ([]*model.MediaImage, error) {
	found, err := firstImages(ctx, r, objs, selected(ctx, models.AllFileFields).With(imageFields), on, id)
	return convert(found, err, r.at(ctx).mediaImage)
}

// userImage returns the URL of an image of a user in the requested size and format, or nil if f is
// nil or no image.
func (r *Resolver) userImage(f *models.File, request imageRequest) *string {
	switch image := r.mediaImage(f); {
	case image == nil:
		return nil
	case image.Preview == nil:
		return &image.URL
	default:
		return &r.thumbnail(image.File, image.Preview, request).URL
	}
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
	return r.URLs.Signed(url, f.ID, f.TakenDown(), recordExpiry())
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
		r.format = map[model.ImageFormat]string{model.ImageFormatPng: thumbnail.PNG,
			model.ImageFormatJpeg: thumbnail.JPEG}[*format]
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
	return &model.Image{URL: r.renditionURL(f, "renders", p.Tag(), name+"."+format), Width: int32(width),
		Height: int32(height)}
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
