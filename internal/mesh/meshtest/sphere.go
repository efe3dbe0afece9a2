package meshtest

import (
	"encoding/binary"
	"math"
)

// SphereSTL returns a binary STL file of a bumpy sphere about 50 units wide, with at least n
// triangles and few more: a closed body whose coordinates are not round, like those of scans and
// sculptures.
func SphereSTL(n int) []byte {
	rings := max(3, int(math.Ceil((1+math.Sqrt(1+float64(n)))/2)))
	segments := 2 * (rings - 1)
	for 2*segments*(rings-1) < n {
		segments++
	}
	at := func(ring, segment int) [3]float32 {
		theta, phi := math.Pi*float64(ring)/float64(rings), 2*math.Pi*float64(segment%segments)/float64(segments)
		r := 25 + math.Sin(theta)*math.Sin(9*theta)*math.Cos(7*phi)
		s := r * math.Sin(theta)
		if ring == rings {
			s = 0
		}
		// turns -0 into 0
		return [3]float32{float32(s*math.Cos(phi)) + 0, float32(s*math.Sin(phi)) + 0, float32(r * math.Cos(theta))}
	}
	count := 2 * segments * (rings - 1)
	b := make([]byte, 84, 84+50*count)
	copy(b, "bumpy sphere")
	binary.LittleEndian.PutUint32(b[80:], uint32(count))
	add := func(corners ...[3]float32) {
		b = append(b, make([]byte, 12)...) // a zero normal, to be computed from the corners
		for _, p := range corners {
			for _, x := range p {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
		}
		b = append(b, 0, 0)
	}
	upper, lower := make([][3]float32, segments+1), make([][3]float32, segments+1)
	for ring := range rings {
		for s := range lower {
			if ring == 0 {
				upper[s] = at(0, s)
			}
			lower[s] = at(ring+1, s)
		}
		for s := range segments {
			if ring < rings-1 {
				add(upper[s], lower[s], lower[s+1])
			}
			if ring > 0 {
				add(upper[s], lower[s+1], upper[s+1])
			}
		}
		upper, lower = lower, upper
	}
	return b
}
