package previews

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/internal/preview/cad"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/modelstest"
	"github.com/meshyard/meshyard/models/uploads"
)

// TestDetachPreviews checks that an upgrade does not repeat the failure of a preview that is not
// made any more, and makes one of another subject in its place.
func TestDetachPreviews(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		thing := modelstest.Published(t, s.core, ada)
		ids := map[string]int64{}
		for _, name := range []string{"drawing.dxf", "part.stl"} {
			text := "0\nSECTION\n2\nENTITIES\n0\nENDSEC\n0\nEOF\n"
			if name == "part.stl" {
				text = "BMW" + strings.Repeat("\x00", 81)
			}
			file, err := uploads.New(s.core).Upload(ctx, ada, uploads.NewUpload{Name: name, Bytes: strings.NewReader(text)})
			if err == nil {
				_, err = s.core.Finalize(ctx, ada, []models.FinalizeFile{{ID: file.ID}}, models.Target{Type: models.OnThing,
					ID: thing.ID})
			}
			if err != nil {
				t.Fatal(err)
			}
			// As the older version treated it.
			old := &models.Preview{SHA256: file.SHA256, Subject: preview.Image, Version: 1, State: models.PreviewFailed,
				OwnerID: ada.UserID, BeatAt: models.Now()}
			if _, err := s.core.DB.Write.NewInsert().Model(old).Exec(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := s.core.DB.Write.NewRaw("UPDATE files SET preview_id = ? WHERE id = ?", old.ID, file.ID).
				Exec(ctx); err != nil {
				t.Fatal(err)
			}
			ids[name] = file.ID
		}
		if n, err := s.SchedulePreviews(ctx, AgainNone); n != 1 || err != nil {
			t.Errorf("got %d scheduled previews, %v; want that of the STL file", n, err)
		}
		files, err := s.core.FilesByID(ctx, models.AllFileFields, []int64{ids["drawing.dxf"], ids["part.stl"]})
		if err != nil {
			t.Fatal(err)
		}
		if f := files[ids["drawing.dxf"]]; f.PreviewID != 0 {
			t.Errorf("the drawing has preview %d, want none", f.PreviewID)
		}
		if f := files[ids["part.stl"]]; f.Preview == nil || f.Preview.Subject != "stl" {
			t.Errorf("the STL file has the preview %+v, want one of a mesh", f.Preview)
		}
	})
}

// TestConverterTurnedOnAndOff checks that CAD files get previews after a converter has been turned
// on, and that those still waiting when it is turned off do not fail.
func TestConverterTurnedOnAndOff(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		thing := modelstest.Published(t, s.core, ada)
		file, err := uploads.New(s.core).
			Upload(ctx, ada, uploads.NewUpload{Name: "part.step", Bytes: strings.NewReader("ISO-10303-21;\n")})
		if err == nil {
			_, err = s.core.Finalize(ctx, ada, []models.FinalizeFile{{ID: file.ID}}, models.Target{Type: models.OnThing,
				ID: thing.ID})
		}
		if err != nil {
			t.Fatal(err)
		}
		check := func(when string, want int64) {
			t.Helper()
			var previews, files int64
			for into, query := range map[*int64]string{&previews: "SELECT count(*) FROM previews WHERE subject = 'step'",
				&files: "SELECT count(*) FROM files WHERE preview_id <> 0 AND name = 'part.step'"} {
				if err := s.core.DB.Read.NewRaw(query).Scan(ctx, into); err != nil {
					t.Fatal(err)
				}
			}
			if previews != want || files != want {
				t.Errorf("%s: got %d previews of %d files, want %d", when, previews, files, want)
			}
		}
		check("without a converter", 0)
		for range 2 {
			s.core.Options.Previews.Converter = &cad.Converter{}
			if n, err := s.SchedulePreviews(ctx, AgainNone); n != 1 || err != nil {
				t.Fatalf("got %d scheduled previews, %v; want 1", n, err)
			}
			check("with a converter", 1)
			s.core.Options.Previews.Converter = nil
			if _, err := s.core.DB.Write.NewRaw("UPDATE previews SET state = 'done' WHERE subject <> 'step'").
				Exec(ctx); err != nil {
				t.Fatal(err)
			}
			if again, err := s.GeneratePreview(ctx); !again || err != nil {
				t.Fatalf("got %v, %v; want a preview that is dropped", again, err)
			}
			check("after it was turned off", 0)
		}
	})
}
