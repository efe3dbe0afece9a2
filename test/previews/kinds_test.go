package previews_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestKindsWithoutPreview checks that a thing with only a CAD file, a file of a slicer or an
// archive can be published, and that such a file is not processed instead of failing.
func TestKindsWithoutPreview(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		for name, content := range map[string]string{
			"part.step":    "ISO-10303-21;\nHEADER;\n",
			"part.dxf":     "0\nSECTION\n2\nENTITIES\n0\nENDSEC\n0\nEOF\n",
			"part.dwg":     "AC1032\x00\x00\x00\x00",
			"part.FCStd":   "PK\x03\x04 not a real archive",
			"part.scad":    "cube(1, 2);\ncube(2, 3);\n",
			"part.ctb":     "\x86\x00\xfd\x12\x02\x00\x00\x00",
			"part.pwmx":    "ANYCUBIC\x00\x00\x00\x00\x01\x00",
			"part.lys":     "PK\x03\x04 not a real archive",
			"parts.zip":    "PK\x03\x04 not a real archive",
			"parts.7z":     "7z\xbc\xaf\x27\x1c\x00\x04",
			"parts.rar":    "Rar!\x1a\x07\x01\x00",
			"part.gcode":   "G28\nG1 X1 Y1\n",
			"part.bgcode":  "GCDE\x01\x00\x00\x00\x00\x00" + "\x01\x00\x00\x00\x03\x00\x00\x00\x00\x00G28",
			"part.GCO":     "; thumbnail_QOI begin 16x16 4\n; AAAA\n; thumbnail_QOI end\nG28\n",
			"project.f3z":  "PK\x03\x04 not a real archive",
			"project.3dm":  "3D Geometry File Format ",
			"drawing.psd":  "8BPS\x00\x01",
			"drawing.svg":  "<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
			"document.pdf": "%PDF-1.4\n",
		} {
			thing := ada.Thing(name)
			id := ada.Upload(name, []byte(content))
			ada.Finalize("thing", thing, id).Want(t, 200)
			f := servertest.Settled(t, ada, id)
			if f.Processing.State != "NOT_APPLICABLE" || f.Processing.Error != nil || f.Mesh != nil {
				t.Errorf("%s: got %+v, want NOT_APPLICABLE", name, f)
			}
			want := "MODEL"
			switch name {
			case "drawing.psd", "drawing.svg", "document.pdf":
				want = "ATTACHMENT"
			}
			if f.Kind != want {
				t.Errorf("%s: got the kind %s, want %s", name, f.Kind, want)
			}
			if r := ada.Publish(thing); (r.StatusCode == 200) != (want == "MODEL") {
				t.Errorf("%s: published with status %d, want 200 for a model only", name, r.StatusCode)
			}
		}
		var me struct {
			Me struct{ Notifications struct{ TotalCount int } }
		}
		ada.Query(`{ me { notifications { totalCount } } }`, nil, &me)
		if n := me.Me.Notifications.TotalCount; n != 0 {
			t.Errorf("got %d notifications, want none", n)
		}
	}, servertest.Derives)
}

// TestPreviewOfBinaryGCode checks that binary G-code is shown by its thumbnail.
func TestPreviewOfBinaryGCode(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		picture := servertest.Mesh(t, "lib3mf_thumbnail.png")
		block := binary.LittleEndian.AppendUint32([]byte("\x05\x00\x00\x00"), uint32(len(picture)))
		block = append(append(block, "\x00\x00\x00\x01\x00\x01"...), picture...)
		file := append([]byte("GCDE\x01\x00\x00\x00\x01\x00"), block...)
		file = binary.LittleEndian.AppendUint32(file, crc32.ChecksumIEEE(block))
		file = append(file, "\x01\x00\x00\x00\x03\x00\x00\x00\x00\x00G280000"...)
		thing := ada.Thing("Sliced")
		id := ada.Upload("part.bgcode", file)
		ada.Finalize("thing", thing, id).Want(t, 200)
		if f := servertest.Settled(t, ada, id); f.Processing.State != "DONE" || f.Thumbnail == nil || f.Mesh != nil {
			t.Errorf("got %+v, want an image", f)
		}
		ada.Publish(thing).Want(t, 200)

		file[20]++ // the checksum is wrong
		id = ada.Upload("damaged.bgcode", file)
		ada.Finalize("thing", thing, id).Want(t, 200)
		if f := servertest.Settled(t, ada, id); f.Processing.State != "FAILED" || f.Processing.Error == nil ||
			f.Thumbnail != nil {
			t.Errorf("damaged: got %s, want FAILED", fmt.Sprint(f.Processing))
		}
	}, servertest.Derives)
}
