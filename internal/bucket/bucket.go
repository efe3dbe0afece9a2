// Package bucket stores the bytes of files in a directory or in S3: uploads that have not arrived
// completely below staged/, those that are not finalized yet below pending/, finalized content
// below files/, and derived objects such as thumbnails below derived/. Content is named by its
// SHA-256, so equal files are stored once. A mark shows which database collects garbage in the
// bucket.
//
// A method that writes returns only when the bytes are durable, so the caller can commit the
// database row that refers to them next. A crash never loses bytes that a row refers to. It can
// leave objects without a row, which [Bucket.Objects] lists and [Bucket.Remove] deletes.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/outage"
)

// ErrNotExist matches the errors for a missing object. It differs from [io/fs.ErrNotExist], so that
// a missing directory or a missing S3 bucket during a write is not mistaken for a missing object.
var ErrNotExist = errors.New("object does not exist")

// Bucket is a directory or an S3 bucket. It is safe for concurrent use, also by several processes.
type Bucket struct {
	store     store
	libraries map[string]string // folders by name; see [Bucket.ServeLibraries]
}

// Object describes a stored object.
type Object struct {
	Key  string
	Size int64
	// ModTime is when the bytes were written; for content, when it was first promoted.
	ModTime time.Time
	// Partial marks a temporary file in a directory. A recent one belongs to an active writer, an
	// old one to a writer that was killed. S3 has none: unfinished parts are invisible there, and a
	// lifecycle rule of the bucket (AbortIncompleteMultipartUpload) deletes those of killed
	// writers.
	Partial bool
}

// store is what differs between a directory and S3. Bucket validates keys before it calls a store.
type store interface {
	ready(ctx context.Context) error
	create(ctx context.Context, key, contentType string) (upload, error)
	// promote keeps content that has the size, unless replace is set.
	promote(ctx context.Context, pending, content string, size int64, replace bool) error
	remove(ctx context.Context, key string) error
	walk(ctx context.Context, prefix string) iter.Seq2[Object, error]
	stat(ctx context.Context, key string) (Object, error)
	open(ctx context.Context, key string) (io.ReadSeekCloser, Object, error)
	presign(ctx context.Context, key string, h ResponseHeaders) (string, bool, error)
	// The methods of uploads that arrive in several requests; see Staged.
	stage(ctx context.Context, s Staged) (multipart string, err error)
	append(ctx context.Context, a *appending, r io.Reader) error
	finish(ctx context.Context, s Staged) error
	unstage(ctx context.Context, s Staged) error
	stagedUploads(ctx context.Context) iter.Seq2[StagedUpload, error]
	presignParts(ctx context.Context, s Staged, parts []Part, expires time.Duration) (ok bool, err error)
	stagedSize(ctx context.Context, s Staged) (int64, error)
	duplicate(ctx context.Context, content, pending string, size int64) error
	close() error
}

// upload is an object being written. The caller calls either commit or abort, or abort after a
// failed commit.
type upload interface {
	io.Writer
	// commit makes the object visible and durable.
	commit() error
	// abort removes everything of the object, even if the context of the upload is done.
	abort()
}

// Open opens the bucket at a URL:
//
//	file:///var/lib/meshyard, or file:///C:/meshyard on Windows
//	s3://name?region=eu-central-1&endpoint=https://s3.example.org&use_path_style=true
//
// A missing directory is created with mode 0750. Its file system must support hard links. An S3
// bucket must exist. Credentials come from the default chain of the AWS SDK. Open does not contact
// S3; use [Bucket.Ready] for that.
func Open(ctx context.Context, rawURL string) (*Bucket, error) {
	u, err := parseURL(rawURL)
	if err != nil {
		return nil, fmt.Errorf("open bucket: %w", err)
	}
	var s store
	if u.Scheme == "file" {
		s, err = openDirectory(u)
	} else {
		s, err = openS3(ctx, u)
	}
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", u.Redacted(), err)
	}
	return &Bucket{store: s}, nil
}

