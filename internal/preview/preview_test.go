package preview

import "testing"

// TestSubjectOf checks which files get a preview: no drawing or archive does, and CAD files only
// with a converter.
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
		{"a.step", "model/step", "step"},
		{"a.STP", "text/plain", "step"},
		{"a.igs", "model/iges", "iges"},
		{"a.brp", "text/plain", "brep"},
		{"a.FCStd", "application/zip", Design},
		{"a.f3d", "application/zip", Design},
		{"a.ctb", "application/octet-stream", ""},
		{"a.zip", "application/zip", ""},
	} {
		if got := SubjectOf(c.name, c.contentType, true); got != c.want {
			t.Errorf("%s of %s: got the subject %q, want %q", c.name, c.contentType, got, c.want)
		}
		if got := SubjectOf(c.name, c.contentType, false); c.want.CAD() != "" && got != "" {
			t.Errorf("%s without a converter: got the subject %q, want none", c.name, got)
		}
	}
}
