package models

import (
	"context"
	"errors"
	"image"
	"io"
	"strings"

	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/internal/thumbnail"
)

// Derived gives the key of something that was derived of a file, a picture in some size, three.js JSON or GLB, to whoever holds a signed address or, without one,
// where everybody may have the bytes. tag and name are those of an address. What it is not named by an address that was handed out is NotFound.
func (s *Store) Derived(ctx context.Context, fileID int64, signed bool, tag, name string) (part preview.Part, key string, err error) {
	f, _, err := s.Blob(ctx, fileID, signed)
	if err != nil {
		return part, "", err
	}
	previews, err := s.PreviewsByID(ctx, []int64{f.PreviewID})
	if err != nil {
		return part, "", err
	}
	p := previews[f.PreviewID]
	absent := fail(NotFound, "there is no %.40q of file %d", name, fileID)
	if p == nil || p.State != PreviewDone || p.Tag() != tag {
		return part, "", absent
	}
	switch size, written, _ := strings.Cut(name, "."); {
	case name == preview.Threejs.Name && p.Threejs:
		return preview.Threejs, p.Key(name), nil
	case name == preview.GLB.Name && p.GLB:
		return preview.GLB, p.Key(name), nil
	case written != p.Picture || written == "":
		return part, "", absent
	case size == thumbnail.Full:
		return preview.Picture(size, written), p.Key(name), nil
	default:
		cut, ok := thumbnail.SizeNamed(size)
		if !ok {
			return part, "", absent
		}
		err := s.cut(ctx, p, cut)
		return preview.Picture(size, written), p.Key(name), err
	}
}

// cuttersAtOnce bounds how many pictures are inflated at the same time: each takes some ten MiB.
const cuttersAtOnce = 4

// cut makes sure that a picture is there in a size: it is cut when first asked for.
func (s *Store) cut(ctx context.Context, p *Preview, size thumbnail.Size) error {
	part := preview.Picture(size.String(), p.Picture)
	key := p.Key(part.Name)
	if ok, err := s.bucket.Has(ctx, key); ok || err != nil {
		return err
	}
	failed, err := s.cuts.Do(ctx, key, func(ctx context.Context) error {
		if ok, err := s.bucket.Has(ctx, key); ok || err != nil {
			return err // who came before has cut it
		}
		select {
		case s.cutters <- struct{}{}:
			defer func() { <-s.cutters }()
		case <-ctx.Done():
			return ctx.Err()
		}
		whole, err := s.picture(ctx, p.Key(preview.Picture(thumbnail.Full, p.Picture).Name))
		if err != nil {
			return err
		}
		small := thumbnail.Cut(whole, size)
		return s.bucket.PutDerived(ctx, key, part.ContentType, func(w io.Writer) error { return thumbnail.Encode(w, small, p.Picture) })
	})
	return errors.Join(failed, err)
}

// picture reads a picture that this server wrote.
func (s *Store) picture(ctx context.Context, key string) (image.Image, error) {
	r, _, err := s.bucket.Reader(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	img, _, err := image.Decode(r)
	return img, err
}
