package decode

import (
	"github.com/meshyard/meshyard/internal/mesh"
)

// namespaceMaterials is that of the materials and properties extension.
const namespaceMaterials = "http://schemas.microsoft.com/3dmanufacturing/material/2015/02"

// units of 3MF in millimetres (core specification, 3.4); one that is not said is a millimetre.
var units3MF = map[string]float64{"": 1, "micron": 0.001, "millimeter": 1, "centimeter": 10, "inch": 25.4, "foot": 304.8, "meter": 1000}

// modelPart is one part with a model while it is read.
type modelPart struct {
	*threeMF
	*xmlScanner
	name     string
	core     string // the namespace of the core, which is that of the root
	palettes map[int64][]uint32
}

// model reads one part.
func (p *threeMF) model(name string) error {
	first := len(p.parts) == 0
	p.parts[name] = true
	f := p.file(name)
	if f == nil {
		return mesh.Errorf(mesh.Malformed, "The 3MF file has no part %s, which it refers to.", quote([]byte(name)))
	}
	r, err := p.open(f)
	if err != nil {
		return err
	}
	s := newXMLScanner(r, quote([]byte(f.Name))+" in the 3MF file", p.limits)
	if err := s.next(); err != nil {
		return err
	}
	if string(s.local()) != "model" {
		return s.errorf(mesh.Malformed, "has the root element %s where a model is expected", quote(s.tag.name))
	}
	if first {
		unit, ok := units3MF[string(s.attr("unit"))]
		if !ok {
			return s.errorf(mesh.Malformed, "has the unknown unit %s", quote(s.attr("unit")))
		}
		p.unit = unit
	}
	m := &modelPart{p, s, name, s.space(), map[int64][]uint32{}}
	err = s.children(func() error {
		switch m.element() {
		case "resources":
			return s.children(m.resource)
		case "build":
			if first {
				return s.children(m.item)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.finish()
}

// element gives the name of an element of the core, and "" for one of an extension.
func (m *modelPart) element() string {
	if m.space() != m.core {
		return ""
	}
	return string(m.local())
}

func (m *modelPart) resource() error {
	if err := m.tally(); err != nil {
		return err
	}
	switch {
	case m.element() == "object":
		return m.object()
	case m.element() == "basematerials":
		return m.palette("base", "displaycolor")
	case m.space() == namespaceMaterials && string(m.local()) == "colorgroup":
		return m.palette("color", "color")
	}
	return nil
}

func (m *modelPart) object() error {
	id, err := m.number("id", -1)
	if err != nil {
		return err
	}
	key := partID{m.name, id}
	if m.objects[key] != nil {
		return m.errorf(mesh.Malformed, "has a second object %d", id)
	}
	group, err := m.number("pid", -1)
	if err != nil {
		return err
	}
	index, err := m.number("pindex", 0)
	if err != nil {
		return err
	}
	o := &object{}
	m.objects[key] = o
	return m.children(func() error {
		switch m.element() {
		case "mesh":
			if o.shape != nil {
				return m.errorf(mesh.Malformed, "has a second mesh in object %d", id)
			}
			o.shape = &solid{}
			t := triangles3MF{modelPart: m, shape: o.shape, group: group, color: m.color(group, index)}
			return t.mesh()
		case "components":
			return m.children(func() error {
				if m.element() != "component" {
					return nil
				}
				return m.link(o)
			})
		}
		return nil
	})
}

func (m *modelPart) item() error {
	if m.element() != "item" {
		return nil
	}
	return m.link(nil)
}

// link reads a component of an object, or an item of the build.
func (m *modelPart) link(owner *object) error {
	if err := m.tally(); err != nil {
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
	part, err := m.refer(m.name, m.path())
	if err != nil {
		return err
	}
	m.links = append(m.links, link{owner, partID{part, id}, at})
	return nil
}

// path gives the attribute of the production extension that names another part. No other extension has one of that name.
func (m *modelPart) path() []byte {
	for _, a := range m.tag.attrs {
		if n := len(a.name) - len(":path"); n > 0 && string(a.name[n:]) == ":path" {
			return a.value
		}
	}
	return nil
}

// transform reads the twelve numbers of an attribute of that name.
func (m *modelPart) transform() (transform, error) {
	rest := m.attr("transform")
	if rest == nil {
		return identity, nil
	}
	var t transform
	for i := range t {
		var w []byte
		w, rest = word(rest)
		x, ok := parseFloat(w)
		if !ok {
			return t, m.errorf(mesh.Malformed, "has a transform that is not twelve numbers")
		}
		t[i] = x
	}
	return t, nil
}

// number reads an attribute that is a whole number from 0 on, and gives another where it is missing.
func (m *modelPart) number(name string, missing int64) (int64, error) {
	value := m.attr(name)
	if value == nil {
		return missing, nil
	}
	n, ok := parseIndex(value)
	if !ok || n < 0 {
		return 0, m.errorf(mesh.Malformed, "has the %s %s where a number is expected", name, quote(value))
	}
	return n, nil
}
