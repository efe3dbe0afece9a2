package viewer

import (
	"math"
	"strconv"
	"strings"
)

// shown is the data of a model for the page, in its HTML and for its script.
type shown struct {
	State      State   `json:"state"`
	Message    string  `json:"message"` // shown instead of the model until it is ready
	Progress   float64 `json:"progress"`
	Threejs    string  `json:"threejs"`
	GLB        string  `json:"glb"`
	Decimated  bool    `json:"decimated"`
	Thumbnail  string  `json:"thumbnail"`
	Dimensions string  `json:"dimensions"`
	Detail     string  `json:"detail"`
}

func show(m Model) shown {
	s := shown{
		State: m.State, Progress: m.Progress, Threejs: m.ThreejsURL, GLB: m.GLBURL, Decimated: m.Decimated, Thumbnail: m.ThumbnailURL,
		Dimensions: dimensions(m.SizeMM), Detail: detail(m),
	}
	if s.State == Done && s.Threejs == "" && s.GLB == "" {
		s.State = None
	}
	switch s.State {
	case Waiting:
		s.Message = "The 3D view of this model is waiting to be generated."
	case Running:
		s.Message = "The 3D view of this model is being generated."
	case Done:
		s.Message = "The model is loading."
	case Failed:
		s.Message = "The 3D view of this model could not be generated. " + m.Error
	case None:
		s.Message = "There is no 3D view of this file."
	}
	return s
}

// dimensions formats width × depth × height, or returns "" if the model has no extent.
func dimensions(size [3]float64) string {
	if size == [3]float64{} {
		return ""
	}
	var parts [3]string
	for i, mm := range size {
		parts[i] = length(mm)
	}
	return strings.Join(parts[:], " × ") + " mm"
}

// length formats millimetres with two decimals, or with three significant digits below one.
func length(mm float64) string {
	if mm != 0 && math.Abs(mm) < 1 {
		return strconv.FormatFloat(mm, 'g', 3, 64)
	}
	return strconv.FormatFloat(math.Round(mm*100)/100, 'f', -1, 64)
}

// detail formats the number of triangles, or of points if there are none.
func detail(m Model) string {
	switch {
	case m.Triangles == 1:
		return "1 triangle"
	case m.Triangles > 0:
		return grouped(m.Triangles) + " triangles"
	case m.Vertices > 0:
		return grouped(m.Vertices) + " points"
	}
	return ""
}

// grouped formats a number with commas between thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
