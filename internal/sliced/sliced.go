// Package sliced reads what slicers write into G-code besides the movements of the printer: how
// long the print takes, how much filament it needs, the settings, and images. It reads the comments
// of text G-code and the metadata of binary G-code, and never the movements.
package sliced

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
)

const (
	// Slicers write thumbnails and a header first, and settings first or last.
	head = 8 << 20
	tail = 1 << 20
	// maxLine is the maximum length of a line. Some slicers write a thumbnail as one line.
	maxLine = 8 << 20
	// maxTools is the maximum number of tools, which are extruders or filaments.
	maxTools = 64
)

// Facts is what a slicer says about a print. Zero values are unknown.
type Facts struct {
	Settings

	Seconds int64  `json:"seconds,omitempty"` // estimated printing time
	Layers  int64  `json:"layers,omitempty"`
	Tools   []Tool `json:"tools,omitempty"` // that the print uses, by index
	Box     *Box   `json:"box,omitempty"`   // of the extrusion
}

// Tool is the filament that an extruder, or a slot of a filament changer, uses.
type Tool struct {
	Index  int     `json:"index"`            // from 0
	Length float64 `json:"length,omitempty"` // in mm
	Volume float64 `json:"volume,omitempty"` // in mm³
	Mass   float64 `json:"mass,omitempty"`   // in grams
	Filament
}

// Box is a bounding box in mm, in the coordinates of the printer.
type Box struct {
	Min [3]float64 `json:"min"`
	Max [3]float64 `json:"max"`
}

// Empty reports whether nothing is known.
func (f *Facts) Empty() bool {
	return f.Settings.Empty() && f.Seconds == 0 && f.Layers == 0 && len(f.Tools) == 0 && f.Box == nil
}

// Read returns what a G-code file says, and its largest embedded image in PNG, JPEG or QOI, or nil
// if there is none. It reads the beginning and the end of a large file only. An error that the file
// causes is a *mesh.Error; other errors come from r.
func Read(r io.ReaderAt, size int64) (facts Facts, picture []byte, err error) {
	if isBinary(r) {
		return readBinary(r, size)
	}
	var c comments
	if err := c.scan(io.NewSectionReader(r, 0, min(size, head))); err != nil {
		return Facts{}, nil, err
	}
	if size > head {
		from := max(head, size-tail)
		if err := c.scan(io.NewSectionReader(r, from, size-from)); err != nil {
			return Facts{}, nil, err
		}
	}
	return c.finish(), c.pictures.best, nil
}

// ReadHead returns what the beginning of a text G-code file says. It reads at most 8 MiB.
func ReadHead(r io.Reader) (Facts, error) {
	var c comments
	err := c.scan(io.LimitReader(r, head))
	return c.finish(), err
}

// comments collects what the comments of a file say.
type comments struct {
	reader
	pictures thumbnails
	cura     strings.Builder // the settings of Cura, which are JSON in several comments
}

func (c *comments) scan(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		comment, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), ";")
		if !ok {
			continue
		}
		comment = strings.TrimSpace(comment)
		switch {
		case c.pictures.line(comment):
		case strings.HasPrefix(comment, curaSetting):
			if text := comment[len(curaSetting):]; c.cura.Len()+len(text) <= tail {
				c.cura.WriteString(text)
			}
		default:
			c.line(comment)
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return err
	}
	return nil
}

func (c *comments) finish() Facts {
	c.curaSettings(c.cura.String())
	return c.reader.finish()
}

// finish returns the facts with the filaments of the tools that are used.
func (r *reader) finish() Facts {
	r.addTotals()
	f := r.facts
	for i, t := range r.tools {
		if t.Length == 0 && t.Volume == 0 && t.Mass == 0 {
			continue
		}
		t.Index = i
		if i < len(f.Filaments) {
			t.Filament = f.Filaments[i]
		}
		f.Tools = append(f.Tools, t)
	}
	if min, max := r.box.Min, r.box.Max; min[0] < max[0] && min[1] < max[1] && min[2] < max[2] {
		f.Box = &r.box
	}
	return f
}

// malformed returns an error that the file causes.
func malformed(format string, args ...any) error { return mesh.Errorf(mesh.Malformed, format, args...) }
