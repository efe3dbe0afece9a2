package model

import (
	"github.com/meshyard/meshyard/internal/project"
	"github.com/meshyard/meshyard/internal/sliced"
)

// NewSlicedFile converts what a slicer says in G-code.
func NewSlicedFile(f *sliced.Facts) *SlicedFile {
	s := &SlicedFile{
		Settings: slicerSettings(&f.Settings), Seconds: known(f.Seconds), Layers: known(f.Layers),
		Filaments: filamentUses(f.Tools),
	}
	if f.Box != nil {
		s.Min, s.Max = point(f.Box.Min), point(f.Box.Max)
	}
	return s
}

// NewSlicerProject converts the project of a slicer.
func NewSlicerProject(f *project.Facts) *SlicerProject {
	p := &SlicerProject{
		Settings: slicerSettings(&f.Settings), Filaments: []*ProjectFilament{},
		Plates: []*ProjectPlate{}, PlateCount: int32(f.PlateCount),
		Objects: []*ProjectObject{}, ObjectCount: int32(f.ObjectCount),
	}
	for _, filament := range f.Filaments {
		p.Filaments = append(p.Filaments, projectFilament(filament))
	}
	for _, plate := range f.Plates {
		p.Plates = append(p.Plates, &ProjectPlate{
			Number: int32(plate.Index), Name: known(plate.Name), Objects: append([]string{}, plate.Objects...),
			IsPrintable: plate.Printable, IsSliced: plate.Sliced, Seconds: known(plate.Seconds), Mass: known(plate.Mass),
			HasSupports: plate.Supports, Filaments: filamentUses(plate.Tools),
		})
	}
	for _, object := range f.Objects {
		parts := []*ProjectPart{}
		for _, part := range object.Parts {
			parts = append(parts, &ProjectPart{Name: part.Name, Kind: part.Kind})
		}
		p.Objects = append(p.Objects, &ProjectObject{Name: object.Name, Parts: parts})
	}
	return p
}

func slicerSettings(s *sliced.Settings) *SlicerSettings {
	return &SlicerSettings{
		Slicer: known(s.Slicer), Version: known(s.Version), Printer: known(s.Printer), Nozzle: known(s.Nozzle),
		LayerHeight: known(s.LayerHeight), Infill: s.Infill, HasSupports: s.Supports,
	}
}

func projectFilament(f sliced.Filament) *ProjectFilament {
	return &ProjectFilament{Material: known(f.Material), Color: known(f.Color), Name: known(f.Name)}
}

func filamentUses(tools []sliced.Tool) []*FilamentUse {
	uses := []*FilamentUse{}
	for _, t := range tools {
		uses = append(uses, &FilamentUse{
			Tool: int32(t.Index) + 1, Filament: projectFilament(t.Filament),
			Length: known(t.Length), Volume: known(t.Volume), Mass: known(t.Mass),
		})
	}
	return uses
}

// known returns nil for a value that a slicer does not say.
func known[V comparable](v V) *V {
	if v == *new(V) {
		return nil
	}
	return &v
}
