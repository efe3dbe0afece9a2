package meshopt

import (
	"encoding/binary"
	"math"
)

// allows reports whether the filter applies to elements of stride bytes.
func (f Filter) allows(stride int) bool {
	switch f {
	case "", None, Exponential:
		return true
	case Octahedral:
		return stride == 4 || stride == 8
	case Quaternion:
		return stride == 8
	}
	return false
}

// apply applies the filter to decoded elements (appendix B).
func (f Filter) apply(b []byte, stride int) {
	switch {
	case f == Octahedral && stride == 4:
		for ; len(b) >= 4; b = b[4:] {
			x, y, z := onSphere(float64(int8(b[0])), float64(int8(b[1])), float64(int8(b[2])), math.MaxInt8)
			b[0], b[1], b[2] = byte(int8(x)), byte(int8(y)), byte(int8(z))
		}
	case f == Octahedral:
		for ; len(b) >= 8; b = b[8:] {
			x, y, z := onSphere(float64(int16At(b, 0)), float64(int16At(b, 1)), float64(int16At(b, 2)), math.MaxInt16)
			putInt16(b, 0, x)
			putInt16(b, 1, y)
			putInt16(b, 2, z)
		}
	case f == Quaternion:
		for ; len(b) >= 8; b = b[8:] {
			rotation(b)
		}
	case f == Exponential:
		for ; len(b) >= 4; b = b[4:] {
			v := int32(binary.LittleEndian.Uint32(b))
			value := math.Ldexp(float64(v<<8>>8), int(v>>24))
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(value)))
		}
	}
}

func int16At(b []byte, i int) int16 { return int16(binary.LittleEndian.Uint16(b[2*i:])) }

func putInt16(b []byte, i int, v float64) {
	binary.LittleEndian.PutUint16(b[2*i:], uint16(int16(v)))
}

// onSphere converts octahedral coordinates to a unit vector. one is what stands for 1 in them, and
// most in the result.
func onSphere(x, y, one, most float64) (float64, float64, float64) {
	z := one - math.Abs(x) - math.Abs(y)
	fold := math.Min(z, 0)
	x, y = x-math.Copysign(fold, x), y-math.Copysign(fold, y)
	scale := most / max(math.Sqrt(x*x+y*y+z*z), 1)
	return math.Round(x * scale), math.Round(y * scale), math.Round(z * scale)
}

// rotation converts a quaternion of three components, without the largest one, to one of four.
func rotation(b []byte) {
	last := int16At(b, 3)
	largest := int(last & 3)
	scale := 1 / math.Sqrt2 / float64(last|3)
	x, y, z := float64(int16At(b, 0))*scale, float64(int16At(b, 1))*scale, float64(int16At(b, 2))*scale
	w := math.Sqrt(max(0, 1-x*x-y*y-z*z))
	for i, v := range [4]float64{w, x, y, z} {
		putInt16(b, (largest+i)&3, math.Round(v*math.MaxInt16))
	}
}
