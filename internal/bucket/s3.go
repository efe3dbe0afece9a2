package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/s3blob" // opens s3:// addresses
	"gocloud.dev/gcerrors"
)

// s3Store is a bucket on S3 or what speaks its protocol.
type s3Store struct {
	bucket *blob.Bucket
	// client and name are for copies larger than one request may ask for,
	// which blob knows nothing of.
	client *s3.Client
	name   string
	// copyLimit and copyPart are constants but for tests.
	copyLimit, copyPart int64
}

func openS3(ctx context.Context, u *url.URL) (*s3Store, error) {
	// Whole content is checked by its SHA-256, where it matters. The SDK's own
	// check of what it reads fails after a seek on a server that answers a
	// range with the checksum of the whole, and logs a line for each object
	// that has none.
	const validation = "response_checksum_validation"
	address := *u
	if q := u.Query(); !q.Has(validation) {
		q.Set(validation, "when_required")
		address.RawQuery = q.Encode()
	}
	b, err := blob.OpenBucket(ctx, address.String())
	if err != nil {
		return nil, err
	}
	s := &s3Store{bucket: b, name: u.Host, copyLimit: maxCopy, copyPart: copyPartSize}
	if !b.As(&s.client) {
		b.Close()
		return nil, errors.New("no S3 client behind the bucket")
	}
	return s, nil
}

func (s *s3Store) close() error { return s.bucket.Close() }

func (s *s3Store) ready(ctx context.Context) error {
	ok, err := s.bucket.IsAccessible(ctx)
	if err == nil && !ok {
		err = fmt.Errorf("there is no S3 bucket %q, or it may not be listed", s.name)
	}
	return err
}

func (s *s3Store) promote(ctx context.Context, pending, content string, size int64) error {
	if had, err := s.holds(ctx, content, size); had || err != nil {
		return err
	}
	err := s.copy(ctx, pending, content, size)
	if err != nil {
		// A promotion beside this one may have been first, and its caller
		// so quick that the pending object went away before or meanwhile.
		if had, _ := s.holds(ctx, content, size); had {
			return nil
		}
	}
	return err
}

func (s *s3Store) holds(ctx context.Context, content string, size int64) (bool, error) {
	o, err := s.stat(ctx, content)
	if errors.Is(err, ErrNotExist) {
		return false, nil
	}
	return err == nil && o.Size == size, err
}

func (s *s3Store) remove(ctx context.Context, key string) error {
	if err := s.bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return err
	}
	return nil
}

func (s *s3Store) walk(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		list := s.bucket.List(&blob.ListOptions{Prefix: prefix})
		for {
			o, err := list.Next(ctx)
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Object{}, err)
				return
			}
			// A bucket may be shared with others, whose keys are not ours
			// to name.
			if checkKey(o.Key) != nil {
				continue
			}
			if !yield(Object{Key: o.Key, Size: o.Size, ModTime: o.ModTime}, nil) {
				return
			}
		}
	}
}

func (s *s3Store) stat(ctx context.Context, key string) (Object, error) {
	a, err := s.bucket.Attributes(ctx, key)
	if err != nil {
		return Object{}, notFound(err)
	}
	return Object{Key: key, Size: a.Size, ModTime: a.ModTime}, nil
}

func (s *s3Store) open(ctx context.Context, key string) (io.ReadSeekCloser, Object, error) {
	r, err := s.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, Object{}, notFound(err)
	}
	return r, Object{Key: key, Size: r.Size(), ModTime: r.ModTime()}, nil
}

// notFound makes S3's "no such key" match ErrNotExist. So does "no such
// bucket": a HEAD is answered with a bare 404 for both.
func notFound(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return fmt.Errorf("%w: %w", ErrNotExist, err)
	}
	return err
}
