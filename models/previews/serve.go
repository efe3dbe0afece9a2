package previews

import (
	"context"
	"errors"
	"image"
	"io"
	"path"
	"strings"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/image/thumbnail"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/models"
)

// Derived returns the object key of a rendition of a file (an image in some size, three.js JSON or
// GLB) if the signature permits access to the file; see [Store.Blob]. tag and name are from the
// URL. The error is NotFound if the file has no such rendition, and ErrGenerating if its renditions
// are being generated. The object may nevertheless be missing; see [Store.RegeneratePreview].
func (s *Store) Derived(ctx context.Context, fileID int64, by models.Signature, opened *auth.Opened, tag,
	name string) (part preview.Part, key string, err error) {
	f, err := s.core.Accessible(ctx, fileID, by, opened)
	if err != nil {
		return part, "", err
	}
	absent := models.Fail(models.NotFound, "file %d has no rendition %.40q", fileID, name)
	p, err := s.core.ReadPreview(ctx, f.PreviewID)
	if err != nil && models.CodeOf(err) != models.NotFound {
		return part, "", err
	}
	if err != nil || p.Tag() != tag {
		return part, "", absent
	}
	switch p.State {
	case models.PreviewDone:
	case models.PreviewWaiting, models.PreviewRunning:
		return part, "", ErrGenerating
	default:
		return part, "", absent
	}
	if part, size := partNamed(p, name); part.Name != "" {
		if size != nil {
			err = s.scale(ctx, p, part, *size)
		}
		return part, p.Key(part.Object()), err
	}
	return part, "", absent
}

// partNamed returns the part with a name, and the size that it is scaled to, if any. It returns no
// part if there is none of that name.
func partNamed(p *models.Preview, name string) (preview.Part, *thumbnail.Size) {
	for _, part := range p.Parts() {
		if part.Name == name {
			return part, nil
		}
	}
	size, format, _ := strings.Cut(name, ".")
	if known, ok := thumbnail.SizeNamed(size); ok && p.ImageFormat != "" &&
		(format == thumbnail.PNG || format == thumbnail.JPEG) {
		return preview.ImagePart(size, format), &known
	}
	return preview.Part{}, nil
}

// scalingAtOnce is the maximum number of images that are decoded at the same time: each takes about
// ten MiB.
const scalingAtOnce = 4

// scale ensures that an image exists in a size and a format: it is made on the first request.
func (s *Store) scale(ctx context.Context, p *models.Preview, part preview.Part, size thumbnail.Size) error {
	key := p.Key(part.Object())
	if ok, err := s.core.Bucket.Has(ctx, key); ok || err != nil {
		return err
	}
	failed, err := s.scalings.Do(ctx, key, func(ctx context.Context) error {
		if ok, err := s.core.Bucket.Has(ctx, key); ok || err != nil {
			return err // a concurrent call has stored it
		}
		select {
		case s.scaling <- struct{}{}:
			defer func() { <-s.scaling }()
		case <-ctx.Done():
			return ctx.Err()
		}
		whole, err := s.readImage(ctx, p.Key(preview.ImagePart(thumbnail.Full, p.ImageFormat).Object()))
		if err != nil {
			return err
		}
		small, format := thumbnail.Scale(whole, size), strings.TrimPrefix(path.Ext(part.Name), ".")
		return s.core.Bucket.PutDerived(ctx, key, part.ContentType,
			func(w io.Writer) error { return thumbnail.Encode(w, small, format) })
	})
	return errors.Join(failed, err)
}

// readImage reads an image that this server wrote.
func (s *Store) readImage(ctx context.Context, key string) (image.Image, error) {
	r, _, err := s.core.Bucket.Reader(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	img, _, err := image.Decode(r)
	return img, err
}
