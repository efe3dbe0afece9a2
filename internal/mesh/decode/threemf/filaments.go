package threemf

import (
	"encoding/json"
	"errors"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
	"github.com/meshyard/meshyard/internal/mesh/decode/xmlscan"
)

// The parts in which Bambu Studio and OrcaSlicer store which extruder prints an object or its
// parts, and which color the filament of each extruder has.
const (
	extruderConfig = "metadata/model_settings.config"
	filamentConfig = "metadata/project_settings.config"

	maxFilamentConfig = 8 << 20
	maxFilaments      = 256
)

// unpainted marks triangles without a color in projects with filaments: they have that of their
// extruder. No property has this color, because none is fully transparent.
const unpainted = 0

// filaments are the colors of the filaments of a project.
type filaments struct {
	colors  []uint32
	objects map[int64]*extruders
}

// extruders are the extruders of an object and of its parts, counted from 1; 0 is none of its own.
type extruders struct {
	own   int64
	parts []partExtruder
}

type partExtruder struct{ id, extruder int64 }

// color returns the color of the filament of an extruder. The slicers use the first one for an
// extruder that does not exist.
func (f *filaments) color(extruder int64) uint32 {
	if extruder < 1 || extruder > int64(len(f.colors)) {
		extruder = 1
	}
	return f.colors[extruder-1]
}

// painted returns the color of a painted triangle, or unpainted.
func (f *filaments) painted(extruder int) uint32 {
	if f == nil || extruder < 1 || extruder > len(f.colors) {
		return unpainted
	}
	return f.colors[extruder-1]
}

// missing returns the color of triangles without a property. In projects with filaments, that is
// the color of the extruder.
func (p *file) missing() uint32 {
	if p.filaments != nil {
		return unpainted
	}
	return geometry.NoColor
}

// readFilaments reads the colors of filaments. The mesh is valid without them, so damaged settings
// are ignored.
func (p *file) readFilaments() error {
	f := p.File(filamentConfig)
	if f == nil {
		return nil
	}
	var damaged *mesh.Error
	text, err := p.ReadFile(f, maxFilamentConfig)
	if err != nil {
		if errors.As(err, &damaged) {
			return nil
		}
		return err
	}
	var settings struct {
		Colors []string `json:"filament_colour"`
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		settings.Colors = nil
	}
	if len(settings.Colors) == 0 || len(settings.Colors) > maxFilaments {
		return nil
	}
	p.filaments = &filaments{objects: map[int64]*extruders{}}
	for _, color := range settings.Colors {
		p.filaments.colors = append(p.filaments.colors, hexColor([]byte(color)))
	}
	f = p.File(extruderConfig)
	if f == nil {
		return nil
	}
	r, err := p.Open(f)
	if err == nil {
		err = p.scanExtruders(xmlscan.NewScanner(r, textscan.Quote([]byte(f.Name))+" in the 3MF file", p.limits.Depth))
	}
	if errors.As(err, &damaged) {
		return nil
	}
	return err
}

func (p *file) scanExtruders(s *xmlscan.Scanner) error {
	if err := s.Next(); err != nil {
		return err
	}
	return s.EachChild(func() error {
		if string(s.LocalName()) != "object" {
			return nil
		}
		if err := p.countElement(); err != nil {
			return err
		}
		id, _ := textscan.ParseInt(s.Attr("id"))
		o := &extruders{}
		p.filaments.objects[id] = o
		return s.EachChild(func() error {
			setExtruder(s, &o.own)
			if string(s.LocalName()) != "part" {
				return nil
			}
			if err := p.countElement(); err != nil {
				return err
			}
			var part partExtruder
			part.id, _ = textscan.ParseInt(s.Attr("id"))
			err := s.EachChild(func() error {
				setExtruder(s, &part.extruder)
				return nil
			})
			o.parts = append(o.parts, part)
			return err
		})
	})
}

// setExtruder sets an extruder if the current element is its metadata.
func setExtruder(s *xmlscan.Scanner, to *int64) {
	if string(s.LocalName()) != "metadata" || string(s.Attr("key")) != "extruder" {
		return
	}
	if n, ok := textscan.ParseInt(s.Attr("value")); ok && n > 0 {
		*to = n
	}
}

// ofPart returns the extruder of a part of an object by its ID, or by its position if no part has
// the ID, and 0 if the object decides.
func (e *extruders) ofPart(id int64, position int) int64 {
	if e == nil {
		return 0
	}
	for _, part := range e.parts {
		if part.id == id {
			return part.extruder
		}
	}
	if position < len(e.parts) {
		return e.parts[position].extruder
	}
	return 0
}
