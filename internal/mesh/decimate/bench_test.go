package decimate

import (
	"flag"
	"fmt"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
)

var large = flag.Bool("large", false, "benchmark five million triangles too")

// BenchmarkTo reduces a mesh to a fifth, and five million triangles to 200,000.
func BenchmarkTo(b *testing.B) {
	sizes := []int{10_000, 100_000, 1_000_000}
	if *large {
		sizes = append(sizes, 5_000_000)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := decoded.Sphere(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := To(b.Context(), m, min(n/5, 200_000), nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(m.Triangles()), "ns/triangle")
		})
	}
}
