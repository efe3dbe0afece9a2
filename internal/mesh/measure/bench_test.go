package measure

import (
	"fmt"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
)

func BenchmarkOf(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := decoded.Sphere(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Of(b.Context(), m, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(m.Triangles()), "ns/triangle")
		})
	}
}
