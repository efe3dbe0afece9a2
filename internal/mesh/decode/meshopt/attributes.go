package meshopt

import "slices"

// groupSize is the number of elements for which one number of bits is stored.
const groupSize = 16

// attributes decodes attributes (mode 0). For each byte of an element, a block contains its
// differences between consecutive elements.
func (r *reader) attributes(count, stride int) []byte {
	tail := r.header(0xa0, max(32, stride))
	last := slices.Clone(tail[len(tail)-stride:]) // of each byte, what the next difference adds to
	values := make([]byte, count*stride)
	block := min(8192/stride&^(groupSize-1), 256)
	for from := 0; from < count && r.err == nil; from += block {
		n := min(block, count-from)
		groups := (n + groupSize - 1) / groupSize
		for k := range last {
			sizes, sum := r.bytes((groups+3)/4), last[k]
			for g := range groups {
				differences := r.group(sizes[g/4] >> (g % 4 * 2) & 3)
				for i, d := range differences[:min(groupSize, n-g*groupSize)] {
					sum += signed(d)
					values[(from+g*groupSize+i)*stride+k] = sum
				}
			}
			last[k] = sum
		}
	}
	r.end()
	return values
}

// group decodes the differences of one byte of a group. They have no bits, 2, 4 or 8, as size is 0
// to 3. Those of 2 or 4 bits that are all ones follow as whole bytes.
func (r *reader) group(size byte) (differences [groupSize]byte) {
	switch size {
	case 0:
		return differences
	case 3:
		return [groupSize]byte(r.bytes(groupSize))
	}
	bits := 2 * int(size)
	packed, ones := r.bytes(groupSize*bits/8), byte(1)<<bits-1
	for i := range differences {
		at := i * bits
		d := packed[at/8] >> (8 - bits - at%8) & ones
		if d == ones {
			d = r.bytes(1)[0]
		}
		differences[i] = d
	}
	return differences
}
