package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// partsOfSize is the number of parts of a multipart upload after which the parts double in size, so
// that uploads of any size have fewer than the 10,000 parts that S3 accepts.
const partsOfSize = 1000

// stage creates the multipart upload of pending/<name>.
func (s *s3Store) stage(ctx context.Context, u Staged) (string, error) {
	key := u.Key()
	multi, err := s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &s.name, Key: &key})
	if err != nil {
		return "", explain(err)
	}
	return *multi.UploadId, nil
}

// tailKey returns the key of the object with the bytes that follow the first from bytes, which are
// fewer than a part. Its name has their place, so that a tail is never mistaken for an earlier one.
func tailKey(u Staged, from int64) string { return fmt.Sprintf("%s%s.%d", StagedPrefix, u.Name, from) }

// parts returns the first parts of an upload that have at most the bytes that are committed, and
// their size. Parts behind them are those of a process that was killed before it committed them,
// and are replaced.
func (s *s3Store) parts(ctx context.Context, u Staged) (parts []types.CompletedPart, size int64, err error) {
	key := u.Key()
	pages := s3.NewListPartsPaginator(s.client, &s3.ListPartsInput{Bucket: &s.name, Key: &key, UploadId: &u.Multipart})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, 0, err
		}
		for _, p := range page.Parts {
			if int(*p.PartNumber) != len(parts)+1 || size+*p.Size > u.Size {
				return parts, size, nil
			}
			parts = append(parts, types.CompletedPart{PartNumber: p.PartNumber, ETag: p.ETag})
			size += *p.Size
		}
	}
	return parts, size, nil
}

func (s *s3Store) append(ctx context.Context, a *appending, r io.Reader) error {
	parts, size, err := s.parts(ctx, a.staged)
	if err != nil {
		return err
	}
	tail, err := s.tail(ctx, a.staged, size)
	if err != nil {
		return err
	}
	before := tailKey(a.staged, size) // remains until the next commit, which replaces it
	unhashed := len(tail)             // tail[unhashed:] is not hashed yet
	number := len(parts)
	// send sends the tail as a part. The bytes are hashed afterwards, because a failure ends at the
	// bytes before it.
	send := func() error {
		number++
		if err := s.sendPart(ctx, a.staged, number, tail); err != nil {
			return err
		}
		a.add(tail[unhashed:])
		size += int64(len(tail))
		tail, unhashed = tail[:0], 0
		if a.verify != nil {
			return nil
		}
		return a.store()
	}
	c := chunks.Get().(*chunk)
	defer chunks.Put(c)
	for {
		room := PartSize<<(number/partsOfSize) - len(tail)
		n, readErr := r.Read(c.buf[:min(room, len(c.buf))])
		tail = append(tail, c.buf[:n]...)
		if n == room {
			if err := send(); err != nil {
				return err
			}
		}
		if readErr == nil {
			readErr = ctx.Err()
		}
		if readErr == nil {
			continue
		}
		err := a.end(readErr, func() error {
			if len(tail) > unhashed {
				if err := s.put(context.WithoutCancel(ctx), tailKey(a.staged, size), tail); err != nil {
					return err
				}
				a.add(tail[unhashed:])
			}
			return a.store()
		})
		if before != tailKey(a.staged, size) && a.committed.Size >= size {
			_ = s.remove(context.WithoutCancel(ctx), before) // Finish removes what remains
		}
		return err
	}
}

// tail reads the bytes that follow the parts.
func (s *s3Store) tail(ctx context.Context, u Staged, from int64) ([]byte, error) {
	if u.Size == from {
		return nil, nil
	}
	r, _, err := s.open(ctx, tailKey(u, from))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	tail := make([]byte, u.Size-from, PartSize)
	if _, err := io.ReadFull(r, tail); err != nil {
		return nil, fmt.Errorf("the bytes after %d: %w", from, err)
	}
	return tail, nil
}

func (s *s3Store) sendPart(ctx context.Context, u Staged, number int, part []byte) error {
	key, n, size := u.Key(), int32(number), int64(len(part))
	_, err := s.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &s.name, Key: &key, UploadId: &u.Multipart, PartNumber: &n, ContentLength: &size, Body: bytes.NewReader(part),
	})
	if err != nil {
		return fmt.Errorf("part %d: %w", number, explain(err))
	}
	return nil
}

func (s *s3Store) put(ctx context.Context, key string, p []byte) error {
	size := int64(len(p))
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.name, Key: &key, ContentLength: &size,
		Body: bytes.NewReader(p)})
	return explain(err)
}

// finish sends the tail as the last part, and completes the multipart upload.
func (s *s3Store) finish(ctx context.Context, u Staged) error {
	key := u.Key()
	if o, err := s.stat(ctx, key); err == nil && o.Size == u.Size {
		return s.removeTails(ctx, u) // an earlier call has completed it
	}
	parts, size, err := s.parts(ctx, u)
	if err != nil {
		return err
	}
	tail, err := s.tail(ctx, u, size)
	if err != nil {
		return err
	}
	if len(tail) > 0 {
		if err := s.sendPart(ctx, u, len(parts)+1, tail); err != nil {
			return err
		}
		// listed again for its ETag
		if parts, size, err = s.parts(ctx, u); err != nil {
			return err
		}
	}
	if size != u.Size {
		return fmt.Errorf("the parts have %d bytes, not %d", size, u.Size)
	}
	_, err = s.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &s.name, Key: &key, UploadId: &u.Multipart, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	if err != nil {
		return explain(err)
	}
	return s.removeTails(ctx, u)
}

func (s *s3Store) removeTails(ctx context.Context, u Staged) error {
	for o, err := range s.walk(ctx, StagedPrefix+u.Name+".") {
		if err == nil {
			err = s.remove(ctx, o.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *s3Store) unstage(ctx context.Context, u Staged) error {
	var err error
	if u.Multipart != "" {
		key := u.Key()
		_, err = s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &s.name, Key: &key,
			UploadId: &u.Multipart})
		if isNoUpload(err) {
			err = nil
		}
	}
	return errors.Join(err, s.removeTails(ctx, u))
}

// isNoUpload reports whether a multipart upload does not exist, because it was completed or
// aborted.
func isNoUpload(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && api.ErrorCode() == "NoSuchUpload"
}

func (s *s3Store) stagedUploads(ctx context.Context) iter.Seq2[StagedUpload, error] {
	return func(yield func(StagedUpload, error) bool) {
		prefix := PendingPrefix
		pages := s3.NewListMultipartUploadsPaginator(s.client, &s3.ListMultipartUploadsInput{Bucket: &s.name,
			Prefix: &prefix})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if isNoUpload(err) { // gofakes3, if there has never been one
				break
			}
			if err != nil {
				yield(StagedUpload{}, err)
				return
			}
			for _, m := range page.Uploads {
				if checkKey(*m.Key) != nil {
					continue
				}
				if !yield(StagedUpload{Staged{Name: strings.TrimPrefix(*m.Key, PendingPrefix), Multipart: *m.UploadId},
					*m.Initiated}, nil) {
					return
				}
			}
		}
		for o, err := range s.walk(ctx, StagedPrefix) {
			name, _, _ := strings.Cut(strings.TrimPrefix(o.Key, StagedPrefix), ".")
			if !yield(StagedUpload{Staged{Name: name}, o.ModTime}, err) || err != nil {
				return
			}
		}
	}
}
