package thumbnail

import (
	"encoding/binary"
	"math"
)

// readICC reads an ICC profile (ICC.1:2022) of the common kinds: three curves and a matrix, or one
// curve for grays. ok is false for others, such as those with tables, and for damaged ones.
func readICC(b []byte) (p profile, ok bool) {
	const header = 128
	if len(b) < header+4 || string(b[36:40]) != "acsp" || string(b[20:24]) != "XYZ " {
		return p, false
	}
	tags := map[string][]byte{}
	for at := header + 4; at+12 <= len(b) && len(tags) < 100; at += 12 {
		from, size := int64(binary.BigEndian.Uint32(b[at+4:])), int64(binary.BigEndian.Uint32(b[at+8:]))
		if count := int(binary.BigEndian.Uint32(b[header:])); (at-header-4)/12 >= count {
			break
		}
		if from+size <= int64(len(b)) {
			tags[string(b[at:at+4])] = b[from : from+size]
		}
	}
	switch string(b[16:20]) {
	case "GRAY":
		ok = readCurve(tags["kTRC"], &p.curves[0])
		p.curves[1], p.curves[2] = p.curves[0], p.curves[0]
		p.matrix = matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
		return p, ok
	case "RGB ":
		var colorants matrix
		for i, name := range []string{"r", "g", "b"} {
			xyz := tags[name+"XYZ"]
			if len(xyz) < 20 || !readCurve(tags[name+"TRC"], &p.curves[i]) {
				return p, false
			}
			for j := range 3 {
				colorants[j][i] = fixed(xyz[8+4*j:])
			}
		}
		p.matrix = toLinear.times(colorants)
		return p, true
	}
	return p, false
}

// fixed reads an s15Fixed16Number.
func fixed(b []byte) float64 { return float64(int32(binary.BigEndian.Uint32(b))) / 65536 }

// readCurve reads a curve of the type curv or para.
func readCurve(b []byte, curve *[256]float64) bool {
	if len(b) < 12 {
		return false
	}
	var at func(v float64) float64
	switch string(b[:4]) {
	case "curv":
		at = sampled(b[12:], binary.BigEndian.Uint32(b[8:]))
	case "para":
		at = parametric(b[12:], binary.BigEndian.Uint16(b[8:]))
	}
	if at == nil {
		return false
	}
	for i := range curve {
		v := at(float64(i) / 255)
		if math.IsNaN(v) {
			return false
		}
		curve[i] = max(0, min(1, v))
	}
	return true
}

// sampled returns the function of a curve with n samples: none for linear, one for an exponent.
func sampled(b []byte, n uint32) func(float64) float64 {
	sample := func(i int) float64 { return float64(binary.BigEndian.Uint16(b[2*i:])) }
	switch {
	case int64(len(b)) < 2*int64(n):
		return nil
	case n == 0:
		return func(v float64) float64 { return v }
	case n == 1:
		return func(v float64) float64 { return math.Pow(v, sample(0)/256) }
	}
	return func(v float64) float64 {
		at := v * float64(n-1)
		i := min(int(at), int(n)-2)
		return (sample(i) + (sample(i+1)-sample(i))*(at-float64(i))) / 65535
	}
}

// parametric returns the function of a parametric curve (section 10.18).
func parametric(b []byte, kind uint16) func(float64) float64 {
	counts := []int{1, 3, 4, 5, 7}
	if int(kind) >= len(counts) || len(b) < 4*counts[kind] {
		return nil
	}
	var n [7]float64
	for i := range counts[kind] {
		n[i] = fixed(b[4*i:])
	}
	gamma, a, bb, c, d, e, f := n[0], n[1], n[2], n[3], n[4], n[5], n[6]
	switch kind {
	case 0:
		return func(v float64) float64 { return math.Pow(v, gamma) }
	case 1, 2: // c is 0 for the first
		return func(v float64) float64 { return math.Pow(max(0, a*v+bb), gamma) + c }
	default: // e and f are 0 for the first
		return func(v float64) float64 {
			if v < d {
				return c*v + f
			}
			return math.Pow(max(0, a*v+bb), gamma) + e
		}
	}
}
