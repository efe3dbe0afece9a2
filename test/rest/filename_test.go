package rest_test

import (
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestFilenamesOfBrowsers checks that a quotation mark in the name of a file, which browsers send
// as %22, is stored.
func TestFilenamesOfBrowsers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		const sent, want = "12%22 rail %22v2%22.stl", `12" rail "v2".stl`
		id := ada.Upload(sent, []byte("solid rail"))
		var stored struct{ File struct{ Name string } }
		ada.Query(`query ($id: ID!) { file(id: $id) { name } }`, map[string]any{"id": servertest.ID(id)}, &stored)
		if stored.File.Name != want {
			t.Errorf("by REST: got %q, want %q", stored.File.Name, want)
		}
		var uploaded struct {
			UploadFile struct{ File struct{ Name string } }
		}
		servertest.Decode(t,
			ada.GraphQLUpload(`mutation ($file: Upload!) { uploadFile(input: {file: $file}) { file { name } } }`,
				map[string]any{"file": nil}, "file", sent, []byte("solid rail")), &uploaded)
		if got := uploaded.UploadFile.File.Name; got != want {
			t.Errorf("by GraphQL: got %q, want %q", got, want)
		}
	})
}
