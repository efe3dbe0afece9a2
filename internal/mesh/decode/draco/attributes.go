package draco

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
)

// The codings of the values of an attribute.
const (
	valuesPlain     = 0
	valuesInteger   = 1
	valuesQuantized = 2
	valuesNormals   = 3
)

// typePosition is the semantic of positions.
const typePosition = 0

// group is a group of attributes with the same connectivity (Attributes Decoder).
type group struct {
	table      *cornerTable
	order      uint8
	attributes []attribute
}

// attribute is an attribute that is being decoded.
type attribute struct {
	Attribute
	semantic uint8
	id       uint32
	coding   uint8
	wanted   bool
	values   []int32 // integers, before they are scaled
}

// attributes decodes the attributes (DecodeAttributeData), and finishes the mesh.
func (d *decoder) attributes() (*Mesh, error) {
	groups := make([]group, d.uint8())
	for i := range groups {
		if err := d.groupTable(&groups[i]); err != nil {
			return nil, err
		}
	}
	last := -1 // group with wanted attributes
	for i := range groups {
		count := d.varint31()
		if count > len(d.b)/6 {
			return nil, d.malformed("has more attributes than bytes for them")
		}
		groups[i].attributes = make([]attribute, count)
		for k := range count {
			if err := d.attributeHeader(&groups[i].attributes[k]); err != nil {
				return nil, err
			}
			if groups[i].attributes[k].wanted {
				last = i
			}
		}
		for k := range groups[i].attributes {
			groups[i].attributes[k].coding = d.uint8()
		}
	}
	m := &Mesh{Points: d.points, Triangles: len(d.corners) / 3, Attributes: map[uint32]Attribute{}}
	for i := range groups[:last+1] {
		if err := d.groupValues(&groups[i], m); err != nil {
			return nil, err
		}
	}
	if err := d.reserve(len(d.corners), 4); err != nil {
		return nil, err
	}
	m.Indices = make([]byte, 0, 4*len(d.corners))
	for _, p := range d.corners {
		m.Indices = binary.LittleEndian.AppendUint32(m.Indices, uint32(p))
	}
	return m, d.err
}

// groupTable reads which connectivity a group has (CreateAttributesDecoder).
func (d *decoder) groupTable(g *group) error {
	if d.table == nil {
		return d.err
	}
	number, perCorner := int8(d.uint8()), d.uint8()
	g.order = d.uint8()
	g.table = d.table
	switch {
	case int(number) >= len(d.split), number < 0 && perCorner != 0:
		return d.malformed("has attributes of a connectivity that does not exist")
	case g.order > traversePredictionDegree, perCorner != 0 && g.order != traverseDepthFirst:
		return d.malformed("has attributes in an unknown order")
	case perCorner != 0:
		g.table = d.split[number]
	}
	return d.err
}

// attributeHeader reads the description of an attribute (DecodeAttributesDecoderData).
func (d *decoder) attributeHeader(a *attribute) error {
	a.semantic, a.Type, a.Width, a.Normalized = d.uint8(), d.uint8(), int(d.uint8()), d.uint8() != 0
	id := d.varint()
	if id > math.MaxUint32 {
		return d.malformed("has an attribute with an invalid ID")
	}
	a.id = uint32(id)
	if i := slices.Index(d.wanted, a.id); i >= 0 {
		a.wanted = true
		d.wanted = slices.Delete(slices.Clone(d.wanted), i, i+1) // the first with the ID counts
	}
	switch {
	case d.err != nil:
		return d.err
	case a.Type == 0 || int(a.Type) >= len(sizes) || a.Width == 0:
		return d.malformed("has an attribute of an unknown type")
	case a.wanted && (a.Width > 4 || a.Type > Uint32 && a.Type != Float32):
		return mesh.Errorf(mesh.Unsupported, "has an attribute of %d components of the type %d, which is not supported",
			a.Width, a.Type)
	}
	return nil
}

// groupValues decodes the attributes of a group and stores those that are wanted.
func (d *decoder) groupValues(g *group, m *Mesh) error {
	s := &sequence{table: g.table}
	count := d.points
	isParent := func(a *attribute) bool { return a.semantic == typePosition && d.positions == nil }
	needed := slices.ContainsFunc(g.attributes, func(a attribute) bool { return a.wanted || isParent(&a) })
	if g.table != nil {
		count = g.table.used()
		if needed {
			if err := d.reserve(len(g.table.first)+len(g.table.vertex)/3, 4+4+1); err != nil {
				return err
			}
			var err error
			if s, err = newSequence(d.ctx, g.table, g.order); err != nil {
				return err
			}
		}
	}
	for i := range g.attributes {
		a := &g.attributes[i]
		if err := d.attributeValues(a, s, count, a.wanted || isParent(a)); err != nil {
			return err
		}
		if isParent(a) && a.values != nil && a.Width == 3 {
			d.positions, d.positionsSequence = a.values, s
		}
	}
	for i := range g.attributes {
		a := &g.attributes[i]
		if err := d.transform(a); err != nil {
			return err
		}
		if !a.wanted {
			continue
		}
		if g.table != nil {
			if err := d.spread(a, s); err != nil {
				return err
			}
		}
		m.Attributes[a.id] = a.Attribute
	}
	return nil
}

