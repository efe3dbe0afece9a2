package bucket

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestBucket is the conformance suite that every kind of bucket passes.
func TestBucket(t *testing.T) {
	t.Parallel()
	for kind, open := range map[string]func(testing.TB) fixture{"directory": newDirectory, "s3": newS3} {
		for name, test := range map[string]func(*testing.T, fixture){
			"Ready":             testReady,
			"Put":               testPut,
			"PutAnySize":        testPutAnySize,
			"PutLimit":          testPutLimit,
			"PutBrokenReader":   testPutBrokenReader,
			"PutPanic":          testPutPanic,
			"PutCanceled":       testPutCanceled,
			"Promote":           testPromote,
			"PromoteMissing":    testPromoteMissing,
			"PromoteWrongSize":  testPromoteWrongSize,
			"PromoteHeals":      testPromoteHeals,
			"Derived":           testDerived,
			"Mark":              testMark,
			"Copy":              testCopy,
			"OnCall":            testOnCall,
			"PromoteConcurrent": testPromoteConcurrent,
			"Missing":           testMissing,
			"BadKeys":           testBadKeys,
			"Objects":           testObjects,
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(t, open(t))
			})
		}
	}
}

// multipart is a size that is uploaded to S3 in parts.
const multipart = 20<<20 + 7

