package project

import (
	"strings"

	"github.com/meshyard/meshyard/internal/mesh/decode/xmlscan"
)

// The parts in which PrusaSlicer and SuperSlicer keep a project: the settings as in their G-code,
// and the names of objects.
var (
	prusaSettings = []string{"metadata/slic3r_pe.config", "metadata/slic3r.config"}
	prusaObjects  = []string{"metadata/slic3r_pe_model.config", "metadata/slic3r_model.config"}
)

func (p *project) prusa() error {
	for _, name := range prusaSettings {
		text, err := p.read(name, maxSettings)
		if !ignorable(err) {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), ";"), "="); ok {
				p.facts.Set(strings.TrimSpace(key), strings.TrimSpace(value))
			}
		}
	}
	for _, name := range prusaObjects {
		err := p.scan(name, func(s *xmlscan.Scanner) error {
			return s.EachChild(func() error {
				if string(s.LocalName()) == "object" {
					return p.object(s)
				}
				return nil
			})
		})
		if !ignorable(err) {
			return err
		}
	}
	return nil
}
