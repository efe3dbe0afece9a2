package decode

import (
	"bytes"
	"io"

	"github.com/meshyard/meshyard/internal/mesh"
)

// What an XML document may hold of each. Numbers and names are far shorter, and documents of meshes declare some ten namespaces.
const (
	longestTag     = 1 << 20 // bytes, with its attributes
	longestText    = 1 << 10 // bytes of text in front of a tag that are kept
	mostNamespaces = 256     // at a time
)

// xmlScanner gives the tags of an XML document one after another. It is some twenty times faster than encoding/xml, for it allocates for no
// tag and knows no more of XML than meshes need: documents are UTF-8, or UTF-16 with a byte-order mark, and a document type is refused, so
// that there are no entities but the five of XML itself.
type xmlScanner struct {
	r          io.Reader
	place      string // of the document in messages: `"3D/3dmodel.model" in the 3MF file`
	limits     mesh.Limits
	buf        []byte
	pos, end   int
	lines      int // before buf
	tag        xmlTag
	text       []byte // in front of the tag
	long       bool   // there was more of it
	rooted     bool   // the root element was seen
	open       []byte // names of the elements that are open, one behind another
	starts     []int  // of each in open
	namespaces []xmlNamespace
}

// xmlTag is the tag that was read last. What it holds is valid until the next one.
type xmlTag struct {
	name     []byte // with its prefix
	attrs    []xmlAttr
	start    bool
	empty    bool // it ends its element too
	declares bool // a namespace
}

type xmlAttr struct{ name, value []byte }

// xmlNamespace is what a prefix stands for in an element of a depth, and below it.
type xmlNamespace struct {
	prefix, uri string
	depth       int
}

func newXMLScanner(r io.Reader, place string, limits mesh.Limits) *xmlScanner {
	return &xmlScanner{r: decoded(r), place: place, limits: limits, buf: make([]byte, 64<<10)}
}

// next reads the next tag and the text in front of it. An element that is written as one tag has a start and an end too. After the end of
// the root comes io.EOF.
func (s *xmlScanner) next() error {
	s.text, s.long = s.text[:0], false
	if s.tag.start && s.tag.empty {
		s.tag.start = false
		s.close()
		return nil
	}
	for {
		if err := s.characters(); err != nil {
			if err == io.EOF && (!s.rooted || len(s.starts) > 0) {
				return s.errorf(mesh.Malformed, "ends before its root element does")
			}
			return err
		}
		if len(s.starts) == 0 && !s.rooted && len(bytes.TrimSpace(s.text)) > 0 {
			return s.errorf(mesh.Malformed, "is not XML: there is text before the root element")
		}
		if whole, err := s.markup(); whole || err != nil {
			return err
		}
	}
}

// depth counts the elements that are open: after the start of an element with it, after its end without it.
func (s *xmlScanner) depth() int { return len(s.starts) }

// children calls f at the start of each child of the element that starts at the tag, up to its end. What f leaves of the child is skipped.
func (s *xmlScanner) children(f func() error) error {
	depth := s.depth()
	for {
		if err := s.next(); err != nil {
			return err
		}
		if s.depth() < depth {
			return nil
		}
		if err := f(); err != nil {
			return err
		}
		for s.depth() > depth {
			if err := s.next(); err != nil {
				return err
			}
		}
	}
}

// content gives the text of the element that starts at the tag, without the white space around it, and reads up to its end.
func (s *xmlScanner) content() ([]byte, error) {
	depth := s.depth()
	if err := s.next(); err != nil {
		return nil, err
	}
	if s.depth() >= depth || s.long {
		return nil, s.errorf(mesh.Malformed, "has an element or a long text where a number or a name is expected")
	}
	return bytes.TrimSpace(s.text), nil
}

// finish reads what stands behind the root element, so that the whole document was looked at.
func (s *xmlScanner) finish() error {
	for {
		if err := s.next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// local gives the name of the tag without its prefix.
func (s *xmlScanner) local() []byte {
	return s.tag.name[bytes.IndexByte(s.tag.name, ':')+1:]
}

// space gives the namespace of the tag, empty where none is declared.
func (s *xmlScanner) space() string {
	prefix := s.tag.name[:max(0, bytes.IndexByte(s.tag.name, ':'))]
	for i := len(s.namespaces) - 1; i >= 0; i-- {
		if s.namespaces[i].prefix == string(prefix) {
			return s.namespaces[i].uri
		}
	}
	return ""
}

// attr gives the value of an attribute of the tag, nil where it has none.
func (s *xmlScanner) attr(name string) []byte {
	for _, a := range s.tag.attrs {
		if string(a.name) == name {
			return a.value
		}
	}
	return nil
}

// errorf makes an error of what the document has or does at this line.
func (s *xmlScanner) errorf(reason mesh.Reason, format string, args ...any) error {
	line := s.lines + bytes.Count(s.buf[:s.pos], []byte{'\n'}) + 1
	return mesh.Errorf(reason, "Line %d of %s "+format+".", append([]any{line, s.place}, args...)...)
}

// push opens the element of the tag.
func (s *xmlScanner) push() error {
	if len(s.starts) >= s.limits.Depth {
		return s.errorf(mesh.TooLarge, "has elements in each other more than %d deep", s.limits.Depth)
	}
	if len(s.starts) == 0 && s.rooted {
		return s.errorf(mesh.Malformed, "has a second root element")
	}
	s.rooted = true
	s.starts = append(s.starts, len(s.open))
	s.open = append(s.open, s.tag.name...)
	if !s.tag.declares {
		return nil
	}
	for _, a := range s.tag.attrs {
		prefix, ok := bytes.CutPrefix(a.name, []byte("xmlns"))
		if !ok || len(prefix) > 0 && prefix[0] != ':' {
			continue
		}
		if len(s.namespaces) >= mostNamespaces {
			return s.errorf(mesh.TooLarge, "declares more than %d namespaces", mostNamespaces)
		}
		prefix = bytes.TrimPrefix(prefix, []byte{':'})
		s.namespaces = append(s.namespaces, xmlNamespace{string(prefix), string(a.value), len(s.starts)})
	}
	return nil
}

// close closes the element that was opened last.
func (s *xmlScanner) close() {
	last := len(s.starts) - 1
	s.open = s.open[:s.starts[last]]
	s.starts = s.starts[:last]
	for n := len(s.namespaces); n > 0 && s.namespaces[n-1].depth > last; n-- {
		s.namespaces = s.namespaces[:n-1]
	}
}
