package facts

import (
	"fmt"
	"math"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// sphere is a ball of about n triangles with bumps, as soup.
func sphere(n int) *mesh.Mesh {
	rings := int(math.Sqrt(float64(n)) / 2)
	at := func(i, j int) [3]float32 {
		u, v := math.Pi*float64(i)/float64(rings), 2*math.Pi*float64(j%(2*rings))/float64(2*rings)
		r := 1 + 0.1*math.Sin(5*u)*math.Cos(4*v)
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

func BenchmarkOf(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := sphere(n)
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
