package textscan

import (
	"bytes"
	"io"

	"github.com/meshyard/meshyard/internal/mesh"
)

// longestLine is how many bytes a line of a text file may have, with all that continue it.
const MaxLine = 1 << 20

// lines gives the lines of a text file one after another, and allocates for none. A line that ends with a backslash is continued by the
// next one, unless it is a comment.
type Lines struct {
	r          io.Reader
	format     string
	buf        []byte
	start, end int
	read       int // lines that were read
	Number     int // of the line given last, from 1; of its first one where it was continued
	eof        bool
}

func NewLines(r io.Reader, format string) *Lines {
	return &Lines{r: r, format: format, buf: make([]byte, 128<<10)}
}

// next gives a line without what ends it, valid until the next call, and io.EOF after the last one.
func (l *Lines) Next() ([]byte, error) {
	l.Number = l.read + 1
	from := l.start
	for {
		i := bytes.IndexByte(l.buf[from:l.end], '\n')
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
		if !continued(line) {
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
	line := bytes.TrimRight(l.buf[l.start:l.end], "\r\\")
	l.read++
	l.start = l.end
	return line, nil
}

func continued(line []byte) bool {
	if len(line) == 0 || line[len(line)-1] != '\\' {
		return false
	}
	first, _ := CutWord(line)
	return first[0] != '#'
}

// fill reads more behind the line that is looked for, which it moves to the front.
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
	return err
}
