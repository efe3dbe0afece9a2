package bucket

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/aws/smithy-go/logging"
)

// TestPutRefusedByS3 checks that an upload fails if S3 refuses a part, and that its other parts are
// removed.
func TestPutRefusedByS3(t *testing.T) {
	t.Parallel()
	f := newS3(t)
	f.s3.refuseAfter.Store(2)
	if _, err := f.Put(t.Context(), bytes.NewReader(random(5*multipart)), 1<<40); err == nil {
		t.Error("put with refused parts: no error")
	}
	f.wantEmpty(t)
}

// TestPutBrokenIsNeverStored checks that an interrupted upload is never stored, not even
// temporarily.
func TestPutBrokenIsNeverStored(t *testing.T) {
	t.Parallel()
	for _, size := range []int{100, multipart} {
		f := newS3(t)
		f.s3.before = func(r *http.Request) {
			part := r.URL.Query().Has("partNumber")
			complete := r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
			if r.Method == http.MethodPut && !part || complete {
				t.Errorf("after a break at %d bytes: %s %s", size, r.Method, r.URL)
			}
		}
		broken := iotest.ErrReader(io.ErrUnexpectedEOF)
		if _, err := f.Put(t.Context(), io.MultiReader(bytes.NewReader(random(size)), broken), 1<<40); err == nil {
			t.Errorf("put broken after %d bytes: no error", size)
		}
	}
}

// TestConcurrentPromotions checks two promotions of one upload: the slower one finds no content,
// and then finds that the pending object has been removed.
func TestConcurrentPromotions(t *testing.T) {
	t.Parallel()
	f := newS3(t)
	u := put(t, f.Bucket, random(10))
	var met atomic.Bool
	f.s3.before = func(r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, u.Key) || !met.CompareAndSwap(false, true) {
			return
		}
		if err := f.Promote(t.Context(), u.Key, u.SHA256, u.Size); err != nil {
			t.Error(err)
		}
		if err := f.Remove(t.Context(), u.Key); err != nil {
			t.Error(err)
		}
	}
	if err := f.Promote(t.Context(), u.Key, u.SHA256, u.Size); err != nil {
		t.Errorf("overtaken promotion: %v", err)
	}
	wantBytes(t, f.Bucket, ContentKey(u.SHA256), random(10))
}

func TestReadyWithoutBucket(t *testing.T) {
	t.Parallel()
	f := newS3(t)
	f.store.(*s3Store).bucket.Close()
	if err := f.Ready(t.Context()); err == nil {
		t.Error("ready after close: no error")
	}
}

func TestPromoteInParts(t *testing.T) {
	t.Parallel()
	f := newS3(t)
	store := f.store.(*s3Store)
	store.copyLimit, store.copyPart = 5<<20, 6<<20
	data := random(multipart)
	u := put(t, f.Bucket, data)

	uploaded := f.s3.parts.Load()
	f.s3.refuseAfter.Store(uploaded + 2)
	if err := f.Promote(t.Context(), u.Key, u.SHA256, u.Size); err == nil || errors.Is(err, ErrNotExist) {
		t.Errorf("promote with a refused part: %v, want an error of its own", err)
	}
	if got := f.all(); len(got) != 1 || got[0] != u.Key {
		t.Errorf("stored: %q, want the pending object alone", got)
	}

	f.s3.refuseAfter.Store(0)
	before := f.s3.parts.Load()
	if err := f.Promote(t.Context(), u.Key, u.SHA256, u.Size); err != nil {
		t.Fatal(err)
	}
	if got := f.s3.parts.Load() - before; got != 4 {
		t.Errorf("copied in %d parts, want 4", got)
	}
	wantBytes(t, f.Bucket, ContentKey(u.SHA256), data)
	if got := f.all(); len(got) != 2 {
		t.Errorf("stored: %q, want the pending object and the content", got)
	}
}

// TestS3Log checks that the AWS SDK logs through the default logger. It replaces the default
// logger, so it cannot be parallel.
func TestS3Log(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	defer slog.SetDefault(before)
	newS3(t).store.(*s3Store).client.Options().Logger.Logf(logging.Warn, "attempt %d", 7)
	if !strings.Contains(out.String(), "level=WARN") || !strings.Contains(out.String(), "attempt 7") {
		t.Errorf("logged %q, want a warning that says attempt 7", out.String())
	}
}

// TestOpenWithoutRegion sets environment variables, so it cannot be parallel.
func TestOpenWithoutRegion(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	if _, err := Open(t.Context(), "s3://models"); err == nil || !strings.Contains(err.Error(), "s3://BUCKET?region=") ||
		!strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("got %v, want an error that says how to set the region", err)
	}
	t.Setenv("AWS_REGION", "us-east-1")
	b, err := Open(t.Context(), "s3://models")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// TestS3WithoutChecksums checks that uploads work with a service that rejects the checksums of the
// SDK, and that the error names the setting if they are required nonetheless.
func TestS3WithoutChecksums(t *testing.T) {
	t.Parallel()
	for _, size := range []int{100, 3 * multipart} {
		f := newS3(t)
		f.s3.refuseChecksums.Store(true)
		want := random(size)
		u, err := f.Put(t.Context(), bytes.NewReader(want), 1<<40)
		if err != nil {
			t.Errorf("%d bytes: %v", size, err)
			continue
		}
		if err := f.Promote(t.Context(), u.Key, u.SHA256, u.Size); err != nil {
			t.Errorf("promote %d bytes: %v", size, err)
		}

		f = newS3With(t, "&request_checksum_calculation=when_supported")
		f.s3.refuseChecksums.Store(true)
		const says = "add request_checksum_calculation=when_required to --bucket-url"
		if _, err := f.Put(t.Context(), bytes.NewReader(want), 1<<40); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%d bytes with checksums: got %v, want %q", size, err, says)
		}
	}
}
