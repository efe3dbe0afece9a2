package decimate

import (
	"flag"
	"fmt"
	"math"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

var large = flag.Bool("large", false, "benchmark five million triangles too")

// sphere is a ball of about n triangles with bumps, as soup.
func sphere(n int) *mesh.Mesh {
	rings := int(math.Sqrt(float64(n)) / 2)
	at := func(i, j int) [3]float32 {
		u, v := math.Pi*float64(i)/float64(rings), 2*math.Pi*float64(j%(2*rings))/float64(2*rings)
		r := 1 + 0.1*math.Sin(5*u)*math.Cos(4*v)
		if i == 0 || i == rings {
			return [3]float32{0, 0, float32(math.Cos(u))}
		}
		return [3]float32{float32(r * math.Sin(u) * math.Cos(v)), float32(r * math.Sin(u) * math.Sin(v)), float32(r * math.Cos(u))}
	}
	m := &mesh.Mesh{Format: mesh.STL, Unit: 1, Positions: make([]float32, 0, 9*4*rings*rings)}
	for i := range rings {
		for j := range 2 * rings {
			a, b, c, d := at(i, j), at(i+1, j), at(i+1, j+1), at(i, j+1)
			for _, p := range [][3]float32{a, b, c, a, c, d} {
				m.Positions = append(m.Positions, p[:]...)
			}
		}
	}
	return m
}

// BenchmarkTo takes a fifth of the triangles, and 200,000 of five million.
func BenchmarkTo(b *testing.B) {
	sizes := []int{10_000, 100_000, 1_000_000}
	if *large {
		sizes = append(sizes, 5_000_000)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := sphere(n)
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
