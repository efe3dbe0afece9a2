package bucket

import (
	"context"
	"io"
	"time"

	"gocloud.dev/blob"
)

const (
	// S3 accepts 10,000 parts of 8 MiB, so an upload can have up to 78 GiB. At most five parts are in
	// memory: the first 16 MiB, which are sent in one request if nothing follows, and three parts in
	// flight.
	partSize       = 8 << 20
	partsAtOnce    = 2
	cleanUpTimeout = 30 * time.Second
)

// s3Upload sends a streaming upload through a pipe, in parts if it is long.
//
// The end of the request does not cancel the context of the upload. The uploader aborts a multipart
// upload under its own context; if that is canceled, the abort fails and the parts remain,
// invisible and billed. Instead the pipe fails, and the uploader sees a broken body and cleans up.
// Only if S3 does not respond within cleanUpTimeout is the context canceled.
type s3Upload struct {
	store  *s3Store
	key    string
	pipe   *io.PipeWriter
	cut    context.CancelFunc
	unhook func() bool // removes the callback from the request's context
	done   chan struct{}
	err    error // result of the upload, valid once done is closed
}

func (s *s3Store) create(ctx context.Context, key, contentType string) (upload, error) {
	uploading, cut := context.WithCancel(context.WithoutCancel(ctx))
	r, w := io.Pipe()
	u := &s3Upload{store: s, key: key, pipe: w, cut: cut, done: make(chan struct{})}
	u.unhook = context.AfterFunc(ctx, func() { u.fail(ctx.Err()) })
	go func() {
		defer close(u.done)
		defer cut()
		u.err = explain(s.bucket.Upload(uploading, key, r, &blob.WriterOptions{
			ContentType:    contentType,
			BufferSize:     partSize,
			MaxConcurrency: partsAtOnce,
		}))
		// Nothing reads from the pipe any more; this unblocks Write.
		r.CloseWithError(u.err)
	}()
	return u, nil
}

// fail breaks the body, and cancels the upload after cleanUpTimeout.
func (u *s3Upload) fail(err error) {
	u.pipe.CloseWithError(err)
	time.AfterFunc(cleanUpTimeout, u.cut)
}

func (u *s3Upload) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil // an empty write to a pipe would block
	}
	return u.pipe.Write(p)
}

func (u *s3Upload) commit() error {
	u.pipe.Close()
	<-u.done
	u.unhook()
	return u.err
}

func (u *s3Upload) abort() {
	u.unhook()
	u.fail(context.Canceled)
	<-u.done
	// An upload that failed late may have been stored.
	ctx, cancel := context.WithTimeout(context.Background(), cleanUpTimeout)
	defer cancel()
	u.store.remove(ctx, u.key)
}
