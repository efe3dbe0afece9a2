package textscan

import (
	"io"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Number parses the next word as a number. It returns NaN without an error for words such as nan
// and -inf. what names the number in error messages.
func (w *Words) Number(what string) (float64, error) {
	word, err := w.Next()
	if err != nil {
		return 0, w.UnexpectedEnd(err, what)
	}
	x, ok := ParseFloat(word)
	if !ok {
		if !NotFinite(word) {
			return 0, mesh.Errorf(mesh.Malformed, "Line %d of the %s file has %s where %s is expected.", w.Line, w.format,
				Quote(word), what)
		}
		x = math.NaN()
	}
	return x, nil
}

// Integer parses the next word as an integer. what names it in error messages. The word can be a
// number with a decimal point or an exponent, as numerical programs write all numbers.
func (w *Words) Integer(what string) (int64, error) {
	word, err := w.Next()
	if err != nil {
		return 0, w.UnexpectedEnd(err, what)
	}
	n, ok := ParseInt(word)
	if !ok {
		var x float64
		x, ok = ParseFloat(word)
		n = int64(x)
		ok = ok && math.Abs(x) < 1<<53 && float64(n) == x
	}
	if !ok {
		return 0, mesh.Errorf(mesh.Malformed, "Line %d of the %s file has %s where %s is expected.", w.Line, w.format,
			Quote(word), what)
	}
	return n, nil
}

// UnexpectedEnd turns io.EOF into a *mesh.Error that says what is missing. It returns other errors
// unchanged.
func (w *Words) UnexpectedEnd(err error, what string) error {
	if err != io.EOF {
		return err
	}
	return mesh.Errorf(mesh.Malformed, "The %s file ends on line %d where %s is expected.", w.format, w.Line, what)
}

// NotFinite reports whether a word is an infinity or a NaN as C libraries print them, such as
// -nan(ind) and 1.#QNAN.
func NotFinite(word []byte) bool {
	for len(word) > 0 && (word[0] == '-' || word[0] == '+') {
		word = word[1:]
	}
	if len(word) < 3 {
		return false
	}
	switch string([]byte{word[0] | 0x20, word[1] | 0x20, word[2] | 0x20}) {
	case "nan", "inf":
		return true
	}
	return word[1] == '.' && word[2] == '#'
}
