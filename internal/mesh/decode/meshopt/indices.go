package meshopt

import "encoding/binary"

// sequence decodes a sequence of indices (mode 2). Each is the sum of a difference and the index
// before it in one of two interleaved sequences, which the lowest bit selects.
func (r *reader) sequence(count, stride int) []byte {
	r.header(0xd1, 4)
	values := make([]byte, 0, count*stride)
	var last [2]uint32
	for range count {
		n := r.varint()
		last[n&1] += signed(n >> 1)
		values = appendIndex(values, last[n&1], stride)
	}
	r.end()
	return values
}

// appendIndex appends an index of 2 or 4 bytes.
func appendIndex(b []byte, index uint32, stride int) []byte {
	if stride == 2 {
		return binary.LittleEndian.AppendUint16(b, uint16(index))
	}
	return binary.LittleEndian.AppendUint32(b, index)
}

// triangles decodes a list of triangles (mode 1). Each has a code of one byte, which refers to
// recent edges and vertices.
func (r *reader) triangles(count, stride int) []byte {
	table := r.header(0xe1, 16)
	d := triangleDecoder{reader: r}
	values := make([]byte, 0, 3*count*stride)
	for _, code := range r.bytes(count) {
		var t [3]uint32
		switch {
		case code < 0xf0:
			t = d.onEdge(code>>4, code&0xf)
		case code < 0xfe:
			pair := table[code&0xf]
			t = d.apart(0, pair>>4, pair&0xf)
		default:
			pair := r.bytes(1)[0]
			if pair == 0 {
				d.next = 0
			}
			t = d.apart((code&1)*explicit, pair>>4, pair&0xf)
		}
		for _, vertex := range t {
			values = appendIndex(values, vertex, stride)
		}
	}
	r.end()
	return values
}

// Codes of a vertex. Those between them are its age among the recent vertices.
const (
	unused   = 0  // the vertex with the lowest index that did not occur yet
	explicit = 15 // a vertex whose difference from the last one of this kind follows
)

// triangleDecoder is the state of decoding triangles.
type triangleDecoder struct {
	*reader
	next     uint32 // the lowest index that did not occur yet
	last     uint32 // the last explicit vertex
	edges    recent[[2]uint32]
	vertices recent[uint32]
}

// recent contains the last 16 values.
type recent[T any] struct {
	values [16]T
	n      byte
}

func (q *recent[T]) add(v T) {
	q.values[q.n&15] = v
	q.n++
}

// ago returns the value that was added age values ago; the last one has the age 1.
func (q *recent[T]) ago(age byte) T { return q.values[(q.n-age)&15] }

// onEdge returns the triangle of a recent edge and a vertex.
func (d *triangleDecoder) onEdge(age, code byte) [3]uint32 {
	edge := d.edges.ago(age + 1)
	var c uint32
	switch code {
	case unused:
		c = d.vertex(code)
	case 13:
		d.last--
		c = d.last
	case 14:
		d.last++
		c = d.last
	case explicit:
		c = d.vertex(code)
	default:
		c = d.vertices.ago(code + 1)
	}
	if code == unused || code >= 13 {
		d.vertices.add(c)
	}
	d.edges.add([2]uint32{c, edge[1]})
	d.edges.add([2]uint32{edge[0], c})
	return [3]uint32{edge[0], edge[1], c}
}

// apart returns a triangle without a recent edge.
func (d *triangleDecoder) apart(codes ...byte) (t [3]uint32) {
	for i, code := range codes {
		t[i] = d.vertex(code)
	}
	for i, code := range codes {
		if code == unused || code == explicit {
			d.vertices.add(t[i])
		}
	}
	a, b, c := t[0], t[1], t[2]
	d.edges.add([2]uint32{b, a})
	d.edges.add([2]uint32{c, b})
	d.edges.add([2]uint32{a, c})
	return t
}

// vertex returns the vertex of a code, of which the age is at least 1.
func (d *triangleDecoder) vertex(code byte) uint32 {
	switch code {
	case unused:
		d.next++
		return d.next - 1
	case explicit:
		d.last += signed(d.varint())
		return d.last
	}
	return d.vertices.ago(code)
}
