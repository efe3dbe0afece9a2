package threejs

import (
	"io"
	"math"
	"strconv"

	"github.com/meshyard/meshyard/internal/mesh"
)

const (
	bufferSize = 64 << 10
	// batch is how many numbers are written between checks of the buffer, and longest the maximum
	// length of a number with a comma: -1.2345678e-38,
	batch, longest = 512, 24
)

// encoder appends to a buffer and writes it when it is full. It writes nothing after an error.
type encoder struct {
	w   io.Writer
	b   []byte
	err error
}

func (e *encoder) flush() error {
	if e.err == nil {
		_, e.err = e.w.Write(e.b)
	}
	e.b = e.b[:0]
	return e.err
}

// ensureSpace flushes the buffer if n bytes do not fit, and reports whether to continue. n must be
// less than the buffer size.
func (e *encoder) ensureSpace(n int) bool {
	if len(e.b)+n > cap(e.b) {
		e.flush()
	}
	return e.err == nil
}

func (e *encoder) text(s string) {
	if e.ensureSpace(len(s)) {
		e.b = append(e.b, s...)
	}
}

// number writes a number in double precision.
func (e *encoder) number(x float64) {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		e.fail(ErrNotFinite)
	} else if e.ensureSpace(longest) {
		e.b = strconv.AppendFloat(e.b, x, 'g', -1, 64)
	}
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// uncomma removes the comma after the last number of a list.
func (e *encoder) uncomma() {
	if n := len(e.b); e.err == nil && n > 0 && e.b[n-1] == ',' {
		e.b = e.b[:n-1]
	}
}

// floats writes the shortest decimals that parse to the same numbers.
func (e *encoder) floats(xs []float32) {
	for len(xs) > 0 && e.ensureSpace(batch*longest) {
		n := min(batch, len(xs))
		b := e.b
		for _, x := range xs[:n] {
			if math.Float32bits(x)&infinite == infinite {
				e.fail(ErrNotFinite)
				return
			}
			b = append(strconv.AppendFloat(b, float64(x), 'g', -1, 32), ',')
		}
		e.b, xs = b, xs[n:]
	}
	e.uncomma()
}

// infinite are the exponent bits of infinity and NaN.
const infinite = 0x7F800000

// decimals is the number of decimals of normals, as a power of ten.
const decimals = 10_000

// normals writes numbers from -1 to 1.
func (e *encoder) normals(xs []float32) {
	words := fractions()
	for len(xs) > 0 && e.ensureSpace(batch*longest) {
		n := min(batch, len(xs))
		b := e.b
		for _, x := range xs[:n] {
			if math.Float32bits(x)&infinite == infinite {
				e.fail(ErrNotFinite)
				return
			}
			i := int(x*decimals + 0.5)
			if x < 0 {
				i = int(0.5 - x*decimals)
			}
			i = min(i, decimals)
			if x < 0 && i > 0 {
				b = append(b, '-')
			}
			b = append(b, words[i]...)
		}
		e.b, xs = b, xs[n:]
	}
	e.uncomma()
}

// fractions returns the decimals from 0 to 1, each with a comma.
func fractions() []string {
	words := make([]string, decimals+1)
	var all []byte
	ends := make([]int, len(words)+1)
	for i := range words {
		all = append(strconv.AppendFloat(all, float64(i)/decimals, 'f', -1, 64), ',')
		ends[i+1] = len(all)
	}
	text := string(all)
	for i := range words {
		words[i] = text[ends[i]:ends[i+1]]
	}
	return words
}

// colors writes colors as linear light, which three.js expects. Each has four bytes, of which
// three or four channels are written.
func (e *encoder) colors(colors []uint8, channels int) {
	var light, alpha [256]string
	for i := range light {
		light[i] = strconv.FormatFloat(mesh.Linear[i], 'g', 5, 64) + ","
		alpha[i] = strconv.FormatFloat(float64(i)/255, 'g', 4, 64) + ","
	}
	for ; len(colors) >= 4 && e.ensureSpace(4*longest); colors = colors[4:] {
		e.b = append(append(append(e.b, light[colors[0]]...), light[colors[1]]...), light[colors[2]]...)
		if channels == 4 {
			e.b = append(e.b, alpha[colors[3]]...)
		}
	}
	e.uncomma()
}

func (e *encoder) indices(indices []uint32) {
	for len(indices) > 0 && e.ensureSpace(batch*longest) {
		n := min(batch, len(indices))
		b := e.b
		for _, v := range indices[:n] {
			b = append(strconv.AppendUint(b, uint64(v), 10), ',')
		}
		e.b, indices = b, indices[n:]
	}
	e.uncomma()
}
