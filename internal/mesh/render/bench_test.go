package render

import (
	"fmt"
	"math"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// ball returns a sphere of about n triangles, with bumps of the given height. No vertices are
// shared, as in STL.
func ball(n int, bumps float64) *mesh.Mesh {
	rows := int(math.Sqrt(float64(n) / 4))
	at := func(i, j int) [3]float32 {
		theta, phi := math.Pi*float64(i)/float64(rows), math.Pi*float64(j%(2*rows))/float64(rows)
		r := 10 + bumps*math.Sin(12*theta)*math.Cos(9*phi)
		return [3]float32{float32(r * math.Sin(theta) * math.Cos(phi)), float32(r * math.Sin(theta) * math.Sin(phi)),
			float32(r * math.Cos(theta))}
	}
	m := &mesh.Mesh{Format: mesh.STL, Unit: 1}
	for i := range rows {
		for j := range 2 * rows {
			a, b, c, d := at(i, j), at(i+1, j), at(i+1, j+1), at(i, j+1)
			for _, p := range [][3]float32{a, b, c, a, c, d} {
				m.Positions = append(m.Positions, p[:]...)
			}
		}
	}
	return m
}

// BenchmarkRender reports the time for each triangle. For small meshes, most of it is the time for
// the pixels.
func BenchmarkRender(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000, 5_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := ball(n, 0.3)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Render(b.Context(), m, Options{Width: 512, Height: 512}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(m.Triangles()), "ns/triangle")
		})
	}
}
