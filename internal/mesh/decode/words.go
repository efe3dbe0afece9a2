package decode

import (
	"io"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// longestWord is how many bytes a word of a text file may have, more than any number needs.
const longestWord = 4 << 10

// words gives the words of a text file one after another, and allocates for none. A line ends with a line feed, a carriage return or both.
type words struct {
	r          io.Reader
	format     string // for messages
	comments   bool   // # starts one, up to the end of the line
	buf        []byte
	start, end int
	line       int  // of the word given last, from 1
	at         int  // the line that start is in
	cr         bool // a carriage return was skipped last
	eof        bool
}

func newWords(r io.Reader, format string) *words {
	return &words{r: r, format: format, line: 1, at: 1, buf: make([]byte, 64<<10)}
}

// next gives the next word, valid until the next call, and io.EOF after the last one.
func (w *words) next() ([]byte, error) {
	if _, err := w.skip(false); err != nil {
		return nil, err
	}
	return w.word()
}

// here gives the next word of the same line, and an empty one where there is none.
func (w *words) here() ([]byte, error) {
	switch more, err := w.skip(true); {
	case err == io.EOF || err == nil && !more:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return w.word()
}

// skip goes to the next word, or with inLine no farther than to the end of the line, and tells whether there is a word.
func (w *words) skip(inLine bool) (more bool, err error) {
	comment := false
	for {
		for i, c := range w.buf[w.start:w.end] {
			switch {
			case c == '\n' || c == '\r':
				if inLine {
					w.start += i
					return false, nil
				}
				if c == '\r' || !w.cr {
					w.at++
				}
				comment = false
				w.cr = c == '\r'
				continue
			case comment || blank(c):
			case c == '#' && w.comments:
				comment = true
			default:
				w.start += i
				w.cr, w.line = false, w.at
				return true, nil
			}
			w.cr = false
		}
		w.start = w.end
		if err := w.fill(); err != nil {
			return false, err
		}
	}
}

// word gives the word that starts here.
func (w *words) word() ([]byte, error) {
	for from := w.start; ; {
		for from < w.end && !blank(w.buf[from]) && !(w.comments && w.buf[from] == '#') {
			from++
		}
		length := from - w.start
		if length > longestWord {
			return nil, mesh.Errorf(mesh.Malformed, "Line %d of the %s file has a word of more than %d bytes.", w.line, w.format, longestWord)
		}
		if from == w.end && !w.eof {
			switch err := w.fill(); {
			case err == nil:
				from = w.start + length
				continue
			case err != io.EOF:
				return nil, err
			}
			from = w.start + length
		}
		word := w.buf[w.start:from]
		w.start = from
		return word, nil
	}
}

// skipLine goes to the end of the line, however long that is.
func (w *words) skipLine() error {
	for {
		for i, c := range w.buf[w.start:w.end] {
			if c == '\n' || c == '\r' {
				w.start += i
				w.cr = false
				return nil
			}
		}
		w.start = w.end
		if err := w.fill(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// fill reads more behind what is left, which it moves to the front.
func (w *words) fill() error {
	w.end = copy(w.buf, w.buf[w.start:w.end])
	w.start = 0
	if w.eof {
		return io.EOF
	}
	n, err := io.ReadFull(w.r, w.buf[w.end:])
	w.end += n
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		w.eof, err = true, nil
		if n == 0 {
			err = io.EOF
		}
	}
	return err
}

// number gives the next word as a number. Words such as nan and -inf are not a number, which is no error here. What the number is of is
// for messages.
func (w *words) number(what string) (float64, error) {
	word, err := w.next()
	if err != nil {
		return 0, w.ends(err, what)
	}
	x, ok := parseFloat(word)
	if !ok {
		if !notFinite(word) {
			return 0, mesh.Errorf(mesh.Malformed, "Line %d of the %s file has %s where %s is expected.", w.line, w.format, quote(word), what)
		}
		x = math.NaN()
	}
	return x, nil
}

// whole gives the next word as a whole number.
func (w *words) whole(what string) (int64, error) {
	word, err := w.next()
	if err != nil {
		return 0, w.ends(err, what)
	}
	n, ok := parseIndex(word)
	if !ok {
		return 0, mesh.Errorf(mesh.Malformed, "Line %d of the %s file has %s where %s is expected.", w.line, w.format, quote(word), what)
	}
	return n, nil
}

// ends tells what is missing where the file ends.
func (w *words) ends(err error, what string) error {
	if err != io.EOF {
		return err
	}
	return mesh.Errorf(mesh.Malformed, "The %s file ends on line %d where %s is expected.", w.format, w.line, what)
}

// notFinite tells whether a word is what C libraries write for infinity and what is not a number, such as -nan(ind) and 1.#QNAN.
func notFinite(word []byte) bool {
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
