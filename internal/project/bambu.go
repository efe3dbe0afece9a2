package project

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh/decode/xmlscan"
	"github.com/meshyard/meshyard/internal/sliced"
)

// The parts in which Bambu Studio, OrcaSlicer and Creality Print keep a project.
const (
	modelSettings   = "metadata/model_settings.config"
	projectSettings = "metadata/project_settings.config"
	sliceInfo       = "metadata/slice_info.config"
)

// projectKeys are the settings that are read, by the names that sliced.Settings.Set knows.
var projectKeys = []string{"printer_model", "printer_settings_id", "nozzle_diameter", "layer_height",
	"sparse_infill_density",
	"enable_support", "filament_type", "filament_colour", "filament_settings_id"}

func (p *project) bambu() error {
	text, err := p.read(projectSettings, maxSettings)
	if !ignorable(err) {
		return err
	}
	var settings map[string]json.RawMessage
	if json.Unmarshal(text, &settings) == nil {
		for _, key := range projectKeys {
			p.facts.Set(key, joined(settings[key]))
		}
	}
	if err := p.scan(modelSettings, p.modelSettings); !ignorable(err) {
		return err
	}
	if len(p.facts.Plates) > 0 {
		if err := p.printable(); !ignorable(err) {
			return err
		}
	}
	return p.scan(sliceInfo, p.sliceInfo)
}

// joined returns the values of a setting, which is a text or a list of texts, separated by
// semicolons.
func joined(raw json.RawMessage) string {
	var one string
	var several []string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	if json.Unmarshal(raw, &several) != nil {
		return ""
	}
	for i, v := range several {
		several[i] = `"` + strings.ReplaceAll(v, `"`, "") + `"`
	}
	return strings.Join(several, ";")
}

// scan reads a small XML part with a function that is called at its root.
func (p *project) scan(name string, read func(*xmlscan.Scanner) error) error {
	f := p.File(name)
	if f == nil || f.UncompressedSize64 > maxSettings {
		return nil
	}
	r, err := p.Open(f)
	if err != nil {
		return err
	}
	s := xmlscan.NewScanner(r, strconv.Quote(f.Name)+" in the 3MF file", p.depth)
	if err := s.Next(); err != nil {
		return err
	}
	return read(s)
}

// modelSettings reads the objects and the plates.
func (p *project) modelSettings(s *xmlscan.Scanner) error {
	return s.EachChild(func() error {
		switch string(s.LocalName()) {
		case "object":
			return p.object(s)
		case "plate":
			return p.modelPlate(s)
		}
		return nil
	})
}

// object reads an object with its parts, which PrusaSlicer calls volumes.
func (p *project) object(s *xmlscan.Scanner) error {
	o := Object{id: string(s.Attr("id"))}
	err := s.EachChild(func() error {
		switch string(s.LocalName()) {
		case "metadata":
			if string(s.Attr("key")) == "name" {
				o.Name = sliced.Text(string(s.Attr("value")))
			}
		case "part", "volume":
			part := Part{Kind: sliced.Text(string(s.Attr("subtype")))}
			err := s.EachChild(func() error {
				switch string(s.Attr("key")) {
				case "name":
					part.Name = sliced.Text(string(s.Attr("value")))
				case "volume_type":
					part.Kind = sliced.Text(string(s.Attr("value")))
				}
				return nil
			})
			if len(o.Parts) < maxParts {
				o.Parts = append(o.Parts, part)
			}
			return err
		}
		return nil
	})
	p.names[o.id] = o.Name
	p.facts.Objects = append(p.facts.Objects, o)
	return err
}

func (p *project) modelPlate(s *xmlscan.Scanner) error {
	plate := Plate{}
	var objects []string
	err := s.EachChild(func() error {
		value := func() string { return string(s.Attr("value")) }
		if string(s.LocalName()) == "model_instance" {
			return s.EachChild(func() error {
				if string(s.Attr("key")) == "object_id" {
					objects = append(objects, value())
				}
				return nil
			})
		}
		switch string(s.Attr("key")) {
		case "plater_id":
			plate.Index, _ = strconv.Atoi(value())
		case "plater_name":
			plate.Name = sliced.Text(value())
		case "thumbnail_file":
			plate.picture = value()
		}
		return nil
	})
	if err != nil || plate.Index < 1 {
		return err
	}
	to := p.plate(plate.Index)
	to.Name, to.picture, to.ids = plate.Name, plate.picture, objects
	for _, id := range objects {
		if name := p.names[id]; name != "" && len(to.Objects) < maxObjects {
			to.Objects = append(to.Objects, name)
		}
	}
	return nil
}

// printable sets for each plate whether any of its objects is printed, as the items of the build
// say.
func (p *project) printable() error {
	printed, listed := map[string]bool{}, map[string]bool{}
	err := p.scan(usualModel, func(s *xmlscan.Scanner) error {
		return s.EachChild(func() error {
			if string(s.LocalName()) != "build" {
				return nil
			}
			return s.EachChild(func() error {
				id, off := string(s.Attr("objectid")), string(s.Attr("printable")) == "0"
				listed[id], printed[id] = true, printed[id] || !off
				return nil
			})
		})
	})
	for i := range p.facts.Plates {
		plate := &p.facts.Plates[i]
		known, on := false, false
		for _, id := range plate.ids {
			known, on = known || listed[id], on || printed[id]
		}
		if known {
			plate.Printable = &on
		}
	}
	return err
}

// sliceInfo reads what the plates take.
func (p *project) sliceInfo(s *xmlscan.Scanner) error {
	return s.EachChild(func() error {
		if string(s.LocalName()) != "plate" {
			return nil
		}
		var plate Plate
		var nozzle float64
		err := s.EachChild(func() error {
			attr := func(name string) string { return string(s.Attr(name)) }
			switch string(s.LocalName()) {
			case "object":
				if name := sliced.Text(attr("name")); name != "" && len(plate.Objects) < maxObjects {
					plate.Objects = append(plate.Objects, name)
				}
			case "filament":
				t := sliced.Tool{Index: int(sliced.Number(attr("id"))) - 1, Length: sliced.Number(attr("used_m")) * 1000,
					Mass: sliced.Number(attr("used_g"))}
				t.Material, t.Color = sliced.Text(attr("type")), sliced.Color(attr("color"))
				if len(plate.Tools) < maxParts {
					plate.Tools = append(plate.Tools, t)
				}
			case "metadata":
				switch value := attr("value"); attr("key") {
				case "index":
					plate.Index, _ = strconv.Atoi(value)
				case "prediction":
					plate.Seconds = int64(sliced.Number(value))
				case "weight":
					plate.Mass = sliced.Number(value)
				case "nozzle_diameters":
					nozzle = sliced.Number(value)
				case "support_used":
					if on, err := strconv.ParseBool(value); err == nil {
						plate.Supports = &on
					}
				}
			}
			return nil
		})
		if err != nil || plate.Index < 1 {
			return err
		}
		to := p.plate(plate.Index)
		to.Seconds, to.Mass, to.Tools, to.Supports = plate.Seconds, plate.Mass, plate.Tools, plate.Supports
		if len(to.Objects) == 0 {
			to.Objects = plate.Objects
		}
		p.facts.Fill(sliced.Settings{Nozzle: nozzle})
		return nil
	})
}
