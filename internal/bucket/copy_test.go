package bucket

import (
	"errors"
	"strings"
	"testing"
)

// testCopy copies from a directory and back.
func testCopy(t *testing.T, f fixture) {
	ctx := t.Context()
	data := random(multipart)
	other := newDirectory(t)
	u := put(t, other.Bucket, data)
	content := ContentKey(u.SHA256)
	if n, err := Copy(ctx, f.Bucket, content, other.Bucket, u.Key, u.SHA256); err != nil || n != u.Size {
		t.Fatalf("copy: got %d, %v, want %d bytes", n, err, u.Size)
	}
	wantBytes(t, f.Bucket, content, data)
	if n, err := Copy(ctx, f.Bucket, content, other.Bucket, u.Key, u.SHA256); err != nil || n != 0 {
		t.Errorf("copy again: got %d, %v, want nothing copied", n, err)
	}
	if _, err := Copy(ctx, other.Bucket, content, f.Bucket, content, u.SHA256); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, other.Bucket, content, data)

	short := put(t, other.Bucket, data[:100])
	if n, err := Copy(ctx, f.Bucket, content, other.Bucket, short.Key, short.SHA256); err != nil || n != short.Size {
		t.Errorf("copy over an object of another size: got %d, %v, want %d bytes", n, err, short.Size)
	}
	wantBytes(t, f.Bucket, content, data[:100])

	wrong := strings.Repeat("ab", 32)
	if _, err := Copy(ctx, f.Bucket, ContentKey(wrong), other.Bucket, u.Key, wrong); !errors.Is(err, ErrDamaged) {
		t.Errorf("copy of other content: got %v, want ErrDamaged", err)
	}
	if _, err := Copy(ctx, f.Bucket, ContentKey(wrong), other.Bucket, ContentKey(wrong), wrong); !errors.Is(err,
		ErrNotExist) {
		t.Errorf("copy of a missing object: got %v, want ErrNotExist", err)
	}
	if err := f.Remove(ctx, content); err != nil {
		t.Fatal(err)
	}
	f.wantEmpty(t)
}
