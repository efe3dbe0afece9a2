package bucket

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/gabriel-vasile/mimetype"
)

// firstSize is how many bytes of an upload must have arrived before large buffers are allocated for
// it.
const firstSize = 1 << 10

// headSize is the maximum number of first bytes that are sniffed.
const headSize = 3072

// Upload describes a pending object that [Bucket.Put] stored.
type Upload struct {
	// Key is unique and below [PendingPrefix].
	Key    string
	Size   int64
	SHA256 string // lower-case hex
	MD5    string // lower-case hex
	// ContentType is sniffed from the first bytes. It does not depend on what the client declares.
	ContentType string
}

// TooLargeError reports that the input exceeds the limit.
type TooLargeError struct {
	Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("more than the allowed %d bytes", e.Limit)
}

// Put stores r as a new pending object. It reads r once. Memory does not grow with the size: 1 MiB,
// and for S3 about 40 MiB more for parts in flight.
//
// When Put returns nil, the bytes are durable. After an error nothing remains. The error wraps the
// error of r, the error of ctx, or the error of the bucket, or is a [*TooLargeError] if r has more
// than limit bytes. Put checks ctx between reads of r; the caller must interrupt a Read that
// blocks.
func (b *Bucket) Put(ctx context.Context, r io.Reader, limit int64) (Upload, error) {
	u := Upload{Key: PendingPrefix + randomName()}
	if err := b.put(ctx, &u, r, max(limit, 0)); err != nil {
		return Upload{}, fmt.Errorf("put %s: %w", u.Key, err)
	}
	return u, nil
}

func (b *Bucket) put(ctx context.Context, u *Upload, r io.Reader, limit int64) error {
	// A slow client occupies only a few KiB until more data arrives.
	first := make([]byte, firstSize)
	n, end, err := fill(ctx, r, first)
	if err != nil {
		return err
	}
	if r = io.MultiReader(bytes.NewReader(first[:n]), r); end {
		r = bytes.NewReader(first[:n])
	}
	d := startDigest()
	defer d.stop()

	var dst upload
	committed := false
	defer func() {
		// Deferred, so that it also runs when the reader panics.
		if dst != nil && !committed {
			dst.abort()
		}
	}()

	for end := false; !end; {
		c := d.chunk()
		var err error
		end, err = c.fill(ctx, r, limit-u.Size)
		if u.Size+int64(c.n) > limit {
			return &TooLargeError{Limit: limit}
		}
		if err != nil {
			return err
		}
		if dst == nil {
			u.ContentType = mimetype.Detect(c.bytes()[:min(c.n, headSize)]).String()
			if dst, err = b.store.create(ctx, u.Key, u.ContentType); err != nil {
				return err
			}
		}
		// Hashing may start before the write and end after it: both only read the chunk, and it
		// returns to this loop after hashing.
		d.add(c)
		if _, err := dst.Write(c.bytes()); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return err
		}
		u.Size += int64(c.n)
	}
	u.SHA256, u.MD5 = d.sums()
	if err := dst.commit(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	committed = true
	return nil
}

// fill reads from r until the chunk is full, holds one byte more than room, or r ends. It reports
// whether r ended.
func (c *chunk) fill(ctx context.Context, r io.Reader, room int64) (end bool, err error) {
	window := c.buf[:]
	if room < int64(len(window)) {
		window = window[:room+1]
	}
	c.n, end, err = fill(ctx, r, window)
	return end, err
}

// fill reads from r until p is full or r ends. It reports whether r ended.
//
// io.ReadFull is not suitable, because it returns io.ErrUnexpectedEOF both for a short last chunk,
// which is fine, and for a client that disconnected.
func fill(ctx context.Context, r io.Reader, p []byte) (n int, end bool, err error) {
	for idle := 0; n < len(p); {
		if err := ctx.Err(); err != nil {
			return n, false, err
		}
		m, err := r.Read(p[n:])
		n += m
		if err == io.EOF {
			return n, true, nil
		}
		if err != nil {
			return n, false, err
		}
		if idle++; m > 0 {
			idle = 0
		}
		if idle == 100 {
			return n, false, io.ErrNoProgress
		}
	}
	return n, false, nil
}
