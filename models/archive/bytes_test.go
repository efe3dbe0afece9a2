package archive

import (
	"context"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/uploads"
)

// TestHoldContentsInRetry checks that a retry of the transaction that imports files looks again
// whether the bucket still has the contents that it had before.
func TestHoldContentsInRetry(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		f, err := uploads.New(s.core).Upload(ctx, ada, uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid a")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.core.Promote(ctx, ada, []models.FinalizeFile{{ID: f.ID}}); err != nil {
			t.Fatal(err)
		}
		files := archiveTableOf("files")
		l, b := &archiveLoader{store: s}, &archiveRows{table: files, columns: files.of(false)}
		row := make([]any, len(b.columns))
		row[b.column("sha256")], row[b.column("size")] = f.SHA256, f.Size
		b.rows = [][]any{row, row} // two files share the content
		there := map[string]bool{f.SHA256: true}
		hold := func() error {
			return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
				return l.holdContents(ctx, tx, b, b.rows,
					there)
			})
		}
		if err := hold(); err != nil {
			t.Fatalf("while the bucket has the content: %v", err)
		}
		if err := s.core.Bucket.Remove(ctx, bucket.ContentKey(f.SHA256)); err != nil {
			t.Fatal(err)
		}
		if err := hold(); err == nil || !strings.Contains(err.Error(), f.SHA256) {
			t.Errorf("after the content was removed: %v, want an error that names it", err)
		}
		if err := uploads.New(s.core).DeletePendingUpload(ctx, ada, f.ID); err != nil {
			t.Fatal(err)
		}
	})
}
