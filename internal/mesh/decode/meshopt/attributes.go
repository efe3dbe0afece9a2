package meshopt

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
)

const (
	// groupSize is the number of elements for which one number of bits is stored.
	groupSize = 16
	// maxBlock is the maximum number of elements of a block.
	maxBlock = 256
	// version0 and version1 are the first bytes of attributes.
	version0, version1 = 0xa0, 0xa1
)

// The modes of a channel, which is four bytes of each element: what the differences are of. Version
// 0 has the first one only.
const (
	channelBytes  = 0 // four numbers of 8 bits
	channelShorts = 1 // two numbers of 16 bits
	channelXOR    = 2 // one of 32 bits, which is rotated by the upper half of the mode
)

// The control modes: how the differences of one byte are stored in a block. Modes 0 and 1 choose
// the widths of the groups.
const (
	controlZero     = 2 // there are none
	controlLiteral  = 3 // as bytes
	controlVersion0 = 4 // always used in version 0, which does not store it
)

// widths are the numbers of bits that a group can have, by the control mode.
var widths = [...][4]int{0: {0, 1, 2, 4}, 1: {1, 2, 4, 8}, controlVersion0: {0, 2, 4, 8}}

// attributes decodes attributes (mode 0). For each byte of an element, a block contains its
// differences between consecutive elements.
func (r *reader) attributes(count, stride int) []byte {
	first := byte(version0)
	if len(r.b) > 0 && r.b[0] == version1 {
		first = version1
	}
	last, channels := r.attributesTail(first, stride)
	values := make([]byte, count*stride)
	block := min(8192/stride&^(groupSize-1), maxBlock)
	var differences [4][maxBlock]byte
	for from := 0; from < count && r.err == nil; from += block {
		n := min(block, count-from)
		var controls []byte
		if first == version1 {
			controls = r.bytes(stride / 4)
		}
		for c, mode := range channels {
			for k := range differences {
				control := byte(controlVersion0)
				if first == version1 {
					control = controls[c] >> (2 * k) & 3
				}
				r.differences(differences[k][:n], control)
			}
			sum := last[4*c:][:4]
			for i, at := 0, from*stride+4*c; i < n; i, at = i+1, at+stride {
				add(sum, differences[0][i], differences[1][i], differences[2][i], differences[3][i], mode)
				copy(values[at:], sum)
			}
		}
	}
	r.end()
	return values
}

// attributesTail reads the first byte and the end: the element before the first one, and the modes
// of the channels.
func (r *reader) attributesTail(first byte, stride int) (last, channels []byte) {
	if first == version0 {
		tail := r.header(first, max(32, stride))
		return slices.Clone(tail[len(tail)-stride:]), make([]byte, stride/4)
	}
	tail := r.header(first, max(24, stride+stride/4))
	channels = tail[len(tail)-stride/4:]
	for _, mode := range channels {
		if mode != channelBytes && mode != channelShorts && mode&0xf != channelXOR {
			r.fail(mesh.Errorf(mesh.Malformed, "has a channel of the unknown mode 0x%02x", mode))
		}
	}
	return slices.Clone(tail[len(tail)-stride/4-stride : len(tail)-stride/4]), channels
}

// add adds differences to the four bytes of a channel.
func add(sum []byte, d0, d1, d2, d3, mode byte) {
	switch mode {
	case channelBytes:
		sum[0] += signed(d0)
		sum[1] += signed(d1)
		sum[2] += signed(d2)
		sum[3] += signed(d3)
	case channelShorts:
		low, high := binary.LittleEndian.Uint16(sum), binary.LittleEndian.Uint16(sum[2:])
		binary.LittleEndian.PutUint16(sum, low+signed(uint16(d0)|uint16(d1)<<8))
		binary.LittleEndian.PutUint16(sum[2:], high+signed(uint16(d2)|uint16(d3)<<8))
	default:
		d := binary.LittleEndian.Uint32([]byte{d0, d1, d2, d3})
		d = bits.RotateLeft32(d, -int(mode>>4))
		binary.LittleEndian.PutUint32(sum, binary.LittleEndian.Uint32(sum)^d)
	}
}

// differences decodes the differences of one byte in a block.
func (r *reader) differences(d []byte, control byte) {
	switch control {
	case controlZero:
		clear(d)
		return
	case controlLiteral:
		copy(d, r.bytes(len(d)))
		return
	}
	groups := (len(d) + groupSize - 1) / groupSize
	sizes := r.bytes((groups + 3) / 4)
	for g := range groups {
		group := r.group(widths[control][sizes[g/4]>>(g%4*2)&3])
		copy(d[g*groupSize:], group[:])
	}
}

// group decodes the differences of one byte of a group, which have the given number of bits. Those
// of less than 8 bits that are all ones follow as whole bytes.
func (r *reader) group(width int) (differences [groupSize]byte) {
	switch width {
	case 0:
		return differences
	case 8:
		return [groupSize]byte(r.bytes(groupSize))
	}
	packed, ones := r.bytes(groupSize*width/8), byte(1)<<width-1
	for i := range differences {
		at := i * width
		shift := 8 - width - at%8
		if width == 1 {
			shift = at % 8 // the first one is in the lowest bit
		}
		d := packed[at/8] >> shift & ones
		if d == ones {
			d = r.bytes(1)[0]
		}
		differences[i] = d
	}
	return differences
}
