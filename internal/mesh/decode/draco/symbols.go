package draco

import "context"

// The schemes of coding symbols.
const (
	schemeTagged = 0
	schemeRaw    = 1
)

// tagBits is the number of bits of the sum of all probabilities of tags.
const tagBits = 12

// readSymbols reads count numbers, which are the components of elements with width components
// (DecodeSymbols). It returns nil instead of the numbers if they are not wanted.
func (d *decoder) readSymbols(count, width int, wanted bool) ([]uint32, error) {
	if count == 0 {
		return nil, d.err
	}
	var values []uint32
	if wanted {
		if err := d.reserve(count, 4); err != nil {
			return nil, err
		}
		values = make([]uint32, count)
	}
	switch d.uint8() {
	case schemeTagged:
		return values, d.taggedSymbols(values, count/width, width)
	case schemeRaw:
		return values, d.rawSymbols(values)
	}
	return nil, d.malformed("has an unknown scheme of symbols")
}

// rawSymbols reads symbols that are the numbers (DecodeRawSymbols). If values is nil, it skips
// them.
func (d *decoder) rawSymbols(values []uint32) error {
	length := d.uint8() // of the largest number, in bits
	if values == nil {
		d.skipSymbols()
		return d.err
	}
	if length < 1 || length > 18 {
		return d.malformed("has symbols of an invalid length")
	}
	if err := d.symbols.start(&d.reader, min(max(3*length/2, 12), 20)); err != nil {
		return err
	}
	for i := range values {
		values[i] = d.symbols.next()
		if err := interrupted(d.ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// taggedSymbols reads a symbol for each of count elements, which is the number of bits of each of
// its components (DecodeTaggedSymbols). The components follow the symbols. If values is nil, it
// skips them.
func (d *decoder) taggedSymbols(values []uint32, count, width int) error {
	if err := d.symbols.start(&d.reader, tagBits); err != nil {
		return err
	}
	in := bitReader{b: d.b}
	for i := range count {
		bits := int(d.symbols.next())
		if bits > 32 {
			return d.malformed("has a number of more than 32 bits")
		}
		if values == nil {
			in.skip(bits * width)
		} else {
			for k := range width {
				values[i*width+k] = in.bits(bits)
			}
		}
		if in.over {
			return d.malformed("ends in the middle of its numbers")
		}
		if err := interrupted(d.ctx, i); err != nil {
			return err
		}
	}
	d.bytes(in.size())
	return d.err
}

// interrupted returns the error of ctx in step i of a loop, which it checks in some of them.
func interrupted(ctx context.Context, i int) error {
	if i&0xFFFF == 0 {
		return ctx.Err()
	}
	return nil
}
