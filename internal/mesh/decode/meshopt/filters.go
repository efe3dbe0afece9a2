package meshopt

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// allows reports whether the filter applies to elements of stride bytes.
func (f Filter) allows(stride int) bool {
	switch f {
	case "", None, Exponential:
		return true
	case Octahedral, Color:
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
	case f == Color && stride == 4:
		for ; len(b) >= 4; b = b[4:] {
			c := rgba(float64(b[0]), float64(int8(b[1])), float64(int8(b[2])), b[3], math.MaxUint8)
			b[0], b[1], b[2], b[3] = byte(c[0]), byte(c[1]), byte(c[2]), byte(c[3])
		}
	case f == Color:
		for ; len(b) >= 8; b = b[8:] {
			alpha := binary.LittleEndian.Uint16(b[6:])
			for i, v := range rgba(float64(uint16(int16At(b, 0))), float64(int16At(b, 1)), float64(int16At(b, 2)), alpha,
				math.MaxUint16) {
				binary.LittleEndian.PutUint16(b[2*i:], uint16(v))
			}
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

// rgba converts a color from YCoCg to RGB. The highest bit of alpha that is set says how many bits
// the values have. most is what stands for 1 in the result.
func rgba[T uint8 | uint16](y, co, cg float64, alpha T, most float64) (c [4]float64) {
	all := T(1)<<bits.Len16(uint16(alpha)) - 1
	opacity := alpha << 1 & all // without its highest bit; the lowest one is doubled
	opacity |= opacity >> 1 & 1
	scale := most / max(1, float64(all))
	for i, v := range [4]float64{y + co - cg, y + cg, y - co - cg, float64(opacity)} {
		c[i] = math.Round(min(max(0, v*scale), most))
	}
	return c
}
