package resample

import "math/bits"

// permutation is a pseudorandom permutation of the numbers below size in constant memory: a Feistel
// network on the smallest even number of bits, repeated while the result is not below size (cycle
// walking), fewer than four times on average.
type permutation struct {
	size uint64
	half int // bits in each half
	keys [4]uint64
}

// newPermutation returns the permutation of the numbers below size for a seed.
func newPermutation(size int, seed uint64) permutation {
	p := permutation{size: uint64(size), half: (bits.Len64(uint64(max(size-1, 1))) + 1) / 2}
	for i := range p.keys {
		p.keys[i] = mix(seed + uint64(i))
	}
	return p
}

// at returns the number at a position.
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

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014): a bijection in which each
// output bit depends on all input bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
