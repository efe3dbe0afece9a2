// Package xmlscan reads XML documents of meshes, about twenty times faster than encoding/xml.
package xmlscan

import (
	"bytes"
	"io"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// Limits of an XML document. Real numbers and names are far shorter, and mesh documents declare
// about ten namespaces.
const (
	maxTag        = 1 << 20 // bytes of a tag with its attributes
	maxText       = 1 << 10 // bytes of text before a tag that are kept
	maxNamespaces = 256     // in scope at the same time
)

// Scanner reads the tags of an XML document one by one, without allocating memory for each tag. It
// supports only what mesh formats need: documents are UTF-8, or UTF-16 with a byte order mark. It
// rejects document type declarations, so there are no entities other than the five predefined ones.
type Scanner struct {
	r          io.Reader
	place      string // names the document in error messages: `"3D/3dmodel.model" in the 3MF file`
	maxDepth   int
	buf        []byte
	pos, end   int
	lines      int // lines before buf
	Tag        Tag
	text       []byte // the text before the tag
	long       bool   // text was truncated
	rooted     bool   // the root element has been read
	open       []byte // names of the open elements, concatenated
	starts     []int  // start of each name in open
	namespaces []namespace
}

// Tag is the tag that was read last. Its contents are valid until the next call of Next.
type Tag struct {
	Name     []byte // with its prefix
	Attrs    []Attr
	start    bool
	empty    bool // a self-closing tag
	declares bool // a namespace declaration
}

// Attr is an attribute of a tag, with entities replaced in its value. White space around the value
// is removed: it means nothing in numbers and URIs (XML Schema, whiteSpace="collapse").
type Attr struct{ Name, Value []byte }

// namespace is a prefix and its URI, in scope in an element at a depth and below it.
type namespace struct {
	prefix, uri string
	depth       int
}

// NewScanner returns a Scanner that reads from r. place names the document in error messages.
// Elements nested deeper than maxDepth are an error.
func NewScanner(r io.Reader, place string, maxDepth int) *Scanner {
	return &Scanner{r: textscan.UTF8Reader(r), place: place, maxDepth: maxDepth, buf: make([]byte, 64<<10)}
}

// Next reads the next tag and the text before it. A self-closing tag is reported as a start and an
// end. Next returns io.EOF after the end of the root element. Its other errors are of type
// *mesh.Error.
func (s *Scanner) Next() error {
	s.text, s.long = s.text[:0], false
	if s.Tag.start && s.Tag.empty {
		s.Tag.start = false
		s.close()
		return nil
	}
	for {
		if err := s.characters(); err != nil {
			if err == io.EOF && (!s.rooted || len(s.starts) > 0) {
				return s.Errorf(mesh.Malformed, "ends before its root element does")
			}
			return err
		}
		if len(s.starts) == 0 && !s.rooted && len(bytes.TrimSpace(s.text)) > 0 {
			return s.Errorf(mesh.Malformed, "is not XML: there is text before the root element")
		}
		if whole, err := s.markup(); whole || err != nil {
			return err
		}
	}
}

// depth returns the number of open elements. It includes an element after its start tag and
// excludes it after its end tag.
func (s *Scanner) depth() int { return len(s.starts) }

// EachChild calls f at the start tag of each child of the current element and returns after the end
// of that element. It skips what f leaves unread of the child.
func (s *Scanner) EachChild(f func() error) error {
	depth := s.depth()
	for {
		if err := s.Next(); err != nil {
			return err
		}
		if s.depth() < depth {
			return nil
		}
		if err := f(); err != nil {
			return err
		}
		for s.depth() > depth {
			if err := s.Next(); err != nil {
				return err
			}
		}
	}
}

// Text returns the text of the current element without surrounding white space, and reads up to the
// end of the element. Child elements are an error.
func (s *Scanner) Text() ([]byte, error) {
	depth := s.depth()
	if err := s.Next(); err != nil {
		return nil, err
	}
	if s.depth() >= depth || s.long {
		return nil, s.Errorf(mesh.Malformed, "has an element or a long text where a number or a name is expected")
	}
	return bytes.TrimSpace(s.text), nil
}

// Finish reads the rest of the document, so that errors in it are found.
func (s *Scanner) Finish() error {
	for {
		if err := s.Next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// LocalName returns the name of the current tag without its prefix.
func (s *Scanner) LocalName() []byte {
	return s.Tag.Name[bytes.IndexByte(s.Tag.Name, ':')+1:]
}

// Namespace returns the namespace URI of the current tag, "" if none is declared.
func (s *Scanner) Namespace() string {
	return s.NamespaceOf(s.Tag.Name[:max(0, bytes.IndexByte(s.Tag.Name, ':'))])
}

// NamespaceOf returns the namespace URI of a prefix, "" if none is declared.
func (s *Scanner) NamespaceOf(prefix []byte) string {
	for i := len(s.namespaces) - 1; i >= 0; i-- {
		if s.namespaces[i].prefix == string(prefix) {
			return s.namespaces[i].uri
		}
	}
	return ""
}

// Attr returns the value of an attribute of the current tag, nil if it is missing.
func (s *Scanner) Attr(name string) []byte {
	for _, a := range s.Tag.Attrs {
		if string(a.Name) == name {
			return a.Value
		}
	}
	return nil
}

// Errorf returns a *mesh.Error that names the current line and the document. The message continues
// with the formatted text.
func (s *Scanner) Errorf(reason mesh.Reason, format string, args ...any) error {
	line := s.lines + bytes.Count(s.buf[:s.pos], []byte{'\n'}) + 1
	return mesh.Errorf(reason, "Line %d of %s "+format+".", append([]any{line, s.place}, args...)...)
}

// push opens the element of the current tag.
func (s *Scanner) push() error {
	if len(s.starts) >= s.maxDepth {
		return s.Errorf(mesh.TooLarge, "has elements in each other more than %d deep", s.maxDepth)
	}
	if len(s.starts) == 0 && s.rooted {
		return s.Errorf(mesh.Malformed, "has a second root element")
	}
	s.rooted = true
	s.starts = append(s.starts, len(s.open))
	s.open = append(s.open, s.Tag.Name...)
	if !s.Tag.declares {
		return nil
	}
	for _, a := range s.Tag.Attrs {
		prefix, ok := bytes.CutPrefix(a.Name, []byte("xmlns"))
		if !ok || len(prefix) > 0 && prefix[0] != ':' {
			continue
		}
		if len(s.namespaces) >= maxNamespaces {
			return s.Errorf(mesh.TooLarge, "declares more than %d namespaces", maxNamespaces)
		}
		prefix = bytes.TrimPrefix(prefix, []byte{':'})
		s.namespaces = append(s.namespaces, namespace{string(prefix), string(a.Value), len(s.starts)})
	}
	return nil
}

// close closes the innermost open element.
func (s *Scanner) close() {
	last := len(s.starts) - 1
	s.open = s.open[:s.starts[last]]
	s.starts = s.starts[:last]
	for n := len(s.namespaces); n > 0 && s.namespaces[n-1].depth > last; n-- {
		s.namespaces = s.namespaces[:n-1]
	}
}
