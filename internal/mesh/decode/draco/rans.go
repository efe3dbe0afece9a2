package draco

import "slices"

// ansState is the state of a decoder for asymmetric numeral systems, which reads its bytes from the
// last to the first.
type ansState struct {
	b     []byte
	state uint32
}

// start reads the initial state from the end of b (RansInitDecoder). Its first two bits say in how
// many bytes it is. base is the lower bound of the state.
func (a *ansState) start(b []byte, base uint32) bool {
	if len(b) == 0 {
		return false
	}
	size := int(b[len(b)-1]>>6) + 1
	if size > len(b) {
		return false
	}
	a.b, a.state = b[:len(b)-size], 0
	for i, c := range b[len(b)-size:] {
		a.state |= uint32(c) << (8 * i)
	}
	a.state &= 1<<(8*size-2) - 1
	a.state += base
	return a.state < base<<8
}

// refill reads bytes while the state is below base.
func (a *ansState) refill(base uint32) {
	for a.state < base && len(a.b) > 0 {
		last := len(a.b) - 1
		a.state = a.state<<8 | uint32(a.b[last])
		a.b = a.b[:last]
	}
}

// bitBase is the lower bound of the state when decoding bits.
const bitBase = 4096

// bitDecoder decodes bits of which each has the same probability (Rans Bit Decoder). Behind the end
// of its bytes, it returns some bits.
type bitDecoder struct {
	ansState
	one uint32 // probability of a 1, of 256
}

// bitDecoder reads the bytes of a bitDecoder (RansBitDecoder_StartDecoding).
func (r *reader) bitDecoder() (d bitDecoder) {
	zero := r.uint8()
	b := r.bytes(r.varint())
	d.one = uint32(-zero)
	if r.err == nil && !d.start(b, bitBase) {
		r.malformed("has coded bits with an invalid state")
	}
	return d
}

// next returns the next bit (RabsDescRead).
func (d *bitDecoder) next() bool {
	d.refill(bitBase)
	scaled, rest := d.state>>8*d.one, d.state&0xFF
	if rest < d.one {
		d.state = scaled + rest
		return true
	}
	d.state -= scaled + d.one
	return false
}

// maxSymbols is the maximum number of different symbols: the largest has 18 bits.
const maxSymbols = 1 << 18

// symbolDecoder decodes symbols by their probabilities.
type symbolDecoder struct {
	ansState
	base    uint32
	bits    uint8 // of the sum of all probabilities
	symbols []symbol
	table   []uint32 // symbol of each remainder of the state
}

// symbol is the probability of a symbol and the sum of those before it.
type symbol struct{ probability, before uint32 }

// start reads the probabilities, whose sum has the given number of bits (BuildSymbolTables), and
// then the bytes. It uses the memory of the last start again.
func (d *symbolDecoder) start(r *reader, bits uint8) error {
	d.base, d.bits = 4<<bits, bits
	count := r.varint31()
	if count > maxSymbols {
		return r.malformed("has too many symbols")
	}
	// A byte stands for at most 64 symbols.
	if count/64 > len(r.b) {
		return r.malformed("has more symbols than bytes for their probabilities")
	}
	d.symbols = slices.Grow(d.symbols[:0], count)[:count]
	clear(d.symbols)
	d.table = slices.Grow(d.table[:0], 1<<bits)
	for i := 0; i < count && r.err == nil; i++ {
		first := r.uint8()
		more := int(first & 3)
		if more == 3 { // symbols that do not occur
			i += int(first >> 2)
			if i >= count {
				return r.malformed("has probabilities for more symbols than there are")
			}
			continue
		}
		p := int(first >> 2)
		for k := range more {
			p |= int(r.uint8()) << (8*k + 6)
		}
		if p > 1<<bits-len(d.table) {
			return r.malformed("has symbols whose probabilities are too large")
		}
		d.symbols[i] = symbol{uint32(p), uint32(len(d.table))}
		for range p {
			d.table = append(d.table, uint32(i))
		}
	}
	if r.err == nil && len(d.table) != 1<<bits {
		return r.malformed("has symbols whose probabilities are too small")
	}
	b := r.bytes(r.varint())
	if r.err == nil && !d.ansState.start(b, d.base) {
		return r.malformed("has coded symbols with an invalid state")
	}
	return r.err
}

// skipSymbols skips what start reads.
func (r *reader) skipSymbols() {
	count := r.varint31()
	for i := 0; i < count && r.err == nil; i++ {
		first := r.uint8()
		if more := first & 3; more == 3 {
			i += int(first >> 2)
		} else {
			r.bytes(uint64(more))
		}
	}
	r.bytes(r.varint())
}

// next returns the next symbol (RansRead).
func (d *symbolDecoder) next() uint32 {
	d.refill(d.base)
	whole, rest := d.state>>d.bits, d.state&(1<<d.bits-1)
	value := d.table[rest]
	s := d.symbols[value]
	d.state = whole*s.probability + rest - s.before
	return value
}
