package preview

import "testing"

// TestSubjectOf checks which files get a preview: no drawing, CAD file or archive does.
func TestSubjectOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, contentType string
		want              Subject
	}{
		{"a.stl", "model/stl", "stl"},
		{"a.STL", "image/bmp", "stl"}, // a header that begins with BM
		{"a.stl", "image/png", Image},
		{"a.png", "image/png", Image},
		{"a.gcode.3mf", "model/3mf", "3mf"},
		{"a.gcode", "text/x-gcode", GCode},
		{"a.bgcode", "application/octet-stream", GCode},
		{"a.dxf", "image/vnd.dxf", ""},
		{"a.dwg", "image/vnd.dwg", ""},
		{"a.svg", "image/svg+xml; charset=utf-8", ""},
		{"a.psd", "image/vnd.adobe.photoshop", ""},
		{"a.step", "model/step", ""},
		{"a.ctb", "application/octet-stream", ""},
		{"a.zip", "application/zip", ""},
	} {
		if got := SubjectOf(c.name, c.contentType); got != c.want {
			t.Errorf("%s of %s: got the subject %q, want %q", c.name, c.contentType, got, c.want)
		}
	}
}
