package textscan

import (
	"bytes"
	"io"
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
)

// MaxLine is the maximum length of a line in bytes, including continuation lines.
const MaxLine = 1 << 20

// Lines reads a text file line by line without allocating memory for each line. Lines end with LF
// or CRLF, or with CR if there is no LF near the start of the file. A line that ends with a
// backslash continues on the next line, if its first word is one of those that permit it.
type Lines struct {
	r          io.Reader
	format     string
	continues  []string
	ending     byte // LF or CR; 0 before anything has been read
	buf        []byte
	start, end int
	read       int // number of lines read
	Number     int // of the last line, from 1; of its first line if it was continued
	eof        bool
}

// NewLines returns a Lines that reads from r. format names the file format in error messages.
// continues are the first words of lines that can continue. In other lines, such as comments and
// those with a name or a path, a backslash at the end is a character like any other.
func NewLines(r io.Reader, format string, continues ...string) *Lines {
	return &Lines{r: r, format: format, continues: continues, buf: make([]byte, 128<<10)}
}

// Next returns the next line without its line ending, and io.EOF after the last line. The slice is
// valid until the next call. A line longer than MaxLine is a *mesh.Error.
func (l *Lines) Next() ([]byte, error) {
	l.Number = l.read + 1
	from := l.start
	for {
		i := bytes.IndexByte(l.buf[from:l.end], l.ending)
		if i < 0 {
			from = l.end
			if l.eof {
				break
			}
			shift := l.start
			if err := l.fill(); err != nil {
				return nil, err
			}
			from -= shift
			continue
		}
		l.read++
		at := from + i
		line := bytes.TrimSuffix(l.buf[l.start:at], []byte{'\r'})
		if !l.isContinued(line) {
			l.start = at + 1
			return line, nil
		}
		for j := l.start + len(line) - 1; j <= at; j++ {
			l.buf[j] = ' '
		}
		from = at + 1
	}
	if l.start == l.end {
		return nil, io.EOF
	}
	line := bytes.TrimSuffix(l.buf[l.start:l.end], []byte{'\r'})
	if l.isContinued(line) {
		line = line[:len(line)-1]
	}
	l.read++
	l.start = l.end
	return line, nil
}

func (l *Lines) isContinued(line []byte) bool {
	if len(line) == 0 || line[len(line)-1] != '\\' {
		return false
	}
	first, _ := CutWord(line)
	return slices.Contains(l.continues, string(bytes.TrimRight(first, "\\")))
}

// fill reads more input behind the current line, which it moves to the start of the buffer.
func (l *Lines) fill() error {
	l.end = copy(l.buf, l.buf[l.start:l.end])
	l.start = 0
	if l.end == len(l.buf) {
		if l.end >= MaxLine {
			return mesh.Errorf(mesh.TooLarge, "Line %d of the %s file is longer than %d bytes.", l.Number, l.format, MaxLine)
		}
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := io.ReadFull(l.r, l.buf[l.end:])
	l.end += n
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		l.eof, err = true, nil
	}
	if l.ending == 0 {
		l.ending = lineEnding(l.buf[:l.end])
	}
	return err
}

// lineEnding returns the last byte of the line endings of a text, given its start. A CR at the end
// of start may be half of a CRLF.
func lineEnding(start []byte) byte {
	if cr := bytes.IndexByte(start, '\r'); cr >= 0 && cr < len(start)-1 && bytes.IndexByte(start, '\n') < 0 {
		return '\r'
	}
	return '\n'
}
