package stl

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
)

// BenchmarkReadSTL reads a binary file of a million triangles. It alternates with a plain loop that
// reads the same records and discards them, because the speed of a machine varies over time. The
// metric "ratio" is the speed of Decode relative to that of the loop.
func BenchmarkReadSTL(b *testing.B) {
	src := sphereSource(1_000_000)
	b.SetBytes(src.Size)
	b.ReportAllocs()
	var read, plain time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := Decode(context.Background(), src, mesh.DefaultLimits, func(float64) {}); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if sum := sumSTL(src); sum == 0 {
			b.Fatal("the loop read nothing")
		}
		read += middle.Sub(start)
		plain += time.Since(middle)
	}
	b.ReportMetric(float64(plain)/float64(read), "ratio")
	b.ReportMetric(float64(read.Microseconds())/float64(b.N)/1000, "ms/read")
	b.ReportMetric(float64(plain.Microseconds())/float64(b.N)/1000, "ms/loop")
}

func sphereSource(triangles int) source.Source {
	file := meshtest.SphereSTL(triangles)
	return source.Source{ReaderAt: bytes.NewReader(file), Size: int64(len(file)), Name: "sphere.stl"}
}

// sumSTL is the plain loop: it reads the records of a binary file in blocks of 1 MiB and returns
// the sum of their numbers.
func sumSTL(src source.Source) (sum float32) {
	block := make([]byte, 1<<20/facetSize*facetSize)
	for at := int64(headerSize); ; {
		n, err := src.ReadAt(block, at)
		for r := block[:n/facetSize*facetSize]; len(r) > 0; r = r[facetSize:] {
			for i := 0; i < 48; i += 4 {
				sum += math.Float32frombits(binary.LittleEndian.Uint32(r[i:]))
			}
		}
		at += int64(n)
		if err == io.EOF {
			return sum
		}
	}
}
