package project

import (
	"errors"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh/decode/xmlscan"
	"github.com/meshyard/meshyard/internal/sliced"
)

// usualModel is the part with the build in the files of all slicers.
const usualModel = "3D/3dmodel.model"

var errFound = errors.New("found")

// application reads the name and the version of the program from the metadata of the model, which
// precede the shapes.
func (p *project) application() error {
	f := p.File(usualModel)
	if f == nil {
		return nil
	}
	r, err := p.Open(f)
	if err != nil {
		return err
	}
	s := xmlscan.NewScanner(r, "the model in the 3MF file", p.depth)
	if err := s.Next(); err != nil {
		return err
	}
	err = s.EachChild(func() error {
		switch {
		case string(s.LocalName()) != "metadata":
			return errFound // there is none
		case string(s.Attr("name")) != "Application":
			return nil
		}
		text, err := s.Text()
		if err != nil {
			return err
		}
		p.facts.Slicer, p.facts.Version = program(sliced.Text(string(text)))
		return errFound
	})
	if errors.Is(err, errFound) {
		return nil
	}
	return err
}

// slicers are the names of the programs that keep projects, as they are known, by the names that
// they write. Other programs that write 3MF files have no projects.
var slicers = map[string]string{
	"BambuStudio": "Bambu Studio", "OrcaSlicer": "OrcaSlicer", "PrusaSlicer": "PrusaSlicer", "SuperSlicer": "SuperSlicer",
	"Creality_Print": "Creality Print", "CrealityPrint": "Creality Print", "Creality Print": "Creality Print",
	"ElegooSlicer": "ElegooSlicer", "AnycubicSlicerNext": "Anycubic Slicer Next", "Cura": "Cura", "UltiMaker Cura": "Cura",
	"Ultimaker Cura": "Cura",
}

// program splits a text such as "PrusaSlicer-2.9.0+linux" into a name and a version.
func program(text string) (name, version string) {
	name = text
	for at := range len(text) {
		if text[at] != '-' && text[at] != ' ' {
			continue
		}
		if v := strings.TrimPrefix(text[at+1:], "V"); v != "" && v[0] >= '0' && v[0] <= '9' {
			name = text[:at]
			version, _, _ = strings.Cut(v, " ")
			break
		}
	}
	version, _, _ = strings.Cut(version, "+")
	known := slicers[name]
	// OrcaSlicer names Bambu Studio, with its own version of three numbers: that of Bambu Studio has
	// four.
	if name == "BambuStudio" && strings.Count(version, ".") == 2 {
		known = "OrcaSlicer"
	}
	if known == "" {
		return "", ""
	}
	return known, version
}
