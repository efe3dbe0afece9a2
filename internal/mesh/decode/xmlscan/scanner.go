package xmlscan

import (
	"bytes"
	"io"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
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
type Scanner struct {
	r          io.Reader
	place      string // of the document in messages: `"3D/3dmodel.model" in the 3MF file`
	maxDepth   int
	buf        []byte
	pos, end   int
	lines      int // before buf
	Tag        Tag
	text       []byte // in front of the tag
	long       bool   // there was more of it
	rooted     bool   // the root element was seen
	open       []byte // names of the elements that are open, one behind another
	starts     []int  // of each in open
	namespaces []namespace
}

// xmlTag is the tag that was read last. What it holds is valid until the next one.
type Tag struct {
	Name     []byte // with its prefix
	Attrs    []Attr
	start    bool
	empty    bool // it ends its element too
	declares bool // a namespace
}

type Attr struct{ Name, Value []byte }

// xmlNamespace is what a prefix stands for in an element of a depth, and below it.
type namespace struct {
	prefix, uri string
	depth       int
}

func NewScanner(r io.Reader, place string, maxDepth int) *Scanner {
	return &Scanner{r: textscan.UTF8Reader(r), place: place, maxDepth: maxDepth, buf: make([]byte, 64<<10)}
}

// next reads the next tag and the text in front of it. An element that is written as one tag has a start and an end too. After the end of
// the root comes io.EOF.
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

// depth counts the elements that are open: after the start of an element with it, after its end without it.
func (s *Scanner) depth() int { return len(s.starts) }

// children calls f at the start of each child of the element that starts at the tag, up to its end. What f leaves of the child is skipped.
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

// content gives the text of the element that starts at the tag, without the white space around it, and reads up to its end.
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

// finish reads what stands behind the root element, so that the whole document was looked at.
func (s *Scanner) Finish() error {
	for {
		if err := s.Next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// local gives the name of the tag without its prefix.
func (s *Scanner) LocalName() []byte {
	return s.Tag.Name[bytes.IndexByte(s.Tag.Name, ':')+1:]
}

// space gives the namespace of the tag, empty where none is declared.
func (s *Scanner) Namespace() string {
	prefix := s.Tag.Name[:max(0, bytes.IndexByte(s.Tag.Name, ':'))]
	for i := len(s.namespaces) - 1; i >= 0; i-- {
		if s.namespaces[i].prefix == string(prefix) {
			return s.namespaces[i].uri
		}
	}
	return ""
}

// attr gives the value of an attribute of the tag, nil where it has none.
func (s *Scanner) Attr(name string) []byte {
	for _, a := range s.Tag.Attrs {
		if string(a.Name) == name {
			return a.Value
		}
	}
	return nil
}

// errorf makes an error of what the document has or does at this line.
func (s *Scanner) Errorf(reason mesh.Reason, format string, args ...any) error {
	line := s.lines + bytes.Count(s.buf[:s.pos], []byte{'\n'}) + 1
	return mesh.Errorf(reason, "Line %d of %s "+format+".", append([]any{line, s.place}, args...)...)
}

// push opens the element of the tag.
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
		if len(s.namespaces) >= mostNamespaces {
			return s.Errorf(mesh.TooLarge, "declares more than %d namespaces", mostNamespaces)
		}
		prefix = bytes.TrimPrefix(prefix, []byte{':'})
		s.namespaces = append(s.namespaces, namespace{string(prefix), string(a.Value), len(s.starts)})
	}
	return nil
}

// close closes the element that was opened last.
func (s *Scanner) close() {
	last := len(s.starts) - 1
	s.open = s.open[:s.starts[last]]
	s.starts = s.starts[:last]
	for n := len(s.namespaces); n > 0 && s.namespaces[n-1].depth > last; n-- {
		s.namespaces = s.namespaces[:n-1]
	}
}
