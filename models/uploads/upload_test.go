package uploads_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/uploads"
)

// TestUploadOutlivesItsRequest checks that a client that disconnects while the row of its upload is
// being written does not separate the row from its bytes.
func TestUploadOutlivesItsRequest(t *testing.T) {
	var leave func()
	cataloguetest.EachDuring(t, func() { leave() }, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx, cancel := context.WithCancel(t.Context())
		leave = cancel
		f, err := s.Uploads.Upload(ctx, ada, uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid a")})
		if err != nil {
			t.Fatalf("upload: %v", err)
		}
		if _, err := s.File(t.Context(), ada, models.AllFileFields, f.ID); err != nil {
			t.Error(err)
		}
		// A client that disconnected before leaves nothing behind.
		if _, err := s.Uploads.Upload(ctx, ada,
			uploads.NewUpload{Name: "b.stl", Bytes: strings.NewReader("solid b")}); err == nil {
			t.Error("an upload of a client that had disconnected was accepted")
		}
	})
}

// TestUploadsInProgressCount checks that the bytes of uploads that have not ended count towards the
// quota, so that many uploads that never end cannot fill the disk.
func TestUploadsInProgressCount(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		s.Options.Quotas.Bytes = 1 << 20
		bob, err := s.Admin().CreateUser(t.Context(), "bob", false)
		if err != nil {
			t.Fatal(err)
		}
		slow, rest := io.Pipe()
		ended := make(chan error)
		go func() {
			_, err := s.Uploads.Upload(t.Context(), ada, uploads.NewUpload{Name: "a.stl", Bytes: slow})
			ended <- err
		}()
		counted := func() int64 { return s.Uploads.Receiving(ada.UserID) }
		if _, err := io.WriteString(rest, "solid "+strings.Repeat("a", 900<<10)); err != nil {
			t.Fatal(err)
		}
		for range 10_000 { // the last part was read, and is being counted
			if counted() > 900<<10 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		upload := func(by int64, size int) error {
			_, err := s.Uploads.Upload(t.Context(), auth.Caller{UserID: by},
				uploads.NewUpload{Name: "b.stl", Bytes: strings.NewReader("solid " + strings.Repeat("b", size))})
			return err
		}
		if err := upload(ada.UserID, 300<<10); models.CodeOf(err) != models.TooLarge ||
			!strings.Contains(err.Error(), "in progress") {
			t.Errorf("the second upload of ada: %v, want TooLarge", err)
		}
		if err := upload(ada.UserID, 20<<10); err != nil {
			t.Errorf("what is left: %v", err)
		}
		if err := upload(bob.ID, 900<<10); err != nil {
			t.Errorf("the upload of another user: %v", err)
		}
		rest.Close()
		if err := <-ended; err != nil {
			t.Errorf("the first upload: %v", err)
		}
		if n := counted(); n != 0 {
			t.Errorf("%d bytes are still counted", n)
		}
	})
}

// TestFailedUploadKeepsWhatIsNamed checks that an upload whose transaction fails leaves no object,
// unless a row refers to it.
func TestFailedUploadKeepsWhatIsNamed(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		f, err := s.Uploads.Upload(t.Context(), ada, uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid a")})
		if err != nil {
			t.Fatal(err)
		}
		s.Uploads.DiscardUnreferenced(t.Context(), f.ObjectKey)
		if _, err := s.Bucket.Stat(t.Context(), f.ObjectKey); err != nil {
			t.Errorf("an object that a row refers to: %v", err)
		}
		enqueue := s.Enqueue
		s.Enqueue = func(context.Context, bun.Tx, models.Work) error { return errors.New("fault") }
		if _, err := s.Uploads.Upload(t.Context(), ada,
			uploads.NewUpload{Name: "b.stl", Bytes: strings.NewReader("solid b")}); err == nil {
			t.Error("an upload whose job could not be stored was accepted")
		}
		s.Enqueue = enqueue
		sweep, err := s.Maintenance.CollectGarbage(t.Context(), 0, true)
		if err != nil || len(sweep.PendingObjects) > 0 {
			t.Errorf("left behind: %+v, %v", sweep, err)
		}
	})
}
