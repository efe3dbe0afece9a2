package resample

import "math/bits"

// permutation puts the numbers below a size into an order that looks random, without keeping it: a Feistel network on
// the least even number of bits that holds them, gone through again while it leads beyond the size, which is less than
// four times on average.
type permutation struct {
	size uint64
	half int // bits of each of the two halves
	keys [4]uint64
}

// newPermutation is for the numbers from 0 to size-1, one order for each seed.
func newPermutation(size int, seed uint64) permutation {
	p := permutation{size: uint64(size), half: (bits.Len64(uint64(max(size-1, 1))) + 1) / 2}
	for i := range p.keys {
		p.keys[i] = mix(seed + uint64(i))
	}
	return p
}

// at gives the number at a place; each has one.
func (p permutation) at(place int) int {
	mask := uint64(1)<<p.half - 1
	x := uint64(place)
	for {
		left, right := x>>p.half, x&mask
		for _, key := range p.keys {
			left, right = right, left^mix(right^key)&mask
		}
		if x = left<<p.half | right; x < p.size {
			return int(x)
		}
	}
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014): one to one, and each bit of what comes out hangs on
// all bits of what went in.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