// attributeValues decodes count values, or skips them if they are not needed.
func (d *decoder) attributeValues(a *attribute, s *sequence, count int, needed bool) error {
	switch {
	case a.coding == valuesPlain:
		b := d.bytes(uint64(count) * uint64(a.Width*sizes[a.Type]))
		if a.wanted {
			a.Values = b
		}
		return d.err
	case a.coding > valuesNormals:
		return d.malformed("has an attribute of an unknown coding")
	case a.coding == valuesNormals && a.wanted:
		return mesh.Errorf(mesh.Unsupported, "has normals where something else is expected")
	case needed && a.Width > 4:
		return mesh.Errorf(mesh.Unsupported, "has positions of %d components", a.Width)
	}
	width := a.Width
	if a.coding == valuesNormals {
		width, needed = 2, false
	}
	p := predictor{d: d, s: s, width: width, count: count, method: int8(d.uint8())}
	if p.method != predictNone {
		p.transform = d.uint8()
	}
	values, err := d.integers(count, width, needed)
	if err != nil {
		return err
	}
	if err := p.read(); err != nil || !needed {
		return err
	}
	a.values = values
	return p.restore(values)
}

// integers reads integers (DecodeIntegerValues).
func (d *decoder) integers(count, width int, needed bool) ([]int32, error) {
	if d.uint8() != 0 {
		symbols, err := d.readSymbols(count*width, width, needed)
		if err != nil || !needed {
			return nil, err
		}
		return signed(symbols), d.reserve(len(symbols), 4)
	}
	size := int(d.uint8())
	if size < 1 || size > 4 {
		return nil, d.malformed("has integers of an unknown size")
	}
	b := d.bytes(uint64(count) * uint64(width*size))
	if d.err != nil || !needed {
		return nil, d.err
	}
	if err := d.reserve(count*width, 4+4); err != nil {
		return nil, err
	}
	symbols := make([]uint32, count*width)
	for i := range symbols {
		for k := range size {
			symbols[i] |= uint32(b[size*i+k]) << (8 * k)
		}
	}
	return signed(symbols), nil
}

// signed converts symbols, of which the odd ones stand for negative numbers.
func signed(symbols []uint32) []int32 {
	values := make([]int32, len(symbols))
	for i, v := range symbols {
		values[i] = int32(v>>1) ^ -int32(v&1)
	}
	return values
}

// transform reads how the values are scaled, and stores them in their original type
// (DecodeDataNeededByPortableTransforms, TransformAttributesToOriginalFormat).
func (d *decoder) transform(a *attribute) error {
	switch a.coding {
	case valuesQuantized:
		least := make([]float32, a.Width)
		for i := range least {
			least[i] = math.Float32frombits(d.uint32())
		}
		extent := math.Float32frombits(d.uint32())
		bits := d.uint8()
		switch {
		case bits < 1 || bits > 30:
			return d.malformed("has values of an invalid number of bits")
		case !a.wanted:
			return nil
		case a.Type != Float32:
			return d.malformed("has quantized integers")
		}
		if err := d.reserve(len(a.values), 4); err != nil {
			return err
		}
		step := extent / float32(int(1)<<bits-1)
		a.Values = make([]byte, 0, 4*len(a.values))
		for i, v := range a.values {
			scaled := float32(float32(v) * step) // without fusing it with the addition
			a.Values = binary.LittleEndian.AppendUint32(a.Values, math.Float32bits(scaled+least[i%a.Width]))
		}
	case valuesNormals:
		d.uint8() // number of bits
	case valuesInteger:
		if !a.wanted {
			return nil
		}
		if a.Type == Float32 {
			return d.malformed("has integers for an attribute of floats")
		}
		size := sizes[a.Type]
		if err := d.reserve(len(a.values), int64(size)); err != nil {
			return err
		}
		a.Values = make([]byte, 0, size*len(a.values))
		for _, v := range a.values {
			for k := range size {
				a.Values = append(a.Values, byte(v>>(8*k)))
			}
		}
	}
	return d.err
}

// spread replaces the values, which are in the order of the sequence, by one for each point.
func (d *decoder) spread(a *attribute, s *sequence) error {
	size := a.Width * sizes[a.Type]
	if err := d.reserve(d.points, int64(size)); err != nil {
		return err
	}
	values := make([]byte, d.points*size)
	for c, point := range d.corners {
		copy(values[int(point)*size:][:size], a.Values[s.value(int32(c))*size:])
	}
	a.Values = values
	return nil
}
