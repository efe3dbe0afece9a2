package bucket

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestOpenDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b c")
	for range 2 {
		b := openBucket(t, "file://"+dir)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if err := b.Ready(t.Context()); err == nil {
			t.Error("ready after close: no error")
		}
	}
	for _, made := range []string{"..", ".", "pending", "files"} {
		info, err := os.Stat(filepath.Join(dir, made))
		if err != nil || info.Mode() != os.ModeDir|0o750 {
			t.Errorf("%s: %v, %v, want a directory of mode 0750", made, info, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{
		"", "/var/lib", "mem://", "file:", "file://", "file:relative", "file://./relative", "file://host/dir",
		"file://" + dir + "?metadata=skip", "file://" + file, "file://" + file + "/below", "s3://",
		"s3://x?no_such_option=1", "%",
	} {
		if b, err := Open(t.Context(), address); err == nil {
			t.Errorf("Open(%q) = %v, want an error", address, b.store)
		}
	}
}

// TestDirectoryURL checks that the URL of a directory refers to that directory. This test also runs
// on Windows.
func TestDirectoryURL(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "100% möbel #1?")
	got, ok := Directory(DirectoryURL(dir))
	if got != dir || !ok {
		t.Errorf("Directory(%q) = %q, %v, want %q", DirectoryURL(dir), got, ok, dir)
	}
	if got, ok := Directory("s3://models?region=eu-central-1"); ok {
		t.Errorf("directory of a bucket in S3: got %q, want none", got)
	}
}

// TestReadyNoticesMissingFolders checks that a bucket is not ready without a folder for its
// objects, except that of previews, which is created again.
func TestReadyNoticesMissingFolders(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bucket")
	b := openBucket(t, "file://"+dir)
	for _, prefix := range prefixes {
		folder := filepath.Join(dir, prefix)
		if err := os.Rename(folder, dir+".old"); err != nil {
			t.Fatal(err)
		}
		if err := b.Ready(t.Context()); (err == nil) != (prefix == DerivedPrefix) {
			t.Errorf("ready without %s: %v", prefix, err)
		}
		if err := os.Rename(dir+".old", folder); err != nil {
			t.Fatal(err)
		}
		if err := b.Ready(t.Context()); err != nil {
			t.Errorf("ready with %s again: %v", prefix, err)
		}
	}
}

// TestReadyNoticesAnotherDirectory replaces the directory, as if the disk was unmounted and the
// empty mount point became visible.
func TestReadyNoticesAnotherDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bucket")
	b := openBucket(t, "file://"+dir)
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if err := b.Ready(t.Context()); err == nil {
		t.Error("ready without the directory: no error")
	}
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := b.Ready(t.Context()); err == nil {
		t.Error("ready with another directory: no error")
	}
}

func TestPartial(t *testing.T) {
	t.Parallel()
	f := newDirectory(t)
	// A writer that is killed leaves the same files as an active writer.
	at := f.store.(*directory)
	dst, err := at.create(t.Context(), PendingPrefix+"killed", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dst.Write(random(100)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(at.path, "pending", "lost+found"), 0o700); err != nil {
		t.Fatal(err)
	}
	n := 0
	for o, err := range f.Objects(t.Context(), PendingPrefix) {
		n++
		if err != nil || o.Key != "pending/killed.tmp" || !o.Partial || o.Size != 100 || time.Since(o.ModTime) > time.Minute {
			t.Errorf("Objects yields %+v, %v, want the partial pending/killed.tmp", o, err)
		}
		if err := f.Promote(t.Context(), o.Key, "00", 100); err == nil {
			t.Error("a partial object was promoted")
		}
		if err := f.Remove(t.Context(), o.Key); err != nil {
			t.Error(err)
		}
	}
	if n != 1 {
		t.Errorf("Objects yields %d objects, want 1", n)
	}
}

// TestPromoteLinkTwice checks a special case: renaming one hard link to another of the same file
// does nothing and keeps both.
func TestPromoteLinkTwice(t *testing.T) {
	t.Parallel()
	f := newDirectory(t)
	u := put(t, f.Bucket, random(10))
	for range 2 {
		if err := f.store.(*directory).link(u.Key, ContentKey(u.SHA256), u.Size); err != nil {
			t.Fatal(err)
		}
	}
	if got := f.all(); len(got) != 2 {
		t.Errorf("stored: %q, want the pending object and the content", got)
	}
}

func TestPromoteMakesContentYoung(t *testing.T) {
	t.Parallel()
	f := newDirectory(t)
	u := put(t, f.Bucket, random(10))
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(f.store.(*directory).path, u.Key), old, old); err != nil {
		t.Fatal(err)
	}
	if err := f.Promote(t.Context(), u.Key, u.SHA256, u.Size); err != nil {
		t.Fatal(err)
	}
	o, err := f.Stat(t.Context(), ContentKey(u.SHA256))
	if err != nil || time.Since(o.ModTime) > time.Minute {
		t.Errorf("content of an old upload: %+v, %v, want a ModTime of now", o, err)
	}
}

// TestPutMemory measures the whole process, so it cannot be parallel.
func TestPutMemory(t *testing.T) {
	f := newDirectory(t)
	data := random(64 << 20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := f.Put(t.Context(), struct{ *bytes.Reader }{bytes.NewReader(data)}, 1<<40); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("a put of 64 MiB allocates %d bytes, want 4 MiB at most", got)
	}
}

// TestDerivedDirectoryRemoved removes the directory of derived objects while the bucket is open: it
// is empty then, and the next object creates it again.
func TestDerivedDirectoryRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := openBucket(t, "file://"+dir)
	key := DerivedKey(strings.Repeat("ab", 32), "stl.1.full.png")
	for range 2 {
		if err := os.RemoveAll(filepath.Join(dir, "derived")); err != nil {
			t.Fatal(err)
		}
		for o, err := range b.Objects(t.Context(), DerivedPrefix) {
			t.Errorf("without the directory: got %v, %v, want no objects", o, err)
		}
		if _, err := b.OpenSource(t.Context(), key); !errors.Is(err, ErrNotExist) {
			t.Errorf("open without the directory: %v", err)
		}
		write := func(w io.Writer) error { _, err := io.WriteString(w, "image"); return err }
		var writers sync.WaitGroup
		for range 4 {
			writers.Go(func() {
				if err := b.PutDerived(t.Context(), key, "image/png", write); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		wantBytes(t, b, key, []byte("image"))
	}
	if err := b.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}
