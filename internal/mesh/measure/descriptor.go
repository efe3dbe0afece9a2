package measure

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
)

// Descriptor describes a shape by fifteen numbers. They do not depend on position, rotation, scale,
// the order and orientation of the triangles or their subdivision. They change little when
// coordinates are rounded. A mirror image has another descriptor, unless the shape is nearly
// symmetric or has an axis of at least threefold symmetry. The descriptor is nil if there is no
// shape: only area within rounding errors, or fewer than two distinct points in a cloud. Colors do
// not matter.
//
// The numbers derive from the moments of the surface about its centroid, up to the fourth degree.
// They do not capture detail: two versions of a part that differ in a hole of a thousandth of the
// surface may count as the same.
type Descriptor []float64

// Tolerance is the maximum difference of each number for shapes to count as the same. Rounding to
// six digits, as in ASCII files, changes the numbers by at most a sixth of that for meshes with
// many slivers, and typically by a hundredth.
const Tolerance = 5e-4

// version is part of fingerprints and keys. Increase it with any change of the numbers, so that old
// values do not match new ones.
const version = 1

// The numbers of a descriptor. All except kind and extent are at most about 1.
const (
	kind     = iota // 1 for a surface, 2 for a point cloud
	extent          // logarithm of squared radius / area, or / points of a cloud
	longest         // largest eigenvalue of the second moments minus 1/3
	shortest        // smallest eigenvalue of the second moments minus 1/3
	tails           // logarithm of the mean fourth power of the distance to the centroid
	// length of the vector of third moments; this and the following are 0 for symmetric shapes
	lopsided
	skewed // norm of the third moments
	skew1  // the vector of third moments in the quadratic form of the second moments
	skew2  // the same in the square of that form
	tails1 // fourth moments contracted with the second moments
	tails2 // norm of the fourth moments
	skewedTails
	hand1 // this and the next two change sign in a mirror image
	hand2
	hand3
	numbers
)

// Same reports whether two descriptors are of the same shape, up to position, rotation, scale and
// rounding. Descriptors that are Same have at least one of their Keys in common. A nil descriptor
// is not the same as any other.
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

// keyed are the numbers that keys are made of. There must be fewer of them than keys.
var keyed = [3]int{extent, longest, tails}

const (
	keys   = 4
	keyBin = 5 * Tolerance // more than keys·Tolerance, see Keys
	// of Fingerprint; irrational, so that no rational number or its logarithm is on the border of a
	// bin
	nameBin  = math.Pi / 1000
	nameSize = 16 // hex digits
)

// Keys returns four strings for looking up a shape in an index: shapes that are Same have at least
// one key in common. Confirm a match with Same. Keys returns nil for a nil descriptor.
//
// Three of the numbers are rounded to bins. The bins of each key are offset by a quarter from those
// of the key before, so the borders of different keys are more than Tolerance apart. Each number of
// two shapes that are Same can be separated by a border in at most one key: three numbers spoil at
// most three keys, and one remains.
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

// Fingerprint returns a name for the shape, 16 hex digits, or "" for a nil descriptor. Shapes whose
// descriptors differ by more than 7 times the tolerance have different names. The same shape nearly
// always has the same name; the exception is a number that rounding moves across the border of a
// bin. Use Keys to look up shapes.
func (d Descriptor) Fingerprint() string {
	if len(d) != numbers {
		return ""
	}
	bins := []int64{-1}
	for _, x := range d {
		// the zeros of symmetric shapes are in the middle of a bin
		bins = append(bins, int64(math.Round(x/nameBin)))
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