// CheckURL returns an error if Open would reject the URL. It creates no directory.
func CheckURL(ctx context.Context, rawURL string) error {
	u, err := parseURL(rawURL)
	if err != nil || u.Scheme == "file" {
		return err
	}
	s, err := openS3(ctx, u)
	if err != nil {
		return err
	}
	return s.close()
}

func parseURL(rawURL string) (*url.URL, error) {
	u, err := url.Parse(rawURL)
	switch {
	case err != nil:
		// The error of url.Parse contains the URL, perhaps with a secret.
		return nil, errors.New(
			"the URL is invalid: it must begin with file:// or s3://, and special characters must be percent-encoded")
	case u.Scheme == "file" && (u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(directoryPath(u)) ||
		u.RawQuery != ""):
		return nil, errors.New("a directory must be file:///absolute/path, without options")
	case u.Scheme != "file" && u.Scheme != "s3":
		return nil, errors.New("the URL must begin with file:// or s3://")
	}
	return u, nil
}

// Close releases the resources of the bucket. The bucket must not be used afterwards.
func (b *Bucket) Close() error { return b.store.close() }

// Ready checks that the bucket is reachable and that the disk of a directory is not nearly full. It
// costs a few system calls, or one list request of at most one object.
func (b *Bucket) Ready(ctx context.Context) error {
	if err := b.store.ready(ctx); err != nil {
		return fmt.Errorf("bucket ready: %w", err)
	}
	return nil
}

// directory returns the directory of the bucket, or nil if it is in S3.
func (b *Bucket) directory() *directory {
	s := b.store
	if m, wrapped := s.(measured); wrapped {
		s = m.store
	}
	d, _ := s.(*directory)
	return d
}

// Free returns how many bytes the disk of a directory has left, and false for a bucket in S3.
func (b *Bucket) Free() (bytes uint64, ok bool) {
	if d := b.directory(); d != nil {
		return outage.Available(d.path)
	}
	return 0, false
}

// Probe checks that the bucket can be written: it stores a pending object of one byte and removes
// it.
func (b *Bucket) Probe(ctx context.Context) error {
	u, err := b.Put(ctx, strings.NewReader("."), 1)
	if err != nil {
		return err
	}
	return b.Remove(ctx, u.Key)
}

// Promote copies the pending object to the content object files/<sha256>, which has size bytes. It
// is idempotent, and concurrent promotions of the same content are safe. Existing content keeps its
// ModTime, so a garbage collector must not decide by age alone. If its size or its bytes are wrong,
// it is replaced atomically. The pending object remains: the caller removes it after its commit.
//
// The error matches [ErrNotExist] if neither the pending object nor the content exists, and
// [ErrDamaged] if the pending object does not have the hash while there is content. New content is
// not verified: its hash comes from [Upload].
func (b *Bucket) Promote(ctx context.Context, pendingKey, sha256 string, size int64) error {
	return b.promote(ctx, pendingKey, sha256, size, false)
}

// PromoteDamaged is like Promote, but also replaces existing content of that size, which is known
// to be damaged.
func (b *Bucket) PromoteDamaged(ctx context.Context, pendingKey, sha256 string, size int64) error {
	return b.promote(ctx, pendingKey, sha256, size, true)
}

func (b *Bucket) promote(ctx context.Context, pendingKey, sha256 string, size int64, replace bool) error {
	content := ContentKey(sha256)
	err := errors.Join(checkPending(pendingKey), checkContent(content))
	if err == nil && !replace {
		if replace, err = b.isDamaged(ctx, content, sha256, size); replace {
			// Content that other files use is only replaced by bytes that are certainly right.
			err = b.verify(ctx, pendingKey, sha256)
		}
	}
	if err == nil {
		err = b.store.promote(ctx, pendingKey, content, size, replace)
	}
	if err != nil {
		return fmt.Errorf("promote %s to %s: %w", pendingKey, content, err)
	}
	return nil
}

