package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/gabriel-vasile/mimetype"
)

// ErrDamaged matches the error of [Copy] for an object whose bytes do not have the expected
// SHA-256.
var ErrDamaged = errors.New("the SHA-256 of the object does not match its content")

// ErrUnreadable matches the errors of [Copy] and [Bucket.MarkedReader] for an object that
// [IsUnreadable].
var ErrUnreadable = errors.New("the object cannot be read")

// IsUnreadable reports whether an error of reading an object means that the disk or the permissions
// of its file prevent it. Other objects may be readable.
func IsUnreadable(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, fs.ErrPermission)
}

// Copy copies the object fromKey of a bucket to the object toKey of another one, and returns the
// number of bytes. If the destination has an object of the same key and size, Copy does nothing and
// returns 0. If sum is not empty, the bytes must have that SHA-256, in lower-case hex: otherwise
// the error matches [ErrDamaged] and nothing is stored. The error matches [ErrNotExist] if there is
// no object to copy, and [ErrUnreadable] if it cannot be read.
//
// Only one process may copy to a destination at a time, and nothing else may write to it.
func Copy(ctx context.Context, to *Bucket, toKey string, from *Bucket, fromKey, sum string) (n int64, err error) {
	there, err := to.Stat(ctx, toKey)
	if err == nil {
		// Not with Reader: S3 would start to send the object.
		if o, err := from.Stat(ctx, fromKey); err != nil || o.Size == there.Size {
			return 0, err
		}
	} else if !errors.Is(err, ErrNotExist) {
		return 0, err
	}
	return Replace(ctx, to, toKey, from, fromKey, sum)
}

// Replace is like Copy, but also replaces an object of the same size.
func Replace(ctx context.Context, to *Bucket, toKey string, from *Bucket, fromKey, sum string) (n int64, err error) {
	r, err := from.MarkedReader(ctx, fromKey)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err = to.copyFrom(ctx, toKey, r, sum)
	if err != nil {
		return n, fmt.Errorf("copy %s to %s: %w", fromKey, toKey, err)
	}
	return n, nil
}

// unreadable makes an error of reading an object match [ErrUnreadable] if it is one.
func unreadable(err error) error {
	if IsUnreadable(err) {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return err
}

// MarkedReader is like Reader, but its errors, and those of the reader, match [ErrUnreadable] if
// the object cannot be read. This distinguishes them from errors of writing what is read.
func (b *Bucket) MarkedReader(ctx context.Context, key string) (io.ReadSeekCloser, error) {
	r, _, err := b.Reader(ctx, key)
	if err != nil {
		return nil, unreadable(err)
	}
	return markedReader{r}, nil
}

type markedReader struct{ io.ReadSeekCloser }

func (r markedReader) Read(p []byte) (int, error) {
	n, err := r.ReadSeekCloser.Read(p)
	if err != nil && err != io.EOF {
		err = unreadable(err)
	}
	return n, err
}

func (b *Bucket) copyFrom(ctx context.Context, key string, r io.ReadSeeker, sum string) (n int64, err error) {
	kind, err := mimetype.DetectReader(r)
	if err != nil {
		return 0, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	err = b.write(ctx, key, kind.String(), func(w io.Writer) (err error) {
		hash := sha256.New()
		n, err = io.Copy(io.MultiWriter(w, hash), r)
		if got := hex.EncodeToString(hash.Sum(nil)); err == nil && sum != "" && got != sum {
			return fmt.Errorf("%w: it is %s", ErrDamaged, got)
		}
		return err
	})
	return n, err
}
