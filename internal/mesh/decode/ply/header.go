package ply

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// maxHeader is the maximum length of the header in bytes, including comments.
const maxHeader = 256 << 10

// header is the parsed header of a PLY file.
type header struct {
	order    binary.ByteOrder // nil for text
	elements []element
	length   int64 // in bytes
	lines    int
}

// element is an element declaration: its name, number of rows and properties.
type element struct {
	name       string
	count      int64
	properties []property
}

// property is a property declaration: a value, or a list of values.
type property struct {
	name string
	list scalarType // the type of the list length; noType for a single value
	of   scalarType
}

// scalarType is the type of a value.
type scalarType uint8

const (
	noType scalarType = iota
	int8Type
	uint8Type
	int16Type
	uint16Type
	int32Type
	uint32Type
	int64Type
	uint64Type
	float32Type
	float64Type
)

// size returns the size of a binary value in bytes.
func (t scalarType) size() int { return [...]int{0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8}[t] }

// isInteger reports whether the values are integers.
func (t scalarType) isInteger() bool { return t < float32Type }

// scalarTypes maps both sets of type names. Some programs write the types of 64 bits, which the
// format does not have.
var scalarTypes = map[string]scalarType{
	"char": int8Type, "uchar": uint8Type, "short": int16Type, "ushort": uint16Type, "int": int32Type, "uint": uint32Type,
	"float": float32Type, "double": float64Type,
	"int8": int8Type, "uint8": uint8Type, "int16": int16Type, "uint16": uint16Type, "int32": int32Type,
	"uint32":  uint32Type,
	"float32": float32Type, "float64": float64Type,
	"int64": int64Type, "uint64": uint64Type,
}

// readHeader reads the header. Its lines end with LF or CRLF, also both, or with CR.
func readHeader(src source.Source) (*header, error) {
	start, err := src.Prefix(maxHeader)
	if err != nil {
		return nil, err
	}
	h := &header{}
	rest, ending := start, "\n"
	if i := bytes.IndexAny(start, "\r\n"); i >= 0 && start[i] == '\r' && !bytes.HasPrefix(start[i:], []byte("\r\n")) {
		ending = "\r"
	}
	known := false // the format line has been read
	for number := 1; ; number++ {
		line, after, ok := bytes.Cut(rest, []byte(ending))
		if !ok {
			return nil, mesh.Errorf(mesh.Malformed, "The header of the PLY file has no end_header in the first %d bytes.",
				len(start))
		}
		rest = after
		fields := strings.Fields(string(line[:min(len(line), 1000)])) // comments may be longer
		switch {
		case number == 1 && (len(fields) != 1 || fields[0] != "ply"):
			return nil, mesh.Errorf(mesh.Malformed, "The PLY file does not begin with the line \"ply\".")
		case number == 1 || len(fields) == 0:
			continue
		case fields[0] == "end_header":
			if !known {
				return nil, mesh.Errorf(mesh.Malformed, "The header of the PLY file has no line \"format\".")
			}
			h.length, h.lines = int64(len(start)-len(rest)), number
			return h, nil
		case fields[0] == "format":
			known = true
		}
		if err := h.line(fields); err != nil {
			fault := &mesh.Error{Reason: mesh.Malformed}
			errors.As(err, &fault)
			return nil, mesh.Errorf(fault.Reason, "Line %d of the PLY file %s", number, err.Error())
		}
	}
}

// line parses a line. The message of an error is appended to text that names the line. Lines of
// other keywords are comments: Blender 2.4 wrote its name without the keyword. QGIS writes names of
// properties that have several words.
func (h *header) line(fields []string) error {
	switch {
	case fields[0] == "format" && len(fields) >= 2:
		switch fields[1] {
		case "ascii":
			h.order = nil
		case "binary_little_endian":
			h.order = binary.LittleEndian
		case "binary_big_endian":
			h.order = binary.BigEndian
		default:
			return mesh.Errorf(mesh.Unsupported, "has the format %s, which is not known.", textscan.Quote([]byte(fields[1])))
		}
		return nil
	case fields[0] == "element" && len(fields) == 3:
		count, ok := textscan.ParseInt([]byte(fields[2]))
		if !ok || count < 0 {
			return mesh.Errorf(mesh.Malformed, "has %s where the number of elements is expected.",
				textscan.Quote([]byte(fields[2])))
		}
		h.elements = append(h.elements, element{name: fields[1], count: count})
		return nil
	case fields[0] == "property" && len(h.elements) == 0:
		return mesh.Errorf(mesh.Malformed, "has a property before any element.")
	case fields[0] == "property" && len(fields) >= 5 && fields[1] == "list":
		return h.property(property{name: strings.Join(fields[4:], " ")}, fields[2], fields[3])
	case fields[0] == "property" && len(fields) >= 3 && fields[1] != "list":
		return h.property(property{name: strings.Join(fields[2:], " ")}, "", fields[1])
	case fields[0] == "format" || fields[0] == "element" || fields[0] == "property":
		return mesh.Errorf(mesh.Malformed, "has %s, which is not understood.",
			textscan.Quote([]byte(strings.Join(fields, " "))))
	}
	return nil
}

func (h *header) property(p property, list, of string) error {
	p.list, p.of = scalarTypes[list], scalarTypes[of]
	switch {
	case p.of == noType:
		return mesh.Errorf(mesh.Malformed, "has %s where a type is expected.", textscan.Quote([]byte(of)))
	case list != "" && (p.list == noType || !p.list.isInteger()):
		return mesh.Errorf(mesh.Malformed, "has %s where a type of whole numbers is expected.", textscan.Quote([]byte(list)))
	}
	e := &h.elements[len(h.elements)-1]
	e.properties = append(e.properties, p)
	return nil
}

// find returns the index of the first element of a name, or -1.
func (h *header) find(name string) int {
	for i, e := range h.elements {
		if e.name == name {
			return i
		}
	}
	return -1
}

// fixedSize returns the size of a binary row in bytes if all rows have the same size.
func (e *element) fixedSize() (size int64, ok bool) {
	for _, p := range e.properties {
		if p.list != noType {
			return 0, false
		}
		size += int64(p.of.size())
	}
	return size, true
}

// column returns the index of the first property with one of the names, or -1. list selects lists
// or single values.
func (e *element) column(list bool, names ...string) int {
	for i, p := range e.properties {
		for _, name := range names {
			if p.name == name && (p.list != noType) == list {
				return i
			}
		}
	}
	return -1
}