// Duplicate makes the content files/<sha256>, which has size bytes, a new pending object, and
// returns its key. The error matches [ErrNotExist] if the content does not exist, and [ErrDamaged]
// if it has another hash.
func (b *Bucket) Duplicate(ctx context.Context, sha256 string, size int64) (key string, err error) {
	content, pending := ContentKey(sha256), PendingPrefix+randomName()
	if err = checkContent(content); err == nil {
		err = b.verify(ctx, content, sha256)
	}
	if err == nil {
		err = b.store.duplicate(ctx, content, pending, size)
	}
	if err != nil {
		return "", fmt.Errorf("duplicate %s: %w", content, err)
	}
	return pending, nil
}

// Remove deletes an object. It returns nil if the object does not exist. After a power failure the
// object may exist again; the garbage collector finds it.
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

// Objects iterates over the objects whose keys begin with prefix, in no particular order, in
// constant memory. An error ends the iteration. The caller may remove the current object. Objects
// that are created or removed during the iteration may be missing.
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

// Stat describes the object at key. The error matches [ErrNotExist] if it does not exist.
func (b *Bucket) Stat(ctx context.Context, key string) (Object, error) {
	var o Object
	var err error
	if strings.HasPrefix(key, LibraryPrefix) {
		var r io.Closer
		if r, o, err = b.library(ctx, key); err == nil {
			err = r.Close()
		}
	} else if err = checkKey(key); err == nil {
		o, err = b.store.stat(ctx, key)
	}
	if err != nil {
		return Object{}, fmt.Errorf("stat %s: %w", key, err)
	}
	return o, nil
}

// Has reports whether the object at key exists.
func (b *Bucket) Has(ctx context.Context, key string) (bool, error) {
	_, err := b.Stat(ctx, key)
	if errors.Is(err, ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Reader opens the object at key. The error matches [ErrNotExist] if it does not exist. For a
// directory the reader is an *os.File. ctx must remain valid until the reader is closed.
func (b *Bucket) Reader(ctx context.Context, key string) (io.ReadSeekCloser, Object, error) {
	var r io.ReadSeekCloser
	var o Object
	var err error
	if strings.HasPrefix(key, LibraryPrefix) {
		r, o, err = b.library(ctx, key)
	} else if err = checkKey(key); err == nil {
		r, o, err = b.store.open(ctx, key)
	}
	if err != nil {
		return nil, Object{}, fmt.Errorf("read %s: %w", key, err)
	}
	return r, o, nil
}

// ResponseHeaders are the headers of the response to a presigned URL. S3 chooses the value of an
// empty one.
type ResponseHeaders struct {
	ContentType        string
	ContentDisposition string
	CacheControl       string
}

// Delivery says how the bytes of objects reach clients. It has no effect on a directory, whose
// bytes this process always sends.
type Delivery struct {
	// Stream makes this process send the bytes. Otherwise [Bucket.PresignGet] returns URLs of the
	// service to which requests are redirected.
	Stream bool
	// PublicURL is the endpoint of the service in presigned URLs, for clients that cannot reach the
	// one that this process uses, such as https://cdn.example.org. Empty: the same one.
	PublicURL string
}

// Deliver sets how bytes reach clients. Call it before the bucket is used.
func (b *Bucket) Deliver(ctx context.Context, d Delivery) error {
	if s, ok := b.store.(*s3Store); ok {
		return s.deliver(ctx, d)
	}
	return nil
}

// PresignGet returns a URL under which anyone can GET the object at key for 5 minutes, with
// the given response headers. ok is false for a directory, which has no URLs, and if objects are
// streamed: read them with [Bucket.Reader]. It is false for files in libraries, too. PresignGet
// does not check that the object exists.
func (b *Bucket) PresignGet(ctx context.Context, key string, h ResponseHeaders) (url string, ok bool, err error) {
	if strings.HasPrefix(key, LibraryPrefix) {
		return "", false, nil
	}
	err = checkKey(key)
	if err == nil {
		url, ok, err = b.store.presign(ctx, key, h)
	}
	if err != nil {
		return "", false, fmt.Errorf("presign %s: %w", key, err)
	}
	return url, ok, nil
}
