package gltf

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
)

// dataScheme is the scheme of a data URI.
const dataScheme = "data:"

// uriStripper reads the JSON of a glTF file and replaces each data URI by its position,
// "data:OFFSET,LENGTH", so that the bulk of the file is never held in memory as text.
type uriStripper struct {
	in      *bufio.Reader
	at      int64 // offset of the next byte
	quoted  bool  // inside a string
	pending []byte
}

func (t *uriStripper) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(t.pending) > 0 {
			copied := copy(p[n:], t.pending)
			t.pending = t.pending[copied:]
			n += copied
			continue
		}
		b, err := t.in.ReadByte()
		if err != nil {
			return n, err
		}
		t.at++
		p[n] = b
		n++
		switch {
		case b == '"':
			t.quoted = !t.quoted
			if err := t.stripURI(); err != nil {
				return n, err
			}
		case b == '\\' && t.quoted:
			b, err := t.in.ReadByte()
			if err != nil {
				return n, err
			}
			t.at++
			t.pending = append(t.pending[:0], b)
		}
	}
	return n, nil
}

// stripURI replaces a data URI if one follows.
func (t *uriStripper) stripURI() error {
	if !t.quoted {
		return nil
	}
	if start, err := t.in.Peek(len(dataScheme)); err != nil || string(start) != dataScheme {
		return nil //nolint:nilerr // the next read returns the same error
	}
	from := t.at
	for {
		part, err := t.in.ReadSlice('"')
		t.at += int64(len(part))
		if err == nil {
			break
		}
		if err != bufio.ErrBufferFull {
			return err
		}
	}
	t.quoted = false
	t.pending = fmt.Appendf(t.pending[:0], "%s%d,%d\"", dataScheme, from, t.at-1-from)
	return nil
}

// decodeURI returns a reader of the decoded data URI at an offset of the text. Only base64 is
// supported, which is what all exporters write.
func decodeURI(text io.ReaderAt, from, length int64) (r io.Reader, ok bool) {
	in := bufio.NewReader(&base64Text{in: bufio.NewReader(io.NewSectionReader(text, from, length))})
	header, err := in.ReadSlice(',')
	const encoding = ";base64,"
	if err != nil || len(header) < len(encoding) || string(header[len(header)-len(encoding):]) != encoding {
		return nil, false
	}
	return base64.NewDecoder(base64.RawStdEncoding, in), true
}

// base64Text removes JSON escapes and padding from base64. Some exporters escape characters that do
// not need it.
type base64Text struct{ in *bufio.Reader }

func (t *base64Text) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		b, err := t.in.ReadByte()
		if err == nil && b == '\\' {
			b, err = t.escape()
		}
		if err != nil {
			return n, err
		}
		if b != '=' {
			p[n] = b
			n++
		}
	}
	return len(p), nil
}

// escape reads the rest of an escape sequence. The base64 decoder ignores line breaks and rejects
// unexpected characters.
func (t *base64Text) escape() (byte, error) {
	b, err := t.in.ReadByte()
	switch {
	case err != nil:
		return 0, err
	case b == 'n' || b == 'r':
		return '\n', nil
	case b == '/':
		return b, nil
	case b != 'u':
		return '\\', nil
	}
	var digits [4]byte
	if _, err := io.ReadFull(t.in, digits[:]); err != nil {
		return 0, err
	}
	code, err := strconv.ParseUint(string(digits[:]), 16, 8)
	if err != nil {
		return '\\', nil //nolint:nilerr // the decoder rejects it
	}
	return byte(code), nil
}
