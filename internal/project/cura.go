package project

import (
	"path"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/sliced"
)

// maxContainers is the maximum number of containers of a project of Cura that are read. One with
// two extruders has about twenty.
const maxContainers = 200

// cura reads a project of Cura: the containers in the folder Cura, which are INI files. Those named
// after the user or the quality have the settings, the global stack has the printer.
func (p *project) cura() error {
	n := 0
	files := slices.Clone(p.Files)
	for _, f := range files {
		folder, base := path.Split(strings.ToLower(strings.TrimPrefix(f.Name, "/")))
		if folder != "cura/" || n == maxContainers {
			continue
		}
		n++
		text, err := p.ReadFile(f, maxSettings)
		if !ignorable(err) {
			return err
		}
		switch {
		case base == "version.ini":
			if v := sliced.Text(iniValue(string(text), "versions", "cura_version")); v != "" {
				p.facts.Slicer, p.facts.Version = "Cura", v
			}
		case strings.HasSuffix(base, ".global.cfg"):
			p.facts.Fill(sliced.Settings{Printer: sliced.Text(iniValue(string(text), "general", "name"))})
		case strings.HasSuffix(base, ".inst.cfg"):
			p.facts.SetINI(string(text))
		}
	}
	return nil
}

// iniValue returns a value in a section of an INI file, or "".
func iniValue(text, section, key string) string {
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = line == "["+section+"]"
			continue
		}
		if k, v, ok := strings.Cut(line, "="); ok && inside && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
