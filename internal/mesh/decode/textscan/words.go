package textscan

import (
	"io"

	"github.com/meshyard/meshyard/internal/mesh"
)

// longestWord is how many bytes a word of a text file may have, more than any number needs.
const maxWord = 4 << 10

// words gives the words of a text file one after another, and allocates for none. A line ends with a line feed, a carriage return or both.
type Words struct {
	r          io.Reader
	format     string // for messages
	Comments   bool   // # starts one, up to the end of the line
	buf        []byte
	start, end int
	Line       int  // of the word given last, from 1
	at         int  // the line that start is in
	cr         bool // a carriage return was skipped last
	eof        bool
}

func NewWords(r io.Reader, format string) *Words { return NewWordsAt(r, format, 1) }

// newWordsAt is NewWords for a reader that starts at a later line of the file, counted from 1.
func NewWordsAt(r io.Reader, format string, line int) *Words {
	return &Words{r: r, format: format, Line: line, at: line, buf: make([]byte, 64<<10)}
}

// next gives the next word, valid until the next call, and io.EOF after the last one.
func (w *Words) Next() ([]byte, error) {
	if _, err := w.skip(false); err != nil {
		return nil, err
	}
	return w.word()
}

// here gives the next word of the same line, and an empty one where there is none.
func (w *Words) NextInLine() ([]byte, error) {
	switch more, err := w.skip(true); {
	case err == io.EOF || err == nil && !more:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return w.word()
}

// skip goes to the next word, or with inLine no farther than to the end of the line, and tells whether there is a word.
func (w *Words) skip(inLine bool) (more bool, err error) {
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
			case comment || IsSpace(c):
			case c == '#' && w.Comments:
				comment = true
			default:
				w.start += i
				w.cr, w.Line = false, w.at
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
func (w *Words) word() ([]byte, error) {
	for from := w.start; ; {
		for from < w.end && !IsSpace(w.buf[from]) && !(w.Comments && w.buf[from] == '#') {
			from++
		}
		length := from - w.start
		if length > maxWord {
			return nil, mesh.Errorf(mesh.Malformed, "Line %d of the %s file has a word of more than %d bytes.", w.Line, w.format, maxWord)
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
func (w *Words) SkipLine() error {
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
func (w *Words) fill() error {
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
