package previews_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// encrypted3MF is a 3MF file whose relationships name a key store.
func encrypted3MF() []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.Create("_rels/.rels")
	_, _ = w.Write([]byte(`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="1" Target="/3D/3dmodel.model" Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/>` +
		`<Relationship Id="2" Target="/Secure/keystore.xml" Type="http://schemas.openxmlformats.org/package/2006/relationships/encryptedfile"/></Relationships>`))
	w, _ = z.Create("3D/3dmodel.model")
	_, _ = w.Write([]byte("no XML"))
	_ = z.Close()
	return b.Bytes()
}

// TestNoPreviewReasons checks the reasons why files have no preview, and that the viewer says them
// in the language of the visitor.
func TestNoPreviewReasons(t *testing.T) {
	report := func(name string) []byte {
		content, err := os.ReadFile(servertest.Report(name))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	cases := []struct {
		name    string
		content []byte
		reason  string
		german  string // on the page of the viewer
	}{
		{"broken.obj", []byte("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"), "MALFORMED",
			"Die Datei ist beschädigt oder hält sich nicht an ihr Format."},
		{"boolean.3mf", report("3mf_boolean.3mf"), "UNSUPPORTED", "Die Datei verwendet etwas, das nicht unterstützt wird."},
		{"secret.3mf", encrypted3MF(), "ENCRYPTED", "Die Datei hat ein Passwort."},
		{"nothing.obj", []byte("# nothing\n"), "EMPTY", "Die Datei enthält nichts, was sich zeigen lässt."},
		{"photo.heic", report("../images/photo.heic"), "IMAGE_FORMAT", ""},
		{"box.stl", box(20, false), "", ""},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Reasons")
		var ids []int64
		for _, c := range cases {
			ids = append(ids, ada.Upload(c.name, c.content))
		}
		ada.Finalize("thing", thing, ids...).Want(t, http.StatusOK)
		ada.Publish(thing).Want(t, http.StatusOK)
		for i, c := range cases {
			servertest.Settled(t, ada, ids[i])
			var got struct {
				File struct{ Processing struct{ Reason string } }
			}
			ada.Query(`query ($id: ID!) { file(id: $id) { processing { reason } } }`,
				map[string]any{"id": servertest.ID(ids[i])}, &got)
			if got.File.Processing.Reason != c.reason {
				t.Errorf("%s: got the reason %q, want %q", c.name, got.File.Processing.Reason, c.reason)
			}
			visitor := s.Browser()
			visitor.Languages = "de"
			if page := string(visitor.Get(fmt.Sprintf("/view/%d", ids[i])).Bytes); c.german != "" &&
				!strings.Contains(page, c.german) {
				t.Errorf("%s: the German page does not say %q:\n%.2000s", c.name, c.german, page)
			}
		}
	}, servertest.Derives)
}
