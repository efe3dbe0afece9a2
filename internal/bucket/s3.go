package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// s3Store is a bucket in S3 or a compatible service.
type s3Store struct {
	bucket *blob.Bucket
	// client and name are used for copies that exceed the limit of one request, which package blob
	// does not support.
	client *s3.Client
	name   string
	// signer makes presigned URLs. It is the bucket itself, or one of the same name at the endpoint
	// that clients reach. nil: bytes are not redirected.
	signer  *blob.Bucket
	signing *s3.Client // the client of signer
	url     *url.URL   // with the defaults of openS3
	// copyLimit and copyPart are constant except in tests.
	copyLimit, copyPart int64
}

// calculation is the parameter of the URL that says when requests have checksums: when_supported or
// when_required.
const calculation = "request_checksum_calculation"

func openS3(ctx context.Context, u *url.URL) (*s3Store, error) {
	// Content is verified by its SHA-256 where it matters. The checksum validation of the SDK logs a
	// line for each object without a checksum. It also fails after a seek on servers that return the
	// checksum of the whole object for a range.
	const validation = "response_checksum_validation"
	address, q := *u, u.Query()
	if !q.Has(validation) {
		q.Set(validation, "when_required")
	}
	// Many services other than AWS reject the checksums that the SDK adds to the end of a request.
	if other := q.Has("endpoint") || os.Getenv("AWS_ENDPOINT_URL") != "" ||
		os.Getenv("AWS_ENDPOINT_URL_S3") != ""; other &&
		!q.Has(calculation) && os.Getenv("AWS_REQUEST_CHECKSUM_CALCULATION") == "" {
		q.Set(calculation, "when_required")
	}
	address.RawQuery = q.Encode()
	b, client, err := openClient(ctx, &address)
	if err != nil {
		return nil, err
	}
	return &s3Store{bucket: b, client: client, signer: b, signing: client, url: &address, name: u.Host, copyLimit: maxCopy,
		copyPart: copyPartSize}, nil
}

// explain adds what to do to the error of a service that does not support a checksum.
func explain(err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "NotImplemented" {
		return fmt.Errorf("%w: if the service does not support checksums at the end of requests, add %s=when_required to --bucket-url", err, calculation)
	}
	return err
}

func (s *s3Store) close() error {
	err := s.bucket.Close()
	if s.signer != nil && s.signer != s.bucket {
		err = errors.Join(err, s.signer.Close())
	}
	return err
}

func (s *s3Store) ready(ctx context.Context) error {
	ok, err := s.bucket.IsAccessible(ctx)
	if err == nil && !ok {
		err = fmt.Errorf("S3 bucket %q: does not exist, or the credentials do not permit listing it", s.name)
	}
	return err
}

func (s *s3Store) promote(ctx context.Context, pending, content string, size int64, replace bool) error {
	if had, err := s.holds(ctx, content, size); had && !replace || err != nil {
		return err
	}
	err := s.copy(ctx, pending, content, size)
	if err != nil && !replace {
		// A concurrent promotion may have finished first, and its caller may have removed the
		// pending object.
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
			// A bucket may be shared; keys of others are skipped.
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

// notFound makes "no such key" match ErrNotExist. "No such bucket" matches too: a HEAD request
// returns a bare 404 for both.
func notFound(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return fmt.Errorf("%w: %w", ErrNotExist, err)
	}
	return err
}
