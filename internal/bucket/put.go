package bucket

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/gabriel-vasile/mimetype"
)

// firstSize is how much of an upload must have come before it is given the
// buffers through which the rest passes.
const firstSize = 4 << 10

// HeadSize is how many first bytes are sniffed and handed back at most.
const HeadSize = 3072

// Upload is what [Bucket.Put] learnt of the bytes it stored.
type Upload struct {
	// Key is below [PendingPrefix] and was never used before.
	Key    string
	Size   int64
	SHA256 string // lower hex
	MD5    string // lower hex
	// ContentType is sniffed from the head, whatever the client said.
	ContentType string
	// Head is the first bytes, [HeadSize] at most.
	Head []byte
}

// TooLargeError says that there were more bytes than allowed.
type TooLargeError struct {
	Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("more than the allowed %d bytes", e.Limit)
}

// Put streams r once into a fresh pending object. Memory does not grow with
// the size: 1 MiB, and on S3 about 40 MiB more for parts in flight.
//
// When it returns nil the bytes are durable. On any error nothing is left:
// r failed (the error is wrapped), ctx ended (its Err is wrapped), r held more
// than limit bytes ([*TooLargeError]), or the bucket failed. The end of ctx is
// noticed between two reads of r; a read that blocks is the caller's to end.
func (b *Bucket) Put(ctx context.Context, r io.Reader, limit int64) (Upload, error) {
	u := Upload{Key: PendingPrefix + randomName()}
	if err := b.put(ctx, &u, r, max(limit, 0)); err != nil {
		return Upload{}, fmt.Errorf("put %s: %w", u.Key, err)
	}
	return u, nil
}

func (b *Bucket) put(ctx context.Context, u *Upload, r io.Reader, limit int64) error {
	// A client that sends a byte now and then holds a few KiB until there is more of it.
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
		// Deferred rather than called on each error, so that a reader
		// that panics leaves nothing either.
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
			u.Head = bytes.Clone(c.bytes()[:min(c.n, HeadSize)])
			u.ContentType = mimetype.Detect(u.Head).String()
			if dst, err = b.store.create(ctx, u.Key, u.ContentType); err != nil {
				return err
			}
		}
		// Hashing may begin before the write and end after it: both only
		// read, and the chunk comes back to this loop when hashed.
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

// fill reads from r until the chunk is full, or holds one byte more than
// room, or r ends, which it tells.
func (c *chunk) fill(ctx context.Context, r io.Reader, room int64) (end bool, err error) {
	window := c.buf[:]
	if room < int64(len(window)) {
		window = window[:room+1]
	}
	c.n, end, err = fill(ctx, r, window)
	return end, err
}

// fill reads from r until p is full, or r ends, which it tells.
//
// It is not io.ReadFull, because that says io.ErrUnexpectedEOF both at the end
// of a short last chunk and when a client broke off: one is success, the other
// is a file cut short.
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
