package decode

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
)

// longestHeaderPLY is how many bytes the header of a PLY file may have, comments and all.
const longestHeaderPLY = 256 << 10

// headerPLY is what the header of a PLY file says.
type headerPLY struct {
	order    binary.ByteOrder // nil of text
	elements []elementPLY
	length   int64 // in bytes
	lines    int
}

// elementPLY is a kind of things and how many of it follow, as the header says.
type elementPLY struct {
	name       string
	count      int64
	properties []propertyPLY
}

// propertyPLY is a number, or a list of numbers, of each thing.
type propertyPLY struct {
	name string
	list numberPLY // the type of the length of a list; none where it is a single number
	of   numberPLY
}

// numberPLY is a type of numbers.
type numberPLY uint8

const (
	none numberPLY = iota
	int8PLY
	uint8PLY
	int16PLY
	uint16PLY
	int32PLY
	uint32PLY
	float32PLY
	float64PLY
)

// size gives the bytes of a number in a binary file.
func (t numberPLY) size() int { return [...]int{0, 1, 1, 2, 2, 4, 4, 4, 8}[t] }

// whole tells whether the numbers are whole ones.
func (t numberPLY) whole() bool { return t < float32PLY }

// numbersPLY are the names of the types, old and new.
var numbersPLY = map[string]numberPLY{
	"char": int8PLY, "uchar": uint8PLY, "short": int16PLY, "ushort": uint16PLY, "int": int32PLY, "uint": uint32PLY,
	"float": float32PLY, "double": float64PLY,
	"int8": int8PLY, "uint8": uint8PLY, "int16": int16PLY, "uint16": uint16PLY, "int32": int32PLY, "uint32": uint32PLY,
	"float32": float32PLY, "float64": float64PLY,
}

// readHeaderPLY reads the header. Its lines end as the first one does.
func readHeaderPLY(src Source) (*headerPLY, error) {
	start, err := src.start(longestHeaderPLY)
	if err != nil {
		return nil, err
	}
	h := &headerPLY{}
	rest, ending := start, "\n"
	if i := bytes.IndexAny(start, "\r\n"); i >= 0 && start[i] == '\r' {
		ending = "\r"
		if bytes.HasPrefix(start[i:], []byte("\r\n")) {
			ending = "\r\n"
		}
	}
	known := false // the encoding
	for number := 1; ; number++ {
		line, after, ok := bytes.Cut(rest, []byte(ending))
		if !ok {
			return nil, mesh.Errorf(mesh.Malformed, "The header of the PLY file has no end_header in the first %d bytes.", len(start))
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
			return nil, mesh.Errorf(err.(*mesh.Error).Reason, "Line %d of the PLY file %s", number, err.Error())
		}
	}
}

// line reads a line. The message of an error continues what tells the number of the line.
func (h *headerPLY) line(fields []string) error {
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
			return mesh.Errorf(mesh.Unsupported, "has the format %s, which is not known.", quote([]byte(fields[1])))
		}
		return nil
	case fields[0] == "comment" || fields[0] == "obj_info":
		return nil
	case fields[0] == "element" && len(fields) == 3:
		count, ok := parseIndex([]byte(fields[2]))
		if !ok || count < 0 {
			return mesh.Errorf(mesh.Malformed, "has %s where the number of elements is expected.", quote([]byte(fields[2])))
		}
		h.elements = append(h.elements, elementPLY{name: fields[1], count: count})
		return nil
	case fields[0] == "property" && len(h.elements) == 0:
		return mesh.Errorf(mesh.Malformed, "has a property before any element.")
	case fields[0] == "property" && len(fields) == 3:
		return h.property(propertyPLY{name: fields[2]}, "", fields[1])
	case fields[0] == "property" && len(fields) == 5 && fields[1] == "list":
		return h.property(propertyPLY{name: fields[4]}, fields[2], fields[3])
	}
	return mesh.Errorf(mesh.Malformed, "has %s, which is not understood.", quote([]byte(strings.Join(fields, " "))))
}

func (h *headerPLY) property(p propertyPLY, list, of string) error {
	p.list, p.of = numbersPLY[list], numbersPLY[of]
	switch {
	case p.of == none:
		return mesh.Errorf(mesh.Malformed, "has %s where a type is expected.", quote([]byte(of)))
	case list != "" && (p.list == none || !p.list.whole()):
		return mesh.Errorf(mesh.Malformed, "has %s where a type of whole numbers is expected.", quote([]byte(list)))
	}
	e := &h.elements[len(h.elements)-1]
	e.properties = append(e.properties, p)
	return nil
}

// find gives the place of the first element of a name, -1 where there is none.
func (h *headerPLY) find(name string) int {
	for i, e := range h.elements {
		if e.name == name {
			return i
		}
	}
	return -1
}

// fixed gives the bytes of each thing in a binary file, where all are the same.
func (e *elementPLY) fixed() (size int64, ok bool) {
	for _, p := range e.properties {
		if p.list != none {
			return 0, false
		}
		size += int64(p.of.size())
	}
	return size, true
}

// column gives the place of the first property that has one of the names, -1 where there is none. A list is none.
func (e *elementPLY) column(list bool, names ...string) int {
	for i, p := range e.properties {
		for _, name := range names {
			if p.name == name && (p.list != none) == list {
				return i
			}
		}
	}
	return -1
}
