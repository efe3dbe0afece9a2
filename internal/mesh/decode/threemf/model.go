package threemf

import (
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
	"github.com/meshyard/meshyard/internal/mesh/decode/xmlscan"
)

// namespaceMaterials is the namespace of the materials and properties extension.
const namespaceMaterials = "http://schemas.microsoft.com/3dmanufacturing/material/2015/02"

// units are the 3MF units in millimeters (core specification, 3.4), with an abbreviation. The
// default is the millimeter.
var units = map[string]float64{"": 1, "micron": 0.001, "millimeter": 1, "mm": 1, "centimeter": 10, "inch": 25.4,
	"foot": 304.8, "meter": 1000}

// modelPart is the state of reading one model part.
type modelPart struct {
	*file
	*xmlscan.Scanner
	name     string
	first    bool   // the part with the build
	core     string // the namespace of the core specification, which is that of the root element
	palettes map[int64][]uint32
	textures map[int64]*mesh.Texture // nil for images that cannot be decoded
	groups   map[int64]*textureGroup
}

// model reads one model part.
func (p *file) model(name string) error {
	first := len(p.parts) == 0
	p.parts[name] = true
	f := p.File(name)
	if f == nil {
		return mesh.Errorf(mesh.Malformed, "The 3MF file has no part %s, which it refers to.", textscan.Quote([]byte(name)))
	}
	r, err := p.Open(f)
	if err != nil {
		return err
	}
	s := xmlscan.NewScanner(r, textscan.Quote([]byte(f.Name))+" in the 3MF file", p.limits.Depth)
	if err := s.Next(); err != nil {
		return err
	}
	if string(s.LocalName()) != "model" {
		return s.Errorf(mesh.Malformed, "has the root element %s where a model is expected", textscan.Quote(s.Tag.Name))
	}
	if first {
		unit, ok := units[strings.ToLower(string(s.Attr("unit")))]
		if !ok {
			return s.Errorf(mesh.Malformed, "has the unknown unit %s", textscan.Quote(s.Attr("unit")))
		}
		p.unit = unit
	}
	m := &modelPart{p, s, name, first, s.Namespace(), map[int64][]uint32{}, map[int64]*mesh.Texture{},
		map[int64]*textureGroup{}}
	if err := m.checkExtensions(); err != nil {
		return err
	}
	err = s.EachChild(func() error {
		switch m.coreName() {
		case "resources":
			return s.EachChild(m.resource)
		case "build":
			if first {
				return s.EachChild(m.item)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.Finish()
}

// coreName returns the name of an element of the core specification, or "" for an element of an
// extension.
func (m *modelPart) coreName() string {
	if m.Namespace() != m.core {
		return ""
	}
	return string(m.LocalName())
}

func (m *modelPart) resource() error {
	if err := m.countElement(); err != nil {
		return err
	}
	switch {
	case m.coreName() == "object":
		return m.object()
	case m.coreName() == "basematerials":
		return m.readPalette("base", func() uint32 { return hexColor(m.Attr("displaycolor")) })
	case m.Namespace() != namespaceMaterials:
		return nil
	}
	switch string(m.LocalName()) {
	case "colorgroup":
		return m.readPalette("color", func() uint32 { return hexColor(m.Attr("color")) })
	case "texture2d":
		return m.texture()
	case "texture2dgroup":
		return m.readTextureGroup()
	case "multiproperties":
		return m.readMultiProperties()
	}
	return nil
}

func (m *modelPart) object() error {
	id, err := m.number("id", -1)
	if err != nil {
		return err
	}
	key := resourceID{m.name, id}
	if m.objects[key] != nil {
		return m.Errorf(mesh.Malformed, "has a second object %d", id)
	}
	group, err := m.number("pid", -1)
	if err != nil {
		return err
	}
	index, err := m.number("pindex", 0)
	if err != nil {
		return err
	}
	o := &geometry.Object{}
	m.objects[key] = o
	if string(m.Attr("type")) == "other" {
		m.auxiliary[key] = true
	}
	return m.EachChild(func() error {
		switch m.coreName() {
		case "mesh":
			if o.Shape != nil {
				return m.Errorf(mesh.Malformed, "has a second mesh in object %d", id)
			}
			o.Shape = &geometry.Shape{}
			t := meshReader{modelPart: m, shape: o.Shape, group: group, color: m.color(group, index)}
			if m.first {
				t.unprinted = m.unprinted[id]
			}
			return t.mesh()
		case "components":
			return m.EachChild(func() error {
				if m.coreName() != "component" {
					return nil
				}
				return m.readReference(o, key)
			})
		default:
			m.booleans = m.booleans || isBoolean(m.Namespace())
		}
		return nil
	})
}

func (m *modelPart) item() error {
	if m.coreName() != "item" {
		return nil
	}
	return m.readReference(nil, resourceID{})
}

// readReference reads a component of an object, or an item of the build if owner is nil. Slicers
// mark items that are not printed, such as those beside the plate, with printable="0".
func (m *modelPart) readReference(owner *geometry.Object, from resourceID) error {
	if err := m.countElement(); err != nil {
		return err
	}
	id, err := m.number("objectid", -1)
	if err != nil {
		return err
	}
	at, err := m.transform()
	if err != nil {
		return err
	}
	part, err := m.resolvePart(m.name, m.path())
	if err != nil {
		return err
	}
	unprinted := owner == nil && string(m.Attr("printable")) == "0"
	m.references = append(m.references, reference{owner, from, resourceID{part, id}, at, unprinted})
	return nil
}

// path returns the attribute of the production extension that names another part. No other
// extension has an attribute of that name.
func (m *modelPart) path() []byte {
	for _, a := range m.Tag.Attrs {
		if n := len(a.Name) - len(":path"); n > 0 && string(a.Name[n:]) == ":path" {
			return a.Value
		}
	}
	return nil
}

// transform reads the attribute transform, twelve numbers: the fourth column of the matrix is
// always 0 0 0 1 and not written (core specification, 3.3).
func (m *modelPart) transform() (geometry.Transform, error) {
	rest := m.Attr("transform")
	if rest == nil {
		return geometry.Identity, nil
	}
	var t geometry.Transform
	for count := 0; ; count++ {
		var w []byte
		switch w, rest = textscan.CutWord(rest); {
		case len(w) == 0 && count == len(t):
			return t, nil
		case len(w) == 0:
			return t, m.Errorf(mesh.Malformed, "has a transform of %d numbers where twelve numbers are expected", count)
		}
		x, ok := textscan.ParseFloat(w)
		if !ok {
			return t, m.Errorf(mesh.Malformed, "has a transform with %s where twelve numbers are expected", textscan.Quote(w))
		}
		if count < len(t) {
			t[count] = x
		}
	}
}

// number reads a non-negative integer attribute. It returns missing if the attribute is missing.
func (m *modelPart) number(name string, missing int64) (int64, error) {
	value := m.Attr(name)
	if value == nil {
		return missing, nil
	}
	n, ok := textscan.ParseInt(value)
	if !ok || n < 0 {
		return 0, m.Errorf(mesh.Malformed, "has the %s %s where a number is expected", name, textscan.Quote(value))
	}
	return n, nil
}