func random(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

func put(t testing.TB, b *Bucket, data []byte) Upload {
	t.Helper()
	u, err := b.Put(context.Background(), bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func wantBytes(t testing.TB, b *Bucket, key string, want []byte) {
	t.Helper()
	r, o, err := b.Reader(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%s reads %d bytes, %v, want the %d that were put", key, len(got), err, len(want))
	}
	if o.Key != key || o.Size != int64(len(want)) || o.ModTime.IsZero() || o.Partial {
		t.Fatalf("Reader of %s describes %+v, want its key, %d bytes and a time", key, o, len(want))
	}
}

func testReady(t *testing.T, f fixture) {
	if err := f.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

func testPut(t *testing.T, f fixture) {
	stl := append([]byte("solid cube\nfacet normal 0 0 1\n"), bytes.Repeat([]byte("vertex 0 0 0\n"), 1000)...)
	png := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), random(100)...)
	for _, test := range []struct {
		name, contentType string
		data              []byte
	}{
		{"empty", "text/plain", nil},
		{"text", "text/plain; charset=utf-8", stl},
		{"picture", "image/png", png},
		{"parts", "application/octet-stream", random(multipart)},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := put(t, f.Bucket, test.data)
			if !strings.HasPrefix(u.Key, PendingPrefix) || len(u.Key) < len(PendingPrefix)+32 {
				t.Errorf("key %q is not %s and 128 bits", u.Key, PendingPrefix)
			}
			want := Upload{
				Key: u.Key, Size: int64(len(test.data)), ContentType: test.contentType,
				SHA256: fmt.Sprintf("%x", sha256.Sum256(test.data)), MD5: fmt.Sprintf("%x", md5.Sum(test.data)),
			}
			if diff := cmp.Diff(want, u); diff != "" {
				t.Errorf("upload (-want +got):\n%s", diff)
			}
			wantBytes(t, f.Bucket, u.Key, test.data)

			r, _, err := f.Reader(t.Context(), u.Key)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			middle := int64(len(test.data) / 2)
			if _, err := r.Seek(middle, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			if rest, err := io.ReadAll(r); err != nil || !bytes.Equal(rest, test.data[middle:]) {
				t.Errorf("after a seek to %d: %d bytes, %v", middle, len(rest), err)
			}
		})
	}
}

// testPutAnySize tests sizes around the chunk size with readers that return short reads.
func testPutAnySize(t *testing.T, f fixture) {
	data := random(3*chunkSize + 1)
	borders := rapid.SampledFrom([]int{0, 1, headSize, chunkSize - 1, chunkSize, chunkSize + 1, 2 * chunkSize,
		3 * chunkSize})
	rapid.Check(t, func(t *rapid.T) {
		want := data[:rapid.OneOf(borders, rapid.IntRange(0, len(data))).Draw(t, "size")]
		r := io.Reader(bytes.NewReader(want))
		switch rapid.IntRange(0, 2).Draw(t, "reader") {
		case 1:
			r = iotest.HalfReader(r)
		case 2:
			r = iotest.DataErrReader(r)
		}
		limit := int64(len(want)) + rapid.Int64Range(0, 2*chunkSize).Draw(t, "spare")
		u, err := f.Put(context.Background(), r, limit)
		if err != nil {
			t.Fatal(err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(want)); u.SHA256 != sum || u.Size != int64(len(want)) {
			t.Fatalf("put %d bytes: got %d bytes of %s, want %s", len(want), u.Size, u.SHA256, sum)
		}
		if sum := fmt.Sprintf("%x", md5.Sum(want)); u.MD5 != sum {
			t.Fatalf("put %d bytes: MD5 %s, want %s", len(want), u.MD5, sum)
		}
		o, err := f.Stat(context.Background(), u.Key)
		if err != nil || o.Size != u.Size {
			t.Fatalf("stat after put of %d bytes: %+v, %v", u.Size, o, err)
		}
		if err := f.Remove(context.Background(), u.Key); err != nil {
			t.Fatal(err)
		}
	})
}

func testPutLimit(t *testing.T, f fixture) {
	for _, size := range []int{0, 1, 100, chunkSize - 1, chunkSize, chunkSize + 1, 2 * chunkSize, multipart} {
		data := random(size)
		u := put(t, f.Bucket, data) // exactly the limit
		if err := f.Remove(t.Context(), u.Key); err != nil {
			t.Fatal(err)
		}
		for name, over := range map[string]io.Reader{
			"one over":                   bytes.NewReader(append(data, 1)),
			"one over, with the end":     iotest.DataErrReader(bytes.NewReader(append(data, 1))),
			"many over, of no known end": io.MultiReader(bytes.NewReader(data), rand.NewChaCha8([32]byte{})),
		} {
			var tooLarge *TooLargeError
			_, err := f.Put(t.Context(), over, int64(size))
			if !errors.As(err, &tooLarge) || tooLarge.Limit != int64(size) {
				t.Errorf("%s the limit of %d: %v, want a TooLargeError of it", name, size, err)
			}
		}
		f.wantEmpty(t)
	}
}

func testPutBrokenReader(t *testing.T, f fixture) {
	broken := errors.New("cable pulled")
	for _, size := range []int{0, 100, chunkSize, multipart} {
		// net/http returns io.ErrUnexpectedEOF for a truncated body.
		for _, fault := range []error{broken, io.ErrUnexpectedEOF} {
			r := io.MultiReader(bytes.NewReader(random(size)), iotest.ErrReader(fault))
			if _, err := f.Put(t.Context(), r, 1<<40); !errors.Is(err, fault) {
				t.Errorf("put broken after %d bytes: %v, want %v", size, err, fault)
			}
			f.wantEmpty(t)
		}
	}
	if _, err := f.Put(t.Context(), idle{}, 10); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("put of a reader that returns no data: %v, want %v", err, io.ErrNoProgress)
	}
	f.wantEmpty(t)
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func testPutPanic(t *testing.T, f fixture) {
	defer f.wantEmpty(t)
	defer func() { _ = recover() }()
	f.Put(t.Context(), io.MultiReader(bytes.NewReader(random(multipart)), readFunc(func([]byte) (int, error) {
		panic("as net/http does for a handler whose client disconnected")
	})), 1<<40)
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func testPutCanceled(t *testing.T, f fixture) {
	for _, size := range []int{0, 100, chunkSize, multipart} {
		ctx, cancel := context.WithCancel(t.Context())
		r := io.MultiReader(bytes.NewReader(random(size)), readFunc(func(p []byte) (int, error) {
			cancel()
			return len(p), nil
		}))
		if _, err := f.Put(ctx, r, 1<<40); !errors.Is(err, context.Canceled) {
			t.Errorf("put canceled after %d bytes: %v, want %v", size, err, context.Canceled)
		}
		f.wantEmpty(t)
		if _, err := f.Put(ctx, bytes.NewReader(random(size)), 1<<40); !errors.Is(err, context.Canceled) {
			t.Errorf("put of %d bytes under a canceled context: %v, want %v", size, err, context.Canceled)
		}
		f.wantEmpty(t)
	}
}

func testMissing(t *testing.T, f fixture) {
	ctx := t.Context()
	for _, key := range []string{PendingPrefix + randomName(), ContentKey(strings.Repeat("ab", 32))} {
		if _, err := f.Stat(ctx, key); !errors.Is(err, ErrNotExist) {
			t.Errorf("stat of missing %s: %v, want ErrNotExist", key, err)
		}
		if r, _, err := f.Reader(ctx, key); !errors.Is(err, ErrNotExist) || r != nil {
			t.Errorf("reader of missing %s: %v, %v, want nil, ErrNotExist", key, r, err)
		}
		if err := f.Remove(ctx, key); err != nil {
			t.Errorf("remove of missing %s: %v, want nil", key, err)
		}
	}
	u := put(t, f.Bucket, random(10))
	for range 2 {
		if err := f.Remove(ctx, u.Key); err != nil {
			t.Errorf("remove %s: %v", u.Key, err)
		}
	}
	f.wantEmpty(t)
}

func testBadKeys(t *testing.T, f fixture) {
	ctx := t.Context()
	for _, key := range []string{"", "pending", "pending/", "files/", "other/x", "/pending/x", "pending/../x",
		"pending/..", "pending/a/b", "pending/.x", "pending/a b", "files/\x00"} {
		_, statErr := f.Stat(ctx, key)
		_, _, readErr := f.Reader(ctx, key)
		for call, err := range map[string]error{"stat": statErr, "reader": readErr, "remove": f.Remove(ctx, key)} {
			if err == nil || errors.Is(err, ErrNotExist) {
				t.Errorf("%s of %q: %v, want a refusal", call, key, err)
			}
		}
	}
	u := put(t, f.Bucket, random(10))
	for _, sum := range []string{"", "x", "../pending/x", strings.ToUpper(u.SHA256), u.SHA256[2:]} {
		if err := f.Promote(ctx, u.Key, sum, u.Size); err == nil {
			t.Errorf("promote to %q: no error", sum)
		}
	}
	if err := f.Promote(ctx, ContentKey(u.SHA256), u.SHA256, u.Size); err == nil || errors.Is(err, ErrNotExist) {
		t.Errorf("promote of content: %v, want a refusal", err)
	}
}

func testObjects(t *testing.T, f fixture) {
	ctx := t.Context()
	want := map[string]map[string]int64{"": {}, PendingPrefix: {}, ContentPrefix: {}}
	for i := range 20 {
		u := put(t, f.Bucket, random(i))
		if err := f.Promote(ctx, u.Key, u.SHA256, u.Size); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{u.Key, ContentKey(u.SHA256)} {
			want[""][key] = u.Size
			want[key[:strings.Index(key, "/")+1]][key] = u.Size
			want[key] = map[string]int64{key: u.Size}
		}
	}
	for prefix, want := range want {
		got := map[string]int64{}
		for o, err := range f.Objects(ctx, prefix) {
			if err != nil || o.Partial || o.ModTime.IsZero() {
				t.Fatalf("Objects(%q) yields %+v, %v", prefix, o, err)
			}
			got[o.Key] = o.Size
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Objects(%q) (-want +got):\n%s", prefix, diff)
		}
	}
	for range f.Objects(ctx, "") {
		break
	}
	for o, err := range f.Objects(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Remove(ctx, o.Key); err != nil {
			t.Fatal(err)
		}
	}
	f.wantEmpty(t)

	put(t, f.Bucket, random(10))
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	n := 0
	for _, err := range f.Objects(canceled, "") {
		if n++; !errors.Is(err, context.Canceled) {
			t.Errorf("Objects under a canceled context yields %v", err)
		}
	}
	if n != 1 {
		t.Errorf("Objects under a canceled context yields %d times, want 1", n)
	}
}
