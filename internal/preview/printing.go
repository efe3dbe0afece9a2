package preview

import (
	"encoding/json"

	"github.com/meshyard/meshyard/internal/project"
	"github.com/meshyard/meshyard/internal/sliced"
)

// Printing is what slicers say in a file besides the shape.
type Printing struct {
	Sliced  *sliced.Facts  `json:"sliced,omitempty"`  // nil if the file is no G-code
	Project *project.Facts `json:"project,omitempty"` // nil if the file is no project of a slicer
}

// maxPrinting is the maximum size of Printing in JSON, which is a column of a row and a part of the
// result of a child process.
const maxPrinting = 40 << 10

// bounded returns p without the names that matter least if it is too large, or nil if it is too
// large without them.
func (p *Printing) bounded() *Printing {
	cuts := []func(*project.Facts){
		func(f *project.Facts) {
			for i := range f.Objects {
				f.Objects[i].Parts = nil
			}
		},
		func(f *project.Facts) { f.Objects = f.Objects[:min(len(f.Objects), 50)] },
		func(f *project.Facts) {
			for i := range f.Plates {
				f.Plates[i].Objects = nil
			}
		},
		func(f *project.Facts) { f.Plates = f.Plates[:min(len(f.Plates), 20)] },
	}
	for {
		text, err := json.Marshal(p)
		switch {
		case err != nil:
			return nil
		case len(text) <= maxPrinting:
			return p
		case p.Project == nil || len(cuts) == 0:
			return nil
		}
		cuts[0](p.Project)
		cuts = cuts[1:]
	}
}
