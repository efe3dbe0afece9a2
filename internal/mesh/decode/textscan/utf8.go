package textscan

import (
	"bufio"
	"io"

	"golang.org/x/text/encoding/unicode"
)

// UTF8Reader returns a reader of the text of r as UTF-8 without a byte order mark. It decodes
// UTF-16 of either byte order, which it detects by the byte order mark.
func UTF8Reader(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, 16)
	mark, _ := b.Peek(3) // the next read returns the same error
	switch {
	case len(mark) == 3 && string(mark) == "\xEF\xBB\xBF":
		b.Discard(3)
	case len(mark) >= 2 && (string(mark[:2]) == "\xFE\xFF" || string(mark[:2]) == "\xFF\xFE"):
		return unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder().Reader(b)
	}
	return b
}
