package models_test

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/modelstest"
	"github.com/meshyard/meshyard/models/previews"
	"github.com/meshyard/meshyard/models/uploads"
)

// TestUploadStripsMetadata checks that the stored bytes of an image have no metadata, that size and
// hashes are theirs, and that another upload of them is the same content.
func TestUploadStripsMetadata(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		sent := modelstest.Picture(t, "gps.jpg")
		if !bytes.Contains(sent, []byte("ABC123")) {
			t.Fatal("the sample has no serial number")
		}
		f, err := s.Uploads.Upload(t.Context(), ada, uploads.NewUpload{Name: "a.jpg", Bytes: bytes.NewReader(sent),
			AtLeast: int64(len(sent))})
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := s.Bucket.Reader(t.Context(), f.ObjectKey)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		stored, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		sha, sum := sha256.Sum256(stored), md5.Sum(stored)
		if bytes.Contains(stored, []byte("ABC123")) || bytes.Contains(stored, []byte("iPhone")) || len(stored) < len(sent)/2 {
			t.Errorf("%d of %d bytes are stored, with metadata: %q", len(stored), len(sent), stored[:min(40, len(stored))])
		}
		if f.Size != int64(len(stored)) || f.SHA256 != hex.EncodeToString(sha[:]) || f.MD5 != hex.EncodeToString(sum[:]) ||
			f.Kind != models.Image {
			t.Errorf("got %d bytes with %s and %s as %s, want %d with %x and %x", f.Size, f.SHA256, f.MD5, f.Kind, len(stored),
				sha, sum)
		}
		again, err := s.Uploads.Upload(t.Context(), ada, uploads.NewUpload{Name: "b.jpg", Bytes: bytes.NewReader(stored)})
		if err != nil || again.SHA256 != f.SHA256 {
			t.Errorf("the stored bytes are stored as %v, %v", again, err)
		}
		// What is removed counts towards the limit, too: it is 1 MiB.
		long := append(append([]byte{}, sent...), make([]byte, 1<<20)...)
		if _, err := s.Uploads.Upload(t.Context(), ada,
			uploads.NewUpload{Name: "c.jpg", Bytes: bytes.NewReader(long)}); models.CodeOf(err) != models.TooLarge {
			t.Errorf("an image with a megabyte behind it: %v", err)
		}
		if _, err := s.Uploads.Upload(t.Context(), ada,
			uploads.NewUpload{Name: "d.jpg", Bytes: bytes.NewReader(long[:1<<20])}); err != nil {
			t.Errorf("an image with less behind it: %v", err)
		}
	})
}

// TestKindsOfImages checks the kind and the content type of each image format.
func TestKindsOfImages(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		for name, want := range map[string]string{
			"gps.jpg": "image image/jpeg", "photo.webp": "image image/webp", "photo.avif": "image image/avif",
			"apng.png":  "image image/png",
			"exif6.png": "image image/png", "photo.heic": "attachment image/heic",
		} {
			f, err := s.Uploads.Upload(t.Context(), ada,
				uploads.NewUpload{Name: "any.bin", Bytes: bytes.NewReader(modelstest.Picture(t, name))})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(f.Kind, " ", f.ContentType); got != want {
				t.Errorf("%s: got %s, want %s", name, got, want)
			}
		}
	})
}

// TestFirstImages checks that an image without a thumbnail is not the first one, in each state of
// its preview, and that one whose preview is being made gives way to others.
func TestFirstImages(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		thing, model := cataloguetest.Published(t, s, ada)
		add := func(name string) *models.File {
			t.Helper()
			f, err := s.Uploads.Upload(t.Context(), ada,
				uploads.NewUpload{Name: name, Bytes: bytes.NewReader(modelstest.Picture(t, name))})
			if err == nil {
				_, err = s.Finalize(t.Context(), ada, []models.FinalizeFile{{ID: f.ID}}, models.Target{Type: models.OnThing,
					ID: thing.ID})
			}
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		avif, a, b := add("photo.avif"), add("gps.jpg"), add("exif6.png")
		const done, failed, waiting = "done", "failed", "waiting"
		for _, c := range []struct {
			a, b, model string
			want        *models.File
		}{
			{waiting, waiting, waiting, a}, {failed, waiting, waiting, b}, {waiting, done, waiting, b}, {done, done, done, a},
			{failed, done, done, b}, {failed, waiting, done, model}, {failed, failed, done, model},
			{failed, failed, failed, nil},
		} {
			for f, state := range map[*models.File]string{a: c.a, b: c.b, model: c.model} {
				image := ""
				if state == done {
					image = "png"
				}
				_, err := s.DB.Write.NewUpdate().Model((*models.Preview)(nil)).Set("state = ?, picture = ?", state, image).
					Where("sha256 = ?", f.SHA256).Exec(t.Context())
				if err != nil {
					t.Fatal(err)
				}
			}
			found, err := s.FirstImages(t.Context(), models.AllFileFields, models.OnThing, []int64{thing.ID})
			if got := found[thing.ID]; err != nil || (got == nil) != (c.want == nil) || got != nil && got.ID != c.want.ID {
				t.Errorf("%+v: got %+v, %v; the AVIF is %d", c, got, err, avif.ID)
			}
		}
	})
}

// TestDetachImages checks that the failed previews of types that have none any more are not made
// again, and that others are.
func TestDetachImages(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		thing, model := cataloguetest.Published(t, s, ada)
		png, err := s.Uploads.Upload(t.Context(), ada,
			uploads.NewUpload{Name: "a.png", Bytes: bytes.NewReader(modelstest.Picture(t, "exif6.png"))})
		if err != nil {
			t.Fatal(err)
		}
		dxf, err := s.Uploads.Upload(t.Context(), ada,
			uploads.NewUpload{Name: "a.dxf",
				Bytes: strings.NewReader("0\nSECTION\n2\nHEADER\n9\n$ACADVER\n0\nENDSEC\n0\nEOF\n")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Finalize(t.Context(), ada, []models.FinalizeFile{{ID: png.ID}, {ID: dxf.ID}},
			models.Target{Type: models.OnThing, ID: thing.ID}); err != nil {
			t.Fatal(err)
		}
		// As an earlier version has left them.
		p := &models.Preview{SHA256: dxf.SHA256, Subject: preview.Image, Version: preview.Version - 1,
			State: models.PreviewFailed, OwnerID: ada.UserID, BeatAt: models.Now()}
		if _, err := s.DB.Write.NewInsert().Model(p).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.DB.Write.NewUpdate().Model((*models.File)(nil)).Set("preview_id = ?", p.ID).Where("id = ?", dxf.ID).
			Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.DB.Write.NewUpdate().Model((*models.Preview)(nil)).Set("version = ?, state = ?", preview.Version-1,
			models.PreviewFailed).Where("true").Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Previews.SchedulePreviews(t.Context(), previews.AgainNone); err != nil {
			t.Fatal(err)
		}
		files, err := s.FilesByID(t.Context(), models.AllFileFields, []int64{model.ID, png.ID, dxf.ID})
		if err != nil || files[model.ID].PreviewID == 0 || files[png.ID].PreviewID == 0 || files[dxf.ID].PreviewID != 0 {
			t.Errorf("previews %d, %d, %d, %v; want none of the DXF", files[model.ID].PreviewID, files[png.ID].PreviewID,
				files[dxf.ID].PreviewID, err)
		}
	})
}
