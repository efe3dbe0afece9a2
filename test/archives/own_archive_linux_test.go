package archives_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestOwnArchiveIsCutOff checks that the connection ends if a content cannot be read, so that the
// client does not take the archive for complete.
func TestOwnArchiveIsCutOff(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		ada.Finalize("thing", ada.Thing("Box"), ada.Upload("box.txt", []byte("a box"))).Want(t, 200)
		object := filepath.Join(servertest.Must(url.Parse(s.Settings.BucketURL))(t).Path, "files",
			servertest.RowsOf(t, s, "SELECT sha256 FROM files")[0])
		// Reading the memory at address 0 is an input/output error.
		if err := errors.Join(os.Remove(object), os.Symlink("/proc/self/mem", object)); err != nil {
			t.Fatal(err)
		}
		r := ada.Request(http.MethodGet, archivePath, nil)
		r.Header.Set("Authorization", "Bearer "+ada.Token)
		response := servertest.Must(http.DefaultClient.Do(r))(t)
		defer response.Body.Close()
		if _, err := io.Copy(io.Discard, response.Body); response.StatusCode != 200 || err == nil {
			t.Errorf("got %s, and the archive seems complete", response.Status)
		}
	})
}
