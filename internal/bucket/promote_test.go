package bucket

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

func testPromote(t *testing.T, f fixture) {
	ctx := t.Context()
	for _, size := range []int{0, 100, multipart} {
		data := random(size)
		u := put(t, f.Bucket, data)
		for range 2 {
			if err := f.Promote(ctx, u.Key, u.SHA256, u.Size); err != nil {
				t.Fatal(err)
			}
		}
		wantBytes(t, f.Bucket, ContentKey(u.SHA256), data)
		wantBytes(t, f.Bucket, u.Key, data)
		if err := f.Remove(ctx, u.Key); err != nil {
			t.Fatal(err)
		}
		if err := f.Promote(ctx, u.Key, u.SHA256, u.Size); err != nil {
			t.Errorf("promote again without the pending object: %v", err)
		}
		wantBytes(t, f.Bucket, ContentKey(u.SHA256), data)
		if err := f.Remove(ctx, ContentKey(u.SHA256)); err != nil {
			t.Fatal(err)
		}
		f.wantEmpty(t)
	}
}

func testPromoteMissing(t *testing.T, f fixture) {
	err := f.Promote(t.Context(), PendingPrefix+randomName(), strings.Repeat("ab", 32), 10)
	if !errors.Is(err, ErrNotExist) {
		t.Errorf("promote of nothing: %v, want ErrNotExist", err)
	}
	f.wantEmpty(t)
}

func testPromoteWrongSize(t *testing.T, f fixture) {
	ctx := t.Context()
	u := put(t, f.Bucket, random(100))
	if err := f.Promote(ctx, u.Key, u.SHA256, u.Size+1); err == nil || errors.Is(err, ErrNotExist) {
		t.Errorf("promote of 100 bytes as 101: %v, want a refusal", err)
	}
	if got := f.all(); len(got) != 1 {
		t.Errorf("stored after a refused promotion: %q, want the pending object", got)
	}

	// Content that is damaged and has another length is replaced.
	damaged := put(t, f.Bucket, random(7))
	if err := f.Promote(ctx, damaged.Key, u.SHA256, damaged.Size); err != nil {
		t.Fatal(err)
	}
	if err := f.Promote(ctx, u.Key, u.SHA256, u.Size); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, f.Bucket, ContentKey(u.SHA256), random(100))
	wantBytes(t, f.Bucket, damaged.Key, random(7))
	if got := f.all(); len(got) != 3 {
		t.Errorf("stored: %q, want two pending objects and the content", got)
	}
}

func testPromoteConcurrent(t *testing.T, f fixture) {
	ctx := t.Context()
	data := random(1000)
	shared := put(t, f.Bucket, data)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			// Half of the goroutines finalize the same upload, the others finalize their own, and
			// each removes its pending object immediately.
			u := shared
			if i%2 == 0 {
				u = put(t, f.Bucket, data)
			}
			if err := f.Promote(ctx, u.Key, u.SHA256, u.Size); err != nil {
				t.Error(err)
			}
			wantBytes(t, f.Bucket, ContentKey(u.SHA256), data)
			if err := f.Remove(ctx, u.Key); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := f.all(); len(got) != 1 {
		t.Errorf("stored: %q, want the content alone", got)
	}
}
