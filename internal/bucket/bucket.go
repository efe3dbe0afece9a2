// Package bucket keeps the bytes of the catalogue: uploads that nobody has
// claimed yet below pending/, and content, named by its SHA-256 and kept once,
// below files/.
//
// Bytes are always durable before a call returns, so that a caller may commit
// the row that speaks of them next. What a crash leaves behind is never
// missing bytes, only objects without a row, which [Bucket.Objects] finds and
// [Bucket.Remove] clears.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"time"
)

// ErrNotExist is what errors match when the object asked for is not there. It
// is not [io/fs.ErrNotExist]: a lost directory or a lost S3 bucket met while
// writing must not be taken for a missing object.
var ErrNotExist = errors.New("object does not exist")

// Bucket is a directory or an S3 bucket. It is safe for concurrent use, also
// by several processes.
type Bucket struct {
	store store
}

// Object describes one stored object.
type Object struct {
	Key  string
	Size int64
	// ModTime is when the bytes were put, or for content first promoted.
	ModTime time.Time
	// Partial marks a temporary file of a file bucket: of a writer at work
	// if it is young, of one that was killed if it is old. S3 has none:
	// unfinished parts are invisible there, and a lifecycle rule of the
	// bucket (AbortIncompleteMultipartUpload) clears those of killed writers.
	Partial bool
}

// store is where a directory and S3 differ. Keys reach it checked.
type store interface {
	ready(ctx context.Context) error
	create(ctx context.Context, key, contentType string) (upload, error)
	promote(ctx context.Context, pending, content string, size int64) error
	remove(ctx context.Context, key string) error
	walk(ctx context.Context, prefix string) iter.Seq2[Object, error]
	stat(ctx context.Context, key string) (Object, error)
	open(ctx context.Context, key string) (io.ReadSeekCloser, Object, error)
	presign(ctx context.Context, key string, h ResponseHeaders) (string, bool, error)
	close() error
}

// upload is an object being written. Exactly one of commit and abort ends it,
// or abort after a commit that failed.
type upload interface {
	io.Writer
	// commit makes the object visible and durable.
	commit() error
	// abort leaves nothing of the object, even when the context of the
	// upload has ended.
	abort()
}

// Open opens the bucket at address:
//
//	file:///var/lib/meshyard
//	s3://name?region=eu-central-1&endpoint=https://s3.example.org&use_path_style=true
//
// A directory is created when absent, with mode 0750; its file system must
// have hard links. An S3 bucket must exist; credentials come from where the
// AWS SDK looks for them, and it is first spoken to by [Bucket.Ready].
func Open(ctx context.Context, address string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("open bucket: %w", err)
	}
	var s store
	switch u.Scheme {
	case "file":
		s, err = openDirectory(u)
	case "s3":
		s, err = openS3(ctx, u)
	default:
		err = errors.New("the address must begin with file:// or s3://")
	}
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", u.Redacted(), err)
	}
	return &Bucket{store: s}, nil
}

// Close frees what the bucket holds. Calls after it fail.
func (b *Bucket) Close() error { return b.store.close() }

// Ready tells whether the bucket answers. It costs two stats, or one listing
// of at most one object.
func (b *Bucket) Ready(ctx context.Context) error {
	if err := b.store.ready(ctx); err != nil {
		return fmt.Errorf("bucket ready: %w", err)
	}
	return nil
}

// Promote makes the pending object also the content files/<sha256>, of size
// bytes. It may be repeated, and several promotions of the same content may
// run at once. Content that is there already with that size is kept with its
// ModTime, so a sweep of content must not trust age alone; content of another
// size is replaced in one step. The pending object stays: callers remove it
// after their commit.
//
// The error matches [ErrNotExist] if neither the pending object nor the
// content is there. That the pending bytes have this hash is the caller's
// word, from [Upload].
func (b *Bucket) Promote(ctx context.Context, pendingKey, sha256 string, size int64) error {
	content := ContentKey(sha256)
	err := errors.Join(checkPending(pendingKey), checkContent(content))
	if err == nil {
		err = b.store.promote(ctx, pendingKey, content, size)
	}
	if err != nil {
		return fmt.Errorf("promote %s to %s: %w", pendingKey, content, err)
	}
	return nil
}

// Remove deletes an object. That it is missing is fine. The removal may be
// undone by a loss of power: whoever sweeps will meet the object again.
func (b *Bucket) Remove(ctx context.Context, key string) error {
	err := checkKey(key)
	if err == nil {
		err = b.store.remove(ctx, key)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", key, err)
	}
	return nil
}

// Objects walks the objects whose keys begin with prefix, in no order, in
// constant memory. An error ends the walk. The object just yielded may be
// removed; of those that come and go meanwhile, some are seen.
func (b *Bucket) Objects(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for o, err := range b.store.walk(ctx, prefix) {
			if err != nil {
				yield(Object{}, fmt.Errorf("list %q: %w", prefix, err))
				return
			}
			if !yield(o, nil) {
				return
			}
		}
	}
}

// Stat describes the object at key, or returns an error matching [ErrNotExist].
func (b *Bucket) Stat(ctx context.Context, key string) (Object, error) {
	var o Object
	err := checkKey(key)
	if err == nil {
		o, err = b.store.stat(ctx, key)
	}
	if err != nil {
		return Object{}, fmt.Errorf("stat %s: %w", key, err)
	}
	return o, nil
}

// Has tells whether there is an object at key.
func (b *Bucket) Has(ctx context.Context, key string) (bool, error) {
	_, err := b.Stat(ctx, key)
	if errors.Is(err, ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Reader opens the object at key from its first byte, or returns an error
// matching [ErrNotExist]. The context must live as long as the reader.
func (b *Bucket) Reader(ctx context.Context, key string) (io.ReadSeekCloser, Object, error) {
	var r io.ReadSeekCloser
	var o Object
	err := checkKey(key)
	if err == nil {
		r, o, err = b.store.open(ctx, key)
	}
	if err != nil {
		return nil, Object{}, fmt.Errorf("read %s: %w", key, err)
	}
	return r, o, nil
}

// ResponseHeaders are the headers of the response to a presigned URL. An empty one is left to S3.
type ResponseHeaders struct {
	ContentType        string
	ContentDisposition string
	CacheControl       string
}

// PresignGet returns a URL under which anyone can GET the object at key for [PresignExpiry], with
// the given response headers. ok is false for a directory, which has no URLs: read its objects with
// [Bucket.Reader]. PresignGet does not check that the object exists.
func (b *Bucket) PresignGet(ctx context.Context, key string, h ResponseHeaders) (url string, ok bool, err error) {
	err = checkKey(key)
	if err == nil {
		url, ok, err = b.store.presign(ctx, key, h)
	}
	if err != nil {
		return "", false, fmt.Errorf("presign %s: %w", key, err)
	}
	return url, ok, nil
}
