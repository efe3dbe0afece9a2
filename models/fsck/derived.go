package fsck

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/previews"
)

// previews checks that the objects of finished previews exist.
func (r *run) previews(ctx context.Context, after string, done func(string)) error {
	return r.pictures.EachFinishedPreview(ctx, idAfter(after), func(page []*models.Preview) error {
		err := atOnce(ctx, r.Workers, page, func(ctx context.Context, p *models.Preview) error {
			for _, key := range previews.Objects(p) {
				if has, err := r.core.Bucket.Has(ctx, key); err != nil {
					return err
				} else if !has {
					return r.found(ctx, fmt.Sprintf("preview %d: object %s is missing (meshyard derive --again missing makes it)",
						p.ID, key), r.regenerate(p))
				}
			}
			return nil
		})
		done(strconv.FormatInt(page[len(page)-1].ID, 10))
		return err
	})
}

func (r *run) regenerate(p *models.Preview) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		_, err := r.pictures.Regenerate(ctx, p)
		return "running servers make it again", err
	}
}

// derived checks that a derived object is complete.
func (r *run) derived(ctx context.Context, o bucket.Object) error {
	if o.Partial {
		return nil
	}
	complete, err := r.isComplete(ctx, o)
	if errors.Is(err, bucket.ErrNotExist) { // removed since it was listed
		return nil
	}
	if complete || err != nil {
		return err
	}
	return r.found(ctx, fmt.Sprintf("object %s: is incomplete or damaged (%d bytes)", o.Key, o.Size),
		func(ctx context.Context) (string, error) {
			derived, err := r.pictures.DerivedFrom(ctx, bucket.ContentOf(o.Key))
			if err != nil {
				return "", err
			}
			if err := r.core.Bucket.Remove(ctx, o.Key); err != nil {
				return "", err
			}
			for _, p := range derived {
				if slices.Contains(previews.Objects(p), o.Key) {
					return r.regenerate(p)(ctx)
				}
			}
			return "removed; it is made again when it is needed", nil // an image in another size
		})
}

// isComplete reports whether a derived object ends where its format says. With Rehash, it also
// reads compressed objects, whose checksum it verifies.
func (r *run) isComplete(ctx context.Context, o bucket.Object) (bool, error) {
	const pngEnd, jpegEnd = "IEND\xaeB`\x82", "\xff\xd9"
	switch {
	case strings.HasSuffix(o.Key, ".png"):
		return r.ends(ctx, o, pngEnd)
	case strings.HasSuffix(o.Key, ".jpg"):
		return r.ends(ctx, o, jpegEnd)
	case !strings.HasSuffix(o.Key, ".glb") && (!strings.HasSuffix(o.Key, ".gz") || !r.Rehash):
		return o.Size > 0, nil
	}
	reader, _, err := r.core.Bucket.Reader(ctx, o.Key)
	if err != nil {
		return false, err
	}
	defer reader.Close()
	if strings.HasSuffix(o.Key, ".gz") {
		unpacked, err := gzip.NewReader(reader)
		if err == nil {
			_, err = io.Copy(io.Discard, unpacked)
		}
		return err == nil, ignoreCorrupt(err)
	}
	// The third number of a GLB is its length (glTF 2.0, section 4.4.2).
	head := make([]byte, 12)
	if _, err := io.ReadFull(reader, head); err != nil {
		return false, ignoreCorrupt(err)
	}
	return bytes.HasPrefix(head, []byte("glTF")) && int64(binary.LittleEndian.Uint32(head[8:])) == o.Size, nil
}

// ends reports whether an object ends with some bytes.
func (r *run) ends(ctx context.Context, o bucket.Object, with string) (bool, error) {
	if o.Size < int64(len(with)) {
		return false, nil
	}
	reader, _, err := r.core.Bucket.Reader(ctx, o.Key)
	if err != nil {
		return false, err
	}
	defer reader.Close()
	if _, err := reader.Seek(o.Size-int64(len(with)), io.SeekStart); err != nil {
		return false, err
	}
	tail := make([]byte, len(with))
	if _, err := io.ReadFull(reader, tail); err != nil {
		return false, ignoreCorrupt(err)
	}
	return string(tail) == with, nil
}

// ignoreCorrupt returns nil for an error that says that the bytes are incomplete or damaged.
func ignoreCorrupt(err error) error {
	if _, corrupt := errors.AsType[flate.CorruptInputError](err); corrupt {
		return nil
	}
	for _, fault := range []error{io.EOF, io.ErrUnexpectedEOF, gzip.ErrHeader, gzip.ErrChecksum} {
		if errors.Is(err, fault) {
			return nil
		}
	}
	return err
}
