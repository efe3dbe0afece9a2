package bucket

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"testing"
)

const benchSize = 256 << 20

// zeros is a reader that only copies, like a socket.
type zeros struct{ block []byte }

func (z zeros) Read(p []byte) (int, error) { return copy(p, z.block), nil }

func source() io.Reader {
	return struct{ io.Reader }{io.LimitReader(zeros{random(1 << 20)}, benchSize)}
}

// BenchmarkPut must be compared with BenchmarkPlainCopy, a simple copy loop. Put should be faster,
// and never below 0.9 of its speed.
func BenchmarkPut(b *testing.B) {
	f := newDirectory(b)
	b.SetBytes(benchSize)
	for b.Loop() {
		u, err := f.Put(b.Context(), source(), benchSize)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := f.Remove(b.Context(), u.Key); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func BenchmarkPlainCopy(b *testing.B) {
	name := filepath.Join(b.TempDir(), "copy")
	b.SetBytes(benchSize)
	for b.Loop() {
		f, err := os.Create(name)
		if err != nil {
			b.Fatal(err)
		}
		dst := io.MultiWriter(f, sha256.New(), md5.New())
		if _, err := io.CopyBuffer(dst, source(), make([]byte, chunkSize)); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := os.Remove(name); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkPutSmall measures one durable upload of 10 KB.
func BenchmarkPutSmall(b *testing.B) {
	f := newDirectory(b)
	data := random(10_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Put(b.Context(), bytes.NewReader(data), 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}
