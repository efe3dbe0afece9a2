package bucket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func testMark(t *testing.T, f fixture) {
	ctx := t.Context()
	if mark, _, err := f.Mark(ctx); mark != "" || err != nil {
		t.Errorf("a new bucket has the mark %q (%v), want none", mark, err)
	}
	for _, want := range []string{"one", "two"} {
		if err := f.SetMark(ctx, want); err != nil {
			t.Fatal(err)
		}
		if mark, at, err := f.Mark(ctx); mark != want || time.Since(at).Abs() > time.Minute || err != nil {
			t.Errorf("the mark is %q of %s (%v), want %q of now", mark, at, err, want)
		}
	}
	for _, prefix := range []string{PendingPrefix, ContentPrefix, DerivedPrefix} {
		for o, err := range f.Objects(ctx, prefix) {
			t.Errorf("Objects yields %+v, %v, want nothing", o, err)
		}
	}
}

func testDerived(t *testing.T, f fixture) {
	ctx := t.Context()
	key := DerivedKey(strings.Repeat("ab", 32), "stl.1.model.json")
	if ContentOf(key) != strings.Repeat("ab", 32) {
		t.Errorf("ContentOf(%s) = %s", key, ContentOf(key))
	}
	data := random(multipart)
	write := func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	}
	var makers sync.WaitGroup
	for range 4 {
		makers.Go(func() {
			if err := f.PutDerived(ctx, key, "application/json", write); err != nil {
				t.Error(err)
			}
		})
	}
	makers.Wait()
	wantBytes(t, f.Bucket, key, data)
	source, err := f.OpenSource(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	if name := source.Name(); strings.HasPrefix(name, filepath.Join(os.TempDir(), "meshyard-")) &&
		runtime.GOOS != "windows" {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a process that is killed now leaves %s (%v)", name, err)
		}
	}
	part := make([]byte, 100)
	if _, err := source.ReadAt(part, source.Size-100); err != nil || !bytes.Equal(part, data[len(data)-100:]) ||
		source.Size != int64(len(data)) {
		t.Errorf("the last 100 of %d bytes: %v, or they differ", source.Size, err)
	}
	if err := source.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Remove(ctx, key); err != nil {
		t.Fatal(err)
	}
	if _, err := f.OpenSource(ctx, key); !errors.Is(err, ErrNotExist) {
		t.Errorf("opening what is gone: %v", err)
	}

	broken := errors.New("broken")
	half := func(w io.Writer) error {
		_, err := w.Write(data[:1000])
		return errors.Join(err, broken)
	}
	if err := f.PutDerived(ctx, key, "application/json", half); !errors.Is(err, broken) {
		t.Errorf("a writer that fails: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	err = f.PutDerived(ended, key, "application/json", func(w io.Writer) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	for _, bad := range []string{"files/" + strings.Repeat("ab", 32), "derived/../x", "derived/short.json", "derived/" +
		strings.Repeat("ab", 32) + ".a/b"} {
		if err := f.PutDerived(ctx, bad, "", write); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	f.wantEmpty(t)
}
