package bucket

import (
	"context"
	"io"
	"time"

	"gocloud.dev/blob"
)

const (
	// Parts of 8 MiB, of which S3 takes 10,000, let an upload be 78 GiB. One
	// holds five of them at most: the first 16 MiB, which go in one request
	// if nothing follows, and three in flight.
	partSize       = 8 << 20
	partsAtOnce    = 2
	cleanUpTimeout = 30 * time.Second
)

// s3Upload feeds a streaming upload, in parts when it is long, through a pipe.
//
// The upload runs under a context that the request's end does not cancel. The
// part uploader aborts a multipart upload under the context it was given; with
// a cancelled one that fails, and the parts stay, unseen and paid for. Instead
// the pipe fails, the uploader sees a broken body and cleans up in peace.
// Only if S3 does not answer within cleanUpTimeout is it cut off.
type s3Upload struct {
	store  *s3Store
	key    string
	pipe   *io.PipeWriter
	cut    context.CancelFunc
	unhook func() bool // from the request's context
	done   chan struct{}
	err    error // of the upload, once done is closed
}

func (s *s3Store) create(ctx context.Context, key, contentType string) (upload, error) {
	uploading, cut := context.WithCancel(context.WithoutCancel(ctx))
	r, w := io.Pipe()
	u := &s3Upload{store: s, key: key, pipe: w, cut: cut, done: make(chan struct{})}
	u.unhook = context.AfterFunc(ctx, func() { u.fail(ctx.Err()) })
	go func() {
		defer close(u.done)
		defer cut()
		u.err = s.bucket.Upload(uploading, key, r, &blob.WriterOptions{
			ContentType:    contentType,
			BufferSize:     partSize,
			MaxConcurrency: partsAtOnce,
		})
		// Nobody reads any more: a Write must not wait for that.
		r.CloseWithError(u.err)
	}()
	return u, nil
}

// fail breaks the body, and the upload itself a while later.
func (u *s3Upload) fail(err error) {
	u.pipe.CloseWithError(err)
	time.AfterFunc(cleanUpTimeout, u.cut)
}

func (u *s3Upload) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil // on a pipe it would wait for a reader
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
	// An upload that failed late may have been stored all the same.
	ctx, cancel := context.WithTimeout(context.Background(), cleanUpTimeout)
	defer cancel()
	u.store.remove(ctx, u.key)
}
