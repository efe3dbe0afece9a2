package textscan

import (
	"io"

	"github.com/meshyard/meshyard/internal/mesh"
)

// maxWord is the maximum length of a word in bytes, more than any number needs.
const maxWord = 4 << 10

// Words reads a text file word by word without allocating memory for each word. A line ends with
// LF, CR or CRLF.
type Words struct {
	r          io.Reader
	format     string // for error messages
	Comments   bool   // # starts a comment that ends with the line
	buf        []byte
	start, end int
	Line       int  // of the last word, from 1
	at         int  // the line that buf[start] is in
	cr         bool // the last skipped byte was a CR
	eof        bool
}

// NewWords returns a Words that reads from r. format names the file format in error messages.
func NewWords(r io.Reader, format string) *Words { return NewWordsAt(r, format, 1) }

// NewWordsAt is like NewWords, for a reader that starts at the given line of the file, counted from
// 1.
func NewWordsAt(r io.Reader, format string, line int) *Words {
	return &Words{r: r, format: format, Line: line, at: line, buf: make([]byte, 64<<10)}
}

// Next returns the next word, and io.EOF after the last one. The slice is valid until the next
// call.
func (w *Words) Next() ([]byte, error) {
	if _, err := w.skip(false); err != nil {
		return nil, err
	}
	return w.word()
}

// NextInLine returns the next word of the current line, or an empty slice if there is none.
func (w *Words) NextInLine() ([]byte, error) {
	switch more, err := w.skip(true); {
	case err == io.EOF || err == nil && !more:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return w.word()
}

// skip advances to the next word, with inLine no farther than the end of the line. It reports
// whether there is a word.
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

// word returns the word at the current position.
func (w *Words) word() ([]byte, error) {
	for from := w.start; ; {
		for from < w.end && !IsSpace(w.buf[from]) && !(w.Comments && w.buf[from] == '#') {
			from++
		}
		length := from - w.start
		if length > maxWord {
			return nil, mesh.Errorf(mesh.Malformed, "Line %d of the %s file has a word of more than %d bytes.", w.Line, w.format,
				maxWord)
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

// SkipLine advances to the end of the line, which may have any length.
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

// fill reads more input behind the unread bytes, which it moves to the start of the buffer.
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
