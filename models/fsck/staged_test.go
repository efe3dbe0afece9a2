package fsck_test

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/fsck"
	"github.com/meshyard/meshyard/models/modelstest"
	"github.com/meshyard/meshyard/models/uploads"
)

// TestOrphanedParts checks that the parts of uploads in S3 that no row refers to are found and
// removed, and that those of an upload in progress are kept.
func TestOrphanedParts(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	modelstest.Each(t, func() {}, func(t *testing.T, core *models.Store, ada auth.Caller) {
		backend := s3mem.New()
		if err := backend.CreateBucket("meshyard"); err != nil {
			t.Fatal(err)
		}
		fake := httptest.NewServer(gofakes3.New(backend).Server())
		defer fake.Close()
		b, err := bucket.Open(t.Context(),
			"s3://meshyard?region=us-east-1&use_path_style=true&endpoint="+url.QueryEscape(fake.URL))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		folder := core.Bucket
		core.Bucket = b
		defer func() { core.Bucket = folder }()
		c := catalogue{core, t, ada}
		length := int64(100)
		if _, err := uploads.New(core).
			CreateResumable(t.Context(), ada, uploads.NewResumable{Name: "a.stl", Length: &length}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			s, err := b.Stage(t.Context())
			if err == nil {
				_, err = b.Append(t.Context(), s, strings.NewReader("some"), nil, func(bucket.Staged) error { return nil })
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if found, _ := c.check(fsck.Options{Grace: time.Hour}); len(found) > 0 {
			t.Errorf("younger than the grace period: %v", found)
		}
		// Each consists of a multipart upload and of the bytes after its last part.
		for _, o := range []fsck.Options{{}, {Repair: true}} {
			found, left := c.check(o)
			if len(found) != 6 || !strings.HasPrefix(found[0].Text, "staged upload ") || o.Repair && left > 0 {
				t.Errorf("repair %t: found %v, %d left, want 6", o.Repair, found, left)
			}
		}
		if found, _ := c.check(fsck.Options{}); len(found) > 0 {
			t.Errorf("after the repair: %v", found)
		}
	})
}
