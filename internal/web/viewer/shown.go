package viewer

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/web/language"
)

// shown is the data of a model for the page, in its HTML and for its script.
type shown struct {
	State      State   `json:"state"`
	Message    string  `json:"message"` // shown instead of the model until it is ready
	Reason     string  `json:"reason"`  // if failed: the details of the reason, in English
	Progress   float64 `json:"progress"`
	Threejs    string  `json:"threejs"`
	GLB        string  `json:"glb"`
	Textured   bool    `json:"textured"`
	Decimated  bool    `json:"decimated"`
	Thumbnail  string  `json:"thumbnail"`
	Dimensions string  `json:"dimensions"`
	Detail     string  `json:"detail"`
}

func show(m Model, t *language.Texts) shown {
	s := shown{
		State: m.State, Progress: m.Progress, Threejs: m.ThreejsURL, GLB: m.GLBURL, Textured: m.Textured,
		Decimated: m.Decimated, Thumbnail: m.ThumbnailURL,
		Dimensions: dimensions(m.SizeMM, t), Detail: detail(m, t),
	}
	if s.State == Done && s.Threejs == "" && s.GLB == "" {
		s.State = None
	}
	switch s.State {
	case Waiting:
		s.Message = t.Viewer.Waiting
	case Running:
		s.Message = t.Viewer.Running
	case Done:
		s.Message = t.Viewer.Loading
	case Failed:
		s.Message, s.Reason = strings.TrimSpace(t.Viewer.CannotShow+" "+t.NoPreview[m.Reason]), m.Error
	case None:
		s.Message = t.Viewer.No3D
	}
	return s
}

// dimensions formats width × depth × height, or returns "" if the model has no extent.
func dimensions(size [3]float64, t *language.Texts) string {
	if size == [3]float64{} {
		return ""
	}
	var parts [3]string
	for i, mm := range size {
		parts[i] = strings.Replace(length(mm), ".", t.Decimal, 1)
	}
	return strings.Join(parts[:], " × ") + " mm"
}

// length formats millimeters with two decimals, or with three significant digits below one.
func length(mm float64) string {
	if mm != 0 && math.Abs(mm) < 1 {
		return strconv.FormatFloat(mm, 'g', 3, 64)
	}
	return strconv.FormatFloat(math.Round(mm*100)/100, 'f', -1, 64)
}

// detail formats the number of triangles, or of points if there are none.
func detail(m Model, t *language.Texts) string {
	switch {
	case m.Triangles == 1:
		return t.Viewer.OneTriangle
	case m.Triangles > 0:
		return fmt.Sprintf(t.Viewer.Triangles, t.Number(m.Triangles))
	case m.Vertices > 0:
		return fmt.Sprintf(t.Viewer.Points, t.Number(m.Vertices))
	}
	return ""
}
