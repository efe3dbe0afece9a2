package servertest

import (
	"bytes"
	"fmt"
	_ "image/png"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/write/glb"
)

// Derives configures a server to generate previews, with one worker.
func Derives(s *config.Settings) { s.PreviewWorkers = 1 }

type Point struct{ X, Y, Z float64 }

// previewed is the part of a file and of its preview that the tests read.
type previewed struct {
	ID        string
	Kind      string
	Thumbnail *struct {
		URL           string
		Width, Height int
	}
	ThreejsURL, GlbURL *string
	Mesh               *struct {
		Format               string
		Triangles, Vertices  int64
		Components           int
		Min, Max, Size       Point
		Volume               *float64
		Area                 float64
		Watertight, Manifold bool
		Decimated            bool
		Fingerprint          string
		Duplicates           struct {
			TotalCount int
			Nodes      []struct{ ID, Name string }
		}
	}
	Processing struct {
		State    string
		Stage    *string
		Progress float64
		Error    *string
		Attempts int
	}
}

const previewFields = `id kind thumbnail { url width height } threejsUrl glbUrl processing { state stage progress error attempts }
	mesh { format triangles vertices components min { x y z } max { x y z } size { x y z } volume area watertight manifold decimated fingerprint duplicates { totalCount nodes { id name } } }`

// Settled waits until the processing of a file has ended, and returns the file.
func Settled(t *testing.T, c *Client, id int64) previewed {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		f := Processing(c, id)
		if state := f.Processing.State; state != "WAITING" && state != "RUNNING" || time.Now().After(end) {
			return f
		}
	}
}

// Processing returns a file, which may still be processed.
func Processing(c *Client, id int64) previewed {
	var r struct{ File previewed }
	c.Query(`query ($id: ID!) { file(id: $id) { `+previewFields+` } }`, map[string]any{"id": ID(id)}, &r)
	return r.File
}

// TexturedGLB returns a file of one triangle with a texture.
func TexturedGLB(t *testing.T) []byte {
	t.Helper()
	texture := &mesh.Texture{Image: mesh.NewImage(2, 2, []uint32{0xFF0000FF, 0xFF00FF00, 0xFFFF0000, 0xFF102030})}
	m := &mesh.Mesh{
		Unit: 1, Positions: []float32{0, 0, 0, 1, 0, 0, 0, 1, 0}, Colors: make([]uint8, 12),
		Patches: []mesh.Patch{{Texture: texture, UV: [3][2]float32{{0, 0}, {1, 0}, {0, 1}},
			Tint: [3]uint32{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}}},
	}
	var b bytes.Buffer
	if _, err := glb.Write(&b, m, glb.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ImageIDs returns the IDs of the images of a thing, in order.
func ImageIDs(t *testing.T, c *Client, thing int64) (ids []int64) {
	t.Helper()
	var images []struct{ ID int64 }
	c.Get(fmt.Sprintf("/things/%d/images", thing)).Want(t, 200, &images)
	for _, image := range images {
		ids = append(ids, image.ID)
	}
	return ids
}

// Fetch returns the content at a URL. It follows redirects and sends no token.
func Fetch(t *testing.T, s *Server, url string) []byte {
	t.Helper()
	r := s.Client("").Get(url)
	for r.StatusCode == 302 {
		r = s.Client("").Get(r.Header.Get("Location"))
	}
	return r.Want(t, 200).Bytes
}

// FileSchema is the part of FileSchema that the tests read. It is independent of the code under
// test.
type FileSchema struct {
	ID            int64   `json:"id"`
	Name          string  `json:"name"`
	Size          int64   `json:"size"`
	URL           string  `json:"url"`
	PublicURL     string  `json:"public_url"`
	DownloadURL   string  `json:"download_url"`
	DownloadCount int64   `json:"download_count"`
	DirectURL     *string `json:"direct_url"`
	Hash          string  `json:"hash"`
	Rank          int     `json:"rank"`
}
