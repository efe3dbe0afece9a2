package textscan

import (
	"bufio"
	"io"

	"golang.org/x/text/encoding/unicode"
)

// decoded gives text as UTF-8 without a byte-order mark. UTF-16 is told by its mark, in either order.
func UTF8Reader(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, 16)
	mark, _ := b.Peek(3) // an error comes again with the next read
	switch {
	case len(mark) == 3 && string(mark) == "\xEF\xBB\xBF":
		b.Discard(3)
	case len(mark) >= 2 && (string(mark[:2]) == "\xFE\xFF" || string(mark[:2]) == "\xFF\xFE"):
		return unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder().Reader(b)
	}
	return b
}
