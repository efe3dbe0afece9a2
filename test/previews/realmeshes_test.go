package previews_test

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/image/imagemeta"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestUploadAndDownloadRealMeshes uploads and downloads every real mesh by REST and by GraphQL, and
// compares the content. Images come back without their metadata.
func TestUploadAndDownloadRealMeshes(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Everything")
		meshes := 0
		for _, path := range servertest.Meshes(t) {
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(path)
			if len(file) == 0 {
				ada.PostForm("/files/0/uploadFile", nil, "file", name, file).Want(t, http.StatusBadRequest)
				continue
			}
			meshes++
			stored, err := io.ReadAll(imagemeta.Strip(bytes.NewReader(file))) // a texture has a comment
			if err != nil || len(stored) < len(file)-100 {
				t.Fatalf("%s: %d of %d bytes, %v", name, len(stored), len(file), err)
			}
			byREST(t, ada, thing, name, file, stored)
			byGraphQL(t, ada, thing, name, file, stored)
		}
		ada.Publish(thing).Want(t, http.StatusOK)
		var me struct {
			Me struct {
				Downloads struct {
					TotalCount int
					Nodes      []struct{ File struct{ Name string } }
				}
			}
		}
		ada.Query(`{ me { downloads(first: 1) { totalCount nodes { file { name } } } } }`, nil, &me)
		if got, want := me.Me.Downloads.TotalCount, 2*meshes; got != want {
			t.Errorf("download history: %d entries, want %d", got, want)
		}
	}, func(c *config.Settings) { c.UploadLimit = 32 << 20 })
}

func byREST(t *testing.T, c *servertest.Client, thing int64, name string, sent, file []byte) {
	t.Helper()
	id := c.Upload(name, sent)
	c.Finalize("thing", thing, id).Want(t, http.StatusOK)
	var info servertest.FileSchema
	c.Get(fmt.Sprintf("/files/%d", id)).Want(t, http.StatusOK, &info)
	sum := md5.Sum(file)
	if info.ID != id || info.Name != name || info.Size != int64(len(file)) ||
		info.Hash != base64.StdEncoding.EncodeToString(sum[:]) {
		t.Errorf("%s: info %+v does not fit %d bytes with MD5 %x", name, info, len(file), sum)
	}
	to := c.Get(fmt.Sprintf("/files/%d/download", id)).Want(t, http.StatusFound).Header.Get("Location")
	sameBytes(t, c, to, name, file)
}

func byGraphQL(t *testing.T, c *servertest.Client, thing int64, name string, sent, file []byte) {
	t.Helper()
	up := c.GraphQLUpload(
		`mutation ($file: Upload!) { uploadFile(input: {file: $file}) { file { id sha256 size state name } } }`,
		map[string]any{"file": nil}, "file", name, sent)
	var uploaded struct {
		UploadFile struct {
			File struct {
				ID, SHA256, State, Name string
				Size                    int64
			}
		}
	}
	servertest.Decode(t, up, &uploaded)
	f := uploaded.UploadFile.File
	sum := sha256.Sum256(file)
	if f.SHA256 != hex.EncodeToString(sum[:]) || f.Size != int64(len(file)) || f.State != "PENDING" || f.Name != name {
		t.Errorf("%s: uploaded %+v", name, f)
	}
	var finalized struct {
		FinalizeFiles struct {
			Files []struct{ ID, State string }
		}
	}
	c.Query(`mutation ($f: ID!, $t: ID!) { finalizeFiles(input: {files: [{id: $f}], target: {type: THING, id: $t}}) { files { id state } } }`,
		map[string]any{"f": f.ID, "t": thing}, &finalized)
	if got := finalized.FinalizeFiles.Files; len(got) != 1 || got[0].ID != f.ID || got[0].State != "FINALIZED" {
		t.Errorf("%s: finalized %+v", name, got)
	}
	var recorded struct{ RecordDownload struct{ URL string } }
	c.Query(`mutation ($f: ID!) { recordDownload(input: {fileId: $f}) { url } }`, map[string]any{"f": f.ID}, &recorded)
	sameBytes(t, c, recorded.RecordDownload.URL, name, file)
	var looked struct {
		File struct{ DownloadCount int }
	}
	c.Query(`query ($f: ID!) { file(id: $f) { downloadCount } }`, map[string]any{"f": f.ID}, &looked)
	if looked.File.DownloadCount != 1 {
		t.Errorf("%s: download count %d, want 1", name, looked.File.DownloadCount)
	}
}

// sameBytes downloads a URL without a token and compares the content.
func sameBytes(t *testing.T, c *servertest.Client, address, name string, file []byte) {
	t.Helper()
	nobody := *c
	nobody.Token = ""
	response := nobody.Get(address).Want(t, http.StatusOK)
	got, want := sha256.Sum256(response.Bytes), sha256.Sum256(file)
	if got != want {
		t.Errorf("%s: came back with SHA-256 %x, want %x", name, got, want)
	}
	if h := response.Header; h.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") ||
		strings.Contains(h.Get("Content-Type"), "html") || strings.Contains(h.Get("Content-Type"), "svg") {
		t.Errorf("%s: served with headers that a browser may run: %v", name, h)
	}
}
