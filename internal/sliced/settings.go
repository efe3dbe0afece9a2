package sliced

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// maxText is the maximum length of a text in runes.
const maxText = 100

// Settings are the settings of a print. Zero values are unknown.
type Settings struct {
	Slicer      string     `json:"slicer,omitempty"`
	Version     string     `json:"version,omitempty"` // of the slicer
	Printer     string     `json:"printer,omitempty"`
	Nozzle      float64    `json:"nozzle,omitempty"`      // diameter in mm
	LayerHeight float64    `json:"layerHeight,omitempty"` // in mm
	Infill      *float64   `json:"infill,omitempty"`      // in percent
	Supports    *bool      `json:"supports,omitempty"`
	Filaments   []Filament `json:"filaments,omitempty"` // by tool
}

// Filament is a filament in the settings.
type Filament struct {
	Material string `json:"material,omitempty"` // such as PLA
	Color    string `json:"color,omitempty"`    // #RRGGBB
	Name     string `json:"name,omitempty"`     // of the profile or the product
}

// Empty reports whether nothing is known.
func (s *Settings) Empty() bool {
	return s.Slicer == "" && s.Printer == "" && s.Nozzle == 0 && s.LayerHeight == 0 && s.Infill == nil &&
		s.Supports == nil && len(s.Filaments) == 0
}

// Set sets a setting by its name in the configuration of PrusaSlicer, SuperSlicer, OrcaSlicer,
// Bambu Studio, Creality Print or Cura. The values of several tools are separated by semicolons or
// commas. It ignores other names and invalid values, and settings that have been set.
func (s *Settings) Set(key, value string) {
	switch key {
	case "printer_model":
		s.Printer = cmp.Or(Text(value), s.Printer)
	case "printer_settings_id":
		s.Printer = cmp.Or(s.Printer, Text(value))
	case "nozzle_diameter", "machine_nozzle_size":
		s.Nozzle = cmp.Or(s.Nozzle, Number(first(value)))
	case "layer_height":
		s.LayerHeight = cmp.Or(s.LayerHeight, Number(value))
	case "fill_density", "sparse_infill_density", "infill_sparse_density":
		s.setInfill(value)
	case "support_material", "enable_support", "support_enable":
		s.setSupports(value)
	case "filament_type":
		s.each(value, func(f *Filament, v string) { f.Material = cmp.Or(f.Material, v) })
	case "filament_colour", "extruder_colour":
		s.each(value, func(f *Filament, v string) { f.Color = cmp.Or(f.Color, Color(v)) })
	case "filament_settings_id":
		s.each(value, func(f *Filament, v string) { f.Name = cmp.Or(f.Name, v) })
	}
}

func (s *Settings) setInfill(value string) {
	text, percent := strings.CutSuffix(strings.TrimSpace(first(value)), "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if !percent && strings.Contains(text, ".") && n > 0 && n <= 1 {
		n *= 100 // old versions of Slic3r wrote a fraction
	}
	if s.Infill == nil && err == nil && n >= 0 && n <= 100 {
		s.Infill = &n
	}
}

func (s *Settings) setSupports(value string) {
	on, err := strconv.ParseBool(strings.TrimSpace(value))
	if s.Supports == nil && err == nil {
		s.Supports = &on
	}
}

// each calls set with the filament and the value of each tool.
func (s *Settings) each(value string, set func(f *Filament, v string)) {
	for i, v := range list(value) {
		if i == maxTools {
			break
		}
		s.filament(i)
		set(&s.Filaments[i], Text(v))
	}
}

// filament ensures that there is a filament for a tool.
func (s *Settings) filament(tool int) *Filament {
	for len(s.Filaments) <= tool {
		s.Filaments = append(s.Filaments, Filament{})
	}
	return &s.Filaments[tool]
}

// list splits a value at semicolons, or at commas if there are none. Quoted values keep them.
func list(value string) (values []string) {
	separator := byte(';')
	if !strings.Contains(value, ";") {
		separator = ','
	}
	quoted, start := false, 0
	for i := range len(value) {
		switch value[i] {
		case '"':
			quoted = !quoted
		case separator:
			if !quoted {
				values, start = append(values, value[start:i]), i+1
			}
		}
	}
	return append(values, value[start:])
}

func first(value string) string {
	return list(value)[0]
}

// Text returns a text of the file without quotation marks, control characters and what exceeds 100
// characters.
func Text(value string) string {
	value = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(value, ""))
	value = strings.TrimSpace(strings.Trim(strings.TrimSpace(value), `"`))
	n := 0
	for at := range value {
		if n++; n > maxText {
			return strings.TrimSpace(value[:at])
		}
	}
	return value
}

// Number returns the number at the beginning of a text, or 0 if there is none, or it is negative or
// more than a billion.
func Number(value string) float64 {
	value = strings.TrimLeft(value, " \t[~\"")
	end := strings.IndexFunc(value, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end >= 0 {
		if value[end] == 'e' || value[end] == 'E' { // slicers write no exponents
			return 0
		}
		value = value[:end]
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(n, 0) || n > 1e9 {
		return 0
	}
	return n
}

// Color returns a color as #RRGGBB, or "" if the text is none. It may have an alpha channel.
func Color(value string) string {
	value = Text(value)
	if len(value) != 7 && len(value) != 9 || value[0] != '#' {
		return ""
	}
	if _, err := strconv.ParseUint(value[1:], 16, 32); err != nil {
		return ""
	}
	return strings.ToUpper(value[:7])
}

// Fill sets the settings that are unknown from others.
func (s *Settings) Fill(others Settings) {
	if s.Slicer == "" {
		s.Slicer, s.Version = others.Slicer, others.Version
	}
	s.Printer = cmp.Or(s.Printer, others.Printer)
	s.Nozzle = cmp.Or(s.Nozzle, others.Nozzle)
	s.LayerHeight = cmp.Or(s.LayerHeight, others.LayerHeight)
	s.Infill = cmp.Or(s.Infill, others.Infill)
	s.Supports = cmp.Or(s.Supports, others.Supports)
	if len(s.Filaments) == 0 {
		s.Filaments = others.Filaments
	}
}
