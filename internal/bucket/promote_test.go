package bucket

import (
	"bytes"
	"errors"
	"io"
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

func testPromoteHeals(t *testing.T, f fixture) {
	ctx := t.Context()
	for _, size := range []int{100, multipart} {
		data := random(size)
		flipped := bytes.Clone(data)
		flipped[size/2] ^= 1
		flip := func(key string) {
			t.Helper()
			err := f.write(ctx, key, "text/plain", func(w io.Writer) error {
				_, err := w.Write(flipped)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		u := put(t, f.Bucket, data)
		content := ContentKey(u.SHA256)
		if err := f.Promote(ctx, u.Key, u.SHA256, u.Size); err != nil {
			t.Fatal(err)
		}
		flip(content)
		if _, err := f.Duplicate(ctx, u.SHA256, u.Size); !errors.Is(err, ErrDamaged) {
			t.Errorf("duplicate of damaged content: %v, want ErrDamaged", err)
		}
		again := put(t, f.Bucket, data)
		if err := f.Promote(ctx, again.Key, u.SHA256, u.Size); err != nil {
			t.Fatal(err)
		}
		wantBytes(t, f.Bucket, content, data)

		// Damaged bytes do not replace anything.
		flip(again.Key)
		if err := f.Promote(ctx, again.Key, u.SHA256, u.Size); err != nil {
			t.Errorf("promote of damaged bytes beside sound content: %v", err)
		}
		wantBytes(t, f.Bucket, content, data)
		flip(content)
		if err := f.Promote(ctx, again.Key, u.SHA256, u.Size); !errors.Is(err, ErrDamaged) {
			t.Errorf("promote of damaged bytes: %v, want ErrDamaged", err)
		}
		if err := f.Promote(ctx, u.Key, u.SHA256, u.Size); err != nil {
			t.Fatal(err)
		}
		copied, err := f.Duplicate(ctx, u.SHA256, u.Size)
		if err != nil {
			t.Fatal(err)
		}
		wantBytes(t, f.Bucket, copied, data)
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
