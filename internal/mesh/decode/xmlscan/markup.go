package xmlscan

import (
	"bytes"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// fill reads more input behind the unread bytes, which it moves to the start of the buffer. It
// returns io.EOF at the end of the input.
func (s *Scanner) fill() error {
	s.lines += bytes.Count(s.buf[:s.pos], []byte{'\n'})
	s.end = copy(s.buf, s.buf[s.pos:s.end])
	s.pos = 0
	if s.end == len(s.buf) {
		if s.end >= maxTag {
			return s.Errorf(mesh.TooLarge, "has a tag of more than %d bytes", maxTag)
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := io.ReadFull(s.r, s.buf[s.end:])
	s.end += n
	if err == io.ErrUnexpectedEOF || n > 0 && err == io.EOF {
		return nil
	}
	return err
}

// more is fill inside markup, where the end of the input is an error.
func (s *Scanner) more() error {
	err := s.fill()
	if err == io.EOF {
		return s.Errorf(mesh.Malformed, "ends inside a tag")
	}
	return err
}

// characters reads text up to the next markup.
func (s *Scanner) characters() error {
	for {
		piece := s.buf[s.pos:s.end]
		i := bytes.IndexByte(piece, '<')
		if i >= 0 {
			piece = piece[:i]
		}
		s.keep(piece)
		s.pos += len(piece)
		if i >= 0 {
			return nil
		}
		if err := s.fill(); err != nil {
			return err
		}
	}
}

func (s *Scanner) keep(piece []byte) {
	if room := maxText - len(s.text); len(piece) > room {
		piece, s.long = piece[:room], true
	}
	s.text = append(s.text, piece...)
}

// markup reads markup, which starts with "<", and reports whether it was a tag.
func (s *Scanner) markup() (tag bool, err error) {
	const opening = "<![CDATA["
	for s.end-s.pos < len(opening) {
		if err := s.fill(); err == io.EOF {
			break
		} else if err != nil {
			return false, err
		}
	}
	b := s.buf[s.pos:s.end]
	switch {
	case len(b) < 2:
		return false, s.more()
	case b[1] == '?':
		return false, s.skip("<?", "?>", false)
	case b[1] == '/':
		return true, s.endTag()
	case b[1] != '!':
		return true, s.startTag()
	case bytes.HasPrefix(b, []byte("<!--")):
		return false, s.skip("<!--", "-->", false)
	case bytes.HasPrefix(b, []byte(opening)):
		return false, s.skip(opening, "]]>", true)
	}
	return false, s.Errorf(mesh.Malformed, "has a document type (DOCTYPE), which is refused")
}

// skip reads markup of any length from its opening to its closing delimiter. With text it keeps the
// content as text.
func (s *Scanner) skip(opening, closing string, text bool) error {
	s.pos += len(opening)
	for {
		b := s.buf[s.pos:s.end]
		i := bytes.Index(b, []byte(closing))
		n := max(0, len(b)-len(closing)+1) // the rest may be the first part of the closing delimiter
		if i >= 0 {
			n = i
		}
		if text {
			s.keep(b[:n])
		}
		s.pos += n
		if i >= 0 {
			s.pos += len(closing)
			return nil
		}
		if err := s.more(); err != nil {
			return err
		}
	}
}

func (s *Scanner) endTag() error {
	for {
		b := s.buf[s.pos:s.end]
		if i := bytes.IndexByte(b, '>'); i >= 0 {
			name := bytes.TrimRight(b[2:i], " \t\r\n")
			if s.depth() == 0 || string(name) != string(s.open[s.starts[len(s.starts)-1]:]) {
				return s.Errorf(mesh.Malformed, "ends an element %s that is not the open one", textscan.Quote(name))
			}
			s.Tag.Name, s.Tag.Attrs, s.Tag.start = name, s.Tag.Attrs[:0], false
			s.pos += i + 1
			s.close()
			return nil
		}
		if err := s.more(); err != nil {
			return err
		}
	}
}

func (s *Scanner) startTag() error {
	for {
		n, err := s.Tag.parse(s.buf[s.pos:s.end])
		if err != "" {
			return s.Errorf(mesh.Malformed, "has a tag that is not XML: %s", err)
		}
		if n > 0 {
			if err := s.push(); err != nil {
				return err
			}
			s.pos += n
			return nil
		}
		if err := s.more(); err != nil {
			return err
		}
	}
}

// parse parses a start tag at the start of b and returns its length, or 0 if b ends before the tag
// does. wrong describes a syntax error.
func (t *Tag) parse(b []byte) (length int, wrong string) {
	t.Attrs, t.start, t.empty, t.declares = t.Attrs[:0], true, false, false
	i := 1
	for i < len(b) && !ending[b[i]] {
		i++
	}
	if t.Name = b[1:i]; len(t.Name) == 0 {
		return 0, "it has no name"
	}
	for {
		for i < len(b) && textscan.IsSpace(b[i]) {
			i++
		}
		switch {
		case i == len(b):
			return 0, ""
		case b[i] == '>':
			return i + 1, ""
		case b[i] == '/' && i+1 == len(b):
			return 0, ""
		case b[i] == '/' && b[i+1] == '>':
			t.empty = true
			return i + 2, ""
		}
		name := i
		for i < len(b) && !ending[b[i]] {
			i++
		}
		a := Attr{Name: b[name:i]}
		for i < len(b) && textscan.IsSpace(b[i]) {
			i++
		}
		if i == len(b) {
			return 0, ""
		}
		if len(a.Name) == 0 || b[i] != '=' {
			return 0, "it has something else than attributes"
		}
		for i++; i < len(b) && textscan.IsSpace(b[i]); i++ {
		}
		if i == len(b) {
			return 0, ""
		}
		mark := b[i]
		if mark != '"' && mark != '\'' {
			return 0, "it has an attribute without quotation marks"
		}
		i++
		value, entity := i, false
		for i < len(b) && b[i] != mark {
			entity = entity || b[i] == '&'
			i++
		}
		if i == len(b) {
			return 0, ""
		}
		if a.Value = b[value:i]; entity {
			if a.Value, wrong = unescaped(a.Value); wrong != "" {
				return 0, wrong
			}
		}
		if n := len(a.Value); n > 0 && (textscan.IsSpace(a.Value[0]) || textscan.IsSpace(a.Value[n-1])) {
			a.Value = bytes.TrimSpace(a.Value)
		}
		i++
		t.declares = t.declares || a.Name[0] == 'x'
		t.Attrs = append(t.Attrs, a)
	}
}

// ending holds the bytes that end a name.
var ending = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, '\v': true, '\f': true, '=': true, '/': true,
	'>': true, '<': true,
	'"': true, '\'': true}

// unescaped replaces the predefined entities of XML (XML 1.0, section 4.6) and character references
// (section 4.1).
func unescaped(b []byte) (out []byte, wrong string) {
	for {
		before, rest, found := bytes.Cut(b, []byte{'&'})
		out = append(out, before...)
		if !found {
			return out, ""
		}
		name, after, found := bytes.Cut(rest, []byte{';'})
		if !found || len(name) > 10 {
			return nil, "it has an & that starts no entity"
		}
		b = after
		switch string(name) {
		case "lt":
			out = append(out, '<')
		case "gt":
			out = append(out, '>')
		case "amp":
			out = append(out, '&')
		case "quot":
			out = append(out, '"')
		case "apos":
			out = append(out, '\'')
		default:
			number, numeric := bytes.CutPrefix(name, []byte{'#'})
			base := 10
			if hex, ok := bytes.CutPrefix(number, []byte{'x'}); ok {
				number, base = hex, 16
			}
			code, err := strconv.ParseUint(string(number), base, 32)
			if !numeric || err != nil || code > utf8.MaxRune || code == 0 {
				return nil, "it has the unknown entity " + textscan.Quote(name)
			}
			out = utf8.AppendRune(out, rune(code))
		}
	}
}
