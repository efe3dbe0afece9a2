package bucket

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/meshyard/meshyard/internal/telemetry/tracing"
)

// Calls lists the kinds of calls that [Bucket.OnCall] reports.
var Calls = []string{"ready", "put", "promote", "remove", "list", "stat", "open", "presign"}

// OnCall calls observe after each call to the directory or to S3, with its kind (one of [Calls])
// and its duration. For an upload the duration is that of its writes, without waiting for the
// client; for a list it is the time to the first object, and for open the time to the first byte.
// Missing objects and canceled requests are not reported as errors. OnCall must be called before
// the bucket is used.
func (b *Bucket) OnCall(observe func(kind string, took time.Duration, err error)) {
	b.store = measured{b.store, observe}
}

// measured is a store that reports its calls.
type measured struct {
	store
	observe func(kind string, took time.Duration, err error)
}

// call is a call to the store that is in progress.
type call struct {
	store measured
	kind  string
	start time.Time
	span  tracing.Span
}

// begin begins a call, as a span of the trace of ctx.
func (m measured) begin(ctx context.Context, kind string) (context.Context, call) {
	c := call{store: m, kind: kind, start: time.Now()}
	if tracing.On(ctx) {
		ctx, c.span = tracing.Call(ctx, "bucket "+kind)
	}
	return ctx, c
}

func (c call) end(err error) { c.report(time.Since(c.start), err) }

func (c call) report(took time.Duration, err error) {
	if errors.Is(err, ErrNotExist) || errors.Is(err, context.Canceled) {
		err = nil
	}
	c.store.observe(c.kind, took, err)
	if err != nil {
		c.span.Fail()
	}
	c.span.End()
}

func (m measured) ready(ctx context.Context) error {
	ctx, call := m.begin(ctx, "ready")
	err := m.store.ready(ctx)
	call.end(err)
	return err
}

func (m measured) create(ctx context.Context, key, contentType string) (upload, error) {
	ctx, call := m.begin(ctx, "put")
	u, err := m.store.create(ctx, key, contentType)
	if err != nil {
		call.end(err)
		return nil, err
	}
	return &measuredUpload{upload: u, call: call, took: time.Since(call.start)}, nil
}

func (m measured) promote(ctx context.Context, pending, content string, size int64, replace bool) error {
	ctx, call := m.begin(ctx, "promote")
	err := m.store.promote(ctx, pending, content, size, replace)
	call.end(err)
	return err
}

func (m measured) remove(ctx context.Context, key string) error {
	ctx, call := m.begin(ctx, "remove")
	err := m.store.remove(ctx, key)
	call.end(err)
	return err
}

func (m measured) walk(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		ctx, call := m.begin(ctx, "list")
		reported := false
		for o, err := range m.store.walk(ctx, prefix) {
			if !reported || err != nil {
				call.end(err)
				reported = true
			}
			if !yield(o, err) {
				return
			}
		}
		if !reported {
			call.end(nil)
		}
	}
}

func (m measured) stat(ctx context.Context, key string) (Object, error) {
	ctx, call := m.begin(ctx, "stat")
	o, err := m.store.stat(ctx, key)
	call.end(err)
	return o, err
}

func (m measured) open(ctx context.Context, key string) (io.ReadSeekCloser, Object, error) {
	ctx, call := m.begin(ctx, "open")
	r, o, err := m.store.open(ctx, key)
	call.end(err)
	return r, o, err
}

func (m measured) presign(ctx context.Context, key string, h ResponseHeaders) (string, bool, error) {
	ctx, call := m.begin(ctx, "presign")
	url, ok, err := m.store.presign(ctx, key, h)
	if ok || err != nil { // a directory has no URLs
		call.end(err)
	} else {
		call.span.End()
	}
	return url, ok, err
}

// measuredUpload reports an upload once, when it ends.
type measuredUpload struct {
	upload
	call   call
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
		u.call.report(u.took+took, err)
		u.done = true
	}
}
