package bucket

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// Calls are the kinds of calls that [Bucket.OnCall] reports.
var Calls = []string{"ready", "put", "promote", "remove", "list", "stat", "open", "presign"}

// OnCall calls observe after each call to the directory or to S3, with its kind, one of [Calls],
// and the time that it took. For an upload this is the time of its writes, not that of the client,
// for a list the time to its first object, and for open the time to the first byte. Missing objects
// and cancelled requests are no errors. It must be called before the bucket is used.
func (b *Bucket) OnCall(observe func(kind string, took time.Duration, err error)) {
	b.store = measured{b.store, observe}
}

// measured is a store that reports its calls.
type measured struct {
	store
	observe func(kind string, took time.Duration, err error)
}

func (m measured) report(kind string, took time.Duration, err error) {
	if errors.Is(err, ErrNotExist) || errors.Is(err, context.Canceled) {
		err = nil
	}
	m.observe(kind, took, err)
}

func (m measured) ready(ctx context.Context) error {
	start := time.Now()
	err := m.store.ready(ctx)
	m.report("ready", time.Since(start), err)
	return err
}

func (m measured) create(ctx context.Context, key, contentType string) (upload, error) {
	start := time.Now()
	u, err := m.store.create(ctx, key, contentType)
	if err != nil {
		m.report("put", time.Since(start), err)
		return nil, err
	}
	return &measuredUpload{upload: u, store: m, took: time.Since(start)}, nil
}

func (m measured) promote(ctx context.Context, pending, content string, size int64) error {
	start := time.Now()
	err := m.store.promote(ctx, pending, content, size)
	m.report("promote", time.Since(start), err)
	return err
}

func (m measured) remove(ctx context.Context, key string) error {
	start := time.Now()
	err := m.store.remove(ctx, key)
	m.report("remove", time.Since(start), err)
	return err
}

func (m measured) walk(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		start := time.Now()
		reported := false
		for o, err := range m.store.walk(ctx, prefix) {
			if !reported || err != nil {
				m.report("list", time.Since(start), err)
				reported = true
			}
			if !yield(o, err) {
				return
			}
		}
		if !reported {
			m.report("list", time.Since(start), nil)
		}
	}
}

func (m measured) stat(ctx context.Context, key string) (Object, error) {
	start := time.Now()
	o, err := m.store.stat(ctx, key)
	m.report("stat", time.Since(start), err)
	return o, err
}

func (m measured) open(ctx context.Context, key string) (io.ReadSeekCloser, Object, error) {
	start := time.Now()
	r, o, err := m.store.open(ctx, key)
	m.report("open", time.Since(start), err)
	return r, o, err
}

func (m measured) presign(ctx context.Context, key string, h ResponseHeaders) (string, bool, error) {
	start := time.Now()
	url, ok, err := m.store.presign(ctx, key, h)
	if ok || err != nil { // a directory has no URLs
		m.report("presign", time.Since(start), err)
	}
	return url, ok, err
}

// measuredUpload reports an upload once, when it ends.
type measuredUpload struct {
	upload
	store  measured
	took   time.Duration
	failed error // of the last write
	done   bool
}

func (u *measuredUpload) Write(p []byte) (int, error) {
	start := time.Now()
	n, err := u.upload.Write(p)
	u.took += time.Since(start)
	u.failed = err
	return n, err
}

func (u *measuredUpload) commit() error {
	start := time.Now()
	err := u.upload.commit()
	u.report(time.Since(start), err)
	return err
}

func (u *measuredUpload) abort() {
	start := time.Now()
	u.upload.abort()
	u.report(time.Since(start), u.failed)
}

func (u *measuredUpload) report(took time.Duration, err error) {
	if !u.done {
		u.store.report("put", u.took+took, err)
		u.done = true
	}
}
