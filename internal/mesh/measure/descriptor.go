package measure

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
)

// Descriptor describes a shape by fifteen numbers that stay as they are when it is moved, turned or scaled, when its triangles or their
// corners are put in another order, cut into smaller ones or turned around, and that change little when its coordinates are rounded. A
// mirrored shape has others, unless it is nearly its own mirror image or has an axis of threefold or higher symmetry. It is nil where
// there is no shape: no area but what rounding may make, or no two places in a cloud of points. Colours are not in it.
//
// The numbers are made of moments of the surface, to the fourth degree, about its centroid. None says much of detail: two versions of a
// part that differ in a hole of a thousandth of the surface may count as the same.
type Descriptor []float64

// Tolerance is how far apart each of the numbers of two descriptors may be for the shapes to count as the same. Rounding to six digits, as
// ASCII files do, moves them by a sixth of that at most, where there are many slivers, and by a hundredth commonly.
const Tolerance = 5e-4

// version is hashed into fingerprints and keys, and is to be raised with any change of the numbers, so that old ones meet no new ones.
const version = 1

// The numbers of a descriptor. All but kind and extent are around 1 at most.
const (
	kind     = iota // 1 is a surface, 2 a cloud of points
	extent          // logarithm of the squared radius over the area; of a cloud, of the number of points
	longest         // largest eigenvalue of the second moments, less 1/3
	shortest        // smallest eigenvalue of the second moments, less 1/3
	tails           // logarithm of the mean of the fourth power of the distance from the centroid, which is 0 on a sphere
	lopsided        // length of the vector of third moments; it and what follows are 0 on symmetric shapes
	skewed          // norm of the third moments
	skew1           // the vector of third moments, in the second moments
	skew2           // the same, in their square
	tails1          // fourth moments, in the second moments
	tails2          // norm of the fourth moments
	skewedTails
	hand1 // this and the next two have the other sign on a mirrored shape
	hand2
	hand3
	numbers
)

// Same tells whether two descriptors are of the same shape, but for position, rotation, scale and rounding. Whatever is Same has at
// least one of its Keys in common. Nothing is the same as a nil descriptor.
func Same(a, b Descriptor) bool {
	if len(a) != numbers || len(b) != numbers {
		return false
	}
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= Tolerance) {
			return false
		}
	}
	return true
}

// Mirror gives the descriptor of the mirror image. Both have the same Keys.
func (d Descriptor) Mirror() Descriptor {
	m := slices.Clone(d)
	for i := hand1; i < len(m); i++ {
		m[i] = -m[i]
	}
	return m
}

// keyed are the numbers that keys are made of. There must be fewer of them than keys.
var keyed = [3]int{extent, longest, tails}

const (
	keys     = 4
	keyBin   = 5 * Tolerance  // above keys·Tolerance, see Keys
	nameBin  = math.Pi / 1000 // of Fingerprint; no rational number, nor the logarithm of one, should be on the border of a bin
	nameSize = 16             // hex digits
)

// Keys gives four strings to look a shape up by: shapes that are Same have at least one of them in common, and those that have one in
// common are to be confirmed by Same. It is nil for a nil descriptor.
//
// Three of the numbers are rounded to bins, and each key has its bins a quarter further than the one before. The borders of different
// keys' bins are then more than Tolerance apart, so each number of two shapes that are Same can be divided by a border in one key at
// most: three numbers spoil three keys, and one is left.
func (d Descriptor) Keys() []string {
	if len(d) != numbers {
		return nil
	}
	names := make([]string, keys)
	for i := range names {
		bins := []int64{int64(i), int64(d[kind])}
		for _, n := range keyed {
			bins = append(bins, int64(math.Round(d[n]/keyBin+float64(i)/keys)))
		}
		names[i] = name(bins)
	}
	return names
}

// Fingerprint gives a name to the shape, 16 hex digits, and "" for a nil descriptor. Different shapes have different names, as far as Same
// tells them apart by more than 7 times its tolerance. The same shape has the same name nearly always, but where rounding takes one of
// its numbers over the border of a bin: look a shape up by its Keys.
func (d Descriptor) Fingerprint() string {
	if len(d) != numbers {
		return ""
	}
	bins := []int64{-1}
	for _, x := range d {
		bins = append(bins, int64(math.Round(x/nameBin))) // symmetric shapes have zeros, which are in the middle of a bin
	}
	return name(bins)
}

func name(bins []int64) string {
	raw := []byte{version}
	for _, b := range bins {
		raw = binary.BigEndian.AppendUint64(raw, uint64(b))
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])[:nameSize]
}
