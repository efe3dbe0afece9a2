// Package project reads what slicers keep in 3MF files besides the shapes: the plates, the objects
// and their parts, the filaments, the settings, and what the print takes if it was sliced. It knows
// the projects of Bambu Studio, OrcaSlicer, Creality Print, PrusaSlicer, SuperSlicer and Cura.
package project

import (
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/zipfile"
	"github.com/meshyard/meshyard/internal/sliced"
)

// The maximum number of each kind that is kept. The totals count all of them.
const (
	maxPlates  = 100
	maxObjects = 500
	maxParts   = 100

	maxPicture  = 32 << 20
	maxSettings = 8 << 20
)

// Facts is what a project contains. Zero values are unknown.
type Facts struct {
	sliced.Settings

	Plates      []Plate  `json:"plates,omitempty"` // the first 100, by index
	PlateCount  int      `json:"plateCount,omitempty"`
	Objects     []Object `json:"objects,omitempty"` // the first 500
	ObjectCount int      `json:"objectCount,omitempty"`
}

// Plate is what is printed at once.
type Plate struct {
	Index     int      `json:"index"` // from 1
	Name      string   `json:"name,omitempty"`
	Objects   []string `json:"objects,omitempty"` // names
	Printable *bool    `json:"printable,omitempty"`

	Sliced   bool          `json:"sliced,omitempty"`
	Seconds  int64         `json:"seconds,omitempty"` // estimated printing time
	Mass     float64       `json:"mass,omitempty"`    // of the filament, in grams
	Supports *bool         `json:"supports,omitempty"`
	Tools    []sliced.Tool `json:"tools,omitempty"`

	picture string   // the path of the image in the archive
	ids     []string // of the objects
}

// Object is an object with its own name.
type Object struct {
	Name  string `json:"name,omitempty"`
	Parts []Part `json:"parts,omitempty"` // the first 100
	id    string
}

// Part is a part of an object.
type Part struct {
	Name string `json:"name,omitempty"`
	Kind string `json:"kind,omitempty"` // as the slicer names it, such as negative_part
}

// Empty reports whether the file is no project of a slicer.
func (f *Facts) Empty() bool {
	return f.Settings.Empty() && len(f.Plates) == 0 && len(f.Objects) == 0
}

// Sliced reports whether the project contains G-code.
func (f *Facts) Sliced() bool {
	for _, p := range f.Plates {
		if p.Sliced {
			return true
		}
	}
	return false
}

// pictures are the parts with an image of the whole project, if no plate has one.
var pictures = []string{"metadata/thumbnail.png", "thumbnails/thumbnail.png",
	"auxiliaries/.thumbnails/thumbnail_3mf.png", "metadata/top_1.png"}

// Read returns what a project contains, and the image of its first plate or of the whole project,
// or nil if it has none. Damaged settings are ignored, because the file is valid without them. An
// error that the file causes is a *mesh.Error.
func Read(ctx context.Context, src source.Source, limits mesh.Limits) (facts Facts, picture []byte, err error) {
	if !zipfile.IsZIP(src) {
		return Facts{}, nil, nil
	}
	c, err := zipfile.Open(ctx, "3MF", src, limits, nil)
	if err != nil {
		return Facts{}, nil, err
	}
	p := project{Archive: c, depth: limits.Depth, names: map[string]string{}, plates: map[int]int{}}
	for _, read := range []func() error{p.application, p.bambu, p.prusa, p.cura, p.gcode} {
		if err := read(); !ignorable(err) {
			return Facts{}, nil, err
		}
	}
	slices.SortFunc(p.facts.Plates, func(a, b Plate) int { return a.Index - b.Index })
	p.facts.PlateCount, p.facts.ObjectCount = len(p.facts.Plates), len(p.facts.Objects)
	if p.facts.PlateCount > maxPlates {
		p.facts.Plates = p.facts.Plates[:maxPlates]
	}
	if p.facts.ObjectCount > maxObjects {
		p.facts.Objects = p.facts.Objects[:maxObjects]
	}
	picture, err = p.picture()
	if ignorable(err) {
		err = nil
	}
	return p.facts, picture, err
}

// ignorable reports whether an error is nil or caused by the file.
func ignorable(err error) bool {
	_, ok := errors.AsType[*mesh.Error](err)
	return err == nil || ok
}

// project is the state of reading a project.
type project struct {
	*zipfile.Archive
	facts  Facts
	depth  int
	names  map[string]string // of objects, by ID
	plates map[int]int       // positions in facts, by index
}

// read returns the content of a small file of the archive, or nil if there is none.
func (p *project) read(name string, most int64) ([]byte, error) {
	f := p.File(name)
	if f == nil {
		return nil, nil
	}
	return p.ReadFile(f, most)
}

// picture returns the image of the first plate that has one, or of the whole project.
func (p *project) picture() ([]byte, error) {
	var names []string
	for _, plate := range p.facts.Plates {
		names = append(names, strings.TrimPrefix(plate.picture, "/"), "metadata/plate_"+strconv.Itoa(plate.Index)+".png")
	}
	for _, name := range append(names, pictures...) {
		if f := p.File(name); name != "" && f != nil {
			return p.ReadFile(f, maxPicture)
		}
	}
	return nil, nil
}

// gcode marks the plates that have G-code, and reads the beginning of the first one.
func (p *project) gcode() error {
	first := 0
	for _, f := range p.Files {
		folder, base := path.Split(strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/")))
		number, ok := strings.CutPrefix(base, "plate_")
		number, sliced := strings.CutSuffix(number, ".gcode")
		index, err := strconv.Atoi(number)
		if folder != "metadata/" || !ok || !sliced || err != nil || index < 1 {
			continue
		}
		p.plate(index).Sliced = true
		if first == 0 || index < first {
			first = index
		}
	}
	f := p.File("metadata/plate_" + strconv.Itoa(first) + ".gcode")
	if first == 0 || f == nil {
		return nil
	}
	r, err := p.Open(f)
	if err != nil {
		return err
	}
	facts, err := sliced.ReadHead(r)
	if err != nil {
		return err
	}
	p.facts.Fill(facts.Settings)
	plate := p.plate(first)
	if plate.Seconds == 0 {
		plate.Seconds = facts.Seconds
	}
	if len(plate.Tools) == 0 {
		plate.Tools = facts.Tools
	}
	return nil
}

// plate returns the plate with an index.
func (p *project) plate(index int) *Plate {
	at, ok := p.plates[index]
	if !ok {
		at = len(p.facts.Plates)
		p.plates[index] = at
		p.facts.Plates = append(p.facts.Plates, Plate{Index: index})
	}
	return &p.facts.Plates[at]
}
