package fsck_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/fsck"
	"github.com/meshyard/meshyard/models/modelstest"
	"github.com/meshyard/meshyard/models/previews"
	"github.com/meshyard/meshyard/models/uploads"
)

// catalogue is a sound catalogue in which a test plants faults.
type catalogue struct {
	*models.Store
	t   *testing.T
	ada auth.Caller
}

func (c catalogue) exec(statement string, args ...any) {
	c.t.Helper()
	if _, err := c.DB.Write.NewRaw(statement, args...).Exec(c.t.Context()); err != nil {
		c.t.Fatalf("%s: %v", statement, err)
	}
}

// upload stores a pending upload.
func (c catalogue) upload(text string) *models.File {
	c.t.Helper()
	f, err := uploads.New(c.Store).
		Upload(c.t.Context(), c.ada, uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader(text)})
	if err != nil {
		c.t.Fatal(err)
	}
	return f
}

// file stores a file on a thing.
func (c catalogue) file(text string, thing int64) *models.File {
	c.t.Helper()
	f := c.upload(text)
	done, err := c.Finalize(c.t.Context(), c.ada, []models.FinalizeFile{{ID: f.ID}}, models.Target{Type: models.OnThing,
		ID: thing})
	if err != nil {
		c.t.Fatal(err)
	}
	return done[0]
}

// replace replaces the bytes of a content.
func (c catalogue) replace(f *models.File, text string) {
	c.t.Helper()
	ctx := c.t.Context()
	u, err := c.Bucket.Put(ctx, strings.NewReader(text), 1<<20)
	if err == nil {
		err = c.Bucket.PromoteDamaged(ctx, u.Key, f.SHA256, u.Size)
	}
	if err == nil {
		err = c.Bucket.Remove(ctx, u.Key)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// put stores a derived object.
func (c catalogue) put(key, text string) {
	c.t.Helper()
	err := c.Bucket.PutDerived(c.t.Context(), key, "", func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

const wholePNG = "a picture IEND\xaeB`\x82"

// glb returns an object that has a length in its header, and its actual length.
func glb(length, actual int) string {
	head := binary.LittleEndian.AppendUint32([]byte("glTF\x02\x00\x00\x00"), uint32(length))
	return string(head) + strings.Repeat("x", actual-len(head))
}

// previewed makes the preview of a file finished, and returns the keys of its parts.
func (c catalogue) previewed(f *models.File) (image, model string) {
	c.t.Helper()
	c.exec("UPDATE previews SET state = 'done', picture = 'png', glb = true WHERE id = ?", f.PreviewID)
	name := func(part preview.Part) string {
		return bucket.DerivedKey(f.SHA256, preview.SubjectOf(f.Name, f.ContentType, false).
			PartName(preview.Version, part.Object()))
	}
	model = name(preview.GLB)
	found, err := previews.New(c.Store).DerivedFrom(c.t.Context(), f.SHA256)
	if err != nil || len(found) != 1 || !slices.Contains(previews.Objects(found[0]), model) {
		c.t.Fatalf("the preview %+v, %v does not have the object %s", found, err, model)
	}
	image = previews.Objects(found[0])[0]
	c.put(image, wholePNG)
	c.put(model, glb(40, 40))
	return image, model
}

// objects returns the objects of the bucket with their sizes.
func (c catalogue) objects() map[string]int64 {
	c.t.Helper()
	all := make(map[string]int64)
	for o, err := range c.Bucket.Objects(c.t.Context(), "") {
		if err != nil {
			c.t.Fatal(err)
		}
		all[o.Key] = o.Size
	}
	return all
}

// rows returns the numbers of rows of some tables.
func (c catalogue) rows() map[string]int {
	c.t.Helper()
	all := make(map[string]int)
	for _, table := range []string{"users", "things", "files", "previews", "comments", "likes", "contents",
		"thing_documents", "user_documents", "uploads"} {
		n, err := c.DB.Write.NewSelect().Table(table).Count(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		all[table] = int(n)
	}
	return all
}

// check runs fsck and returns the problems.
func (c catalogue) check(o fsck.Options) (found []fsck.Problem, left int) {
	c.t.Helper()
	o.Rehash, o.Workers = true, 4
	left, err := newFsck(c.Store).Check(c.t.Context(), o, func(p fsck.Problem) { found = append(found, p) })
	if err != nil {
		c.t.Fatal(err)
	}
	return found, left
}

// TestPlantedFaults plants a fault of each kind, and checks that fsck finds all of them, repairs
// them, changes nothing else, and then finds nothing.
func TestPlantedFaults(t *testing.T) {
	modelstest.Each(t, func() {}, func(t *testing.T, core *models.Store, ada auth.Caller) {
		c := catalogue{core, t, ada}
		ctx := t.Context()
		thing := modelstest.Published(t, core, ada)
		var sound []*models.File
		for _, text := range []string{"missing", "truncated", "flipped", "glb", "image", "part", "untouched"} {
			sound = append(sound, c.file("solid "+text, thing.ID))
		}
		missing, truncated, flipped := sound[0], sound[1], sound[2]
		pending := c.upload("solid pending")
		_, model := c.previewed(sound[3])
		image, _ := c.previewed(sound[4])
		part, _ := c.previewed(sound[5])
		c.previewed(sound[6])
		if _, err := core.FoldCounts(ctx); err != nil {
			t.Fatal(err)
		}
		if found, _ := c.check(fsck.Options{}); len(found) > 0 {
			t.Fatalf("before: %v", found)
		}

		// A copy of the bucket, as in a backup.
		copied, err := bucket.Open(ctx, "file://"+filepath.Join(t.TempDir(), "copy"))
		if err != nil {
			t.Fatal(err)
		}
		defer copied.Close()
		for key := range c.objects() {
			if _, err := bucket.Copy(ctx, copied, key, core.Bucket, key, ""); err != nil {
				t.Fatal(err)
			}
		}
		objects, rows := c.objects(), c.rows()

		var faults []string
		plant := func(problem string, done func()) {
			faults = append(faults, problem)
			done()
		}
		remove := func(key string) {
			if err := core.Bucket.Remove(ctx, key); err != nil {
				t.Fatal(err)
			}
		}
		plant(bucket.ContentKey(missing.SHA256)+" is missing", func() { remove(bucket.ContentKey(missing.SHA256)) })
		plant(bucket.ContentKey(truncated.SHA256)+" has 5 bytes, not 15", func() { c.replace(truncated, "solid") })
		plant(bucket.ContentKey(flipped.SHA256)+" has other content", func() { c.replace(flipped, "solid flippeD") })
		plant(pending.ObjectKey+" is missing", func() { remove(pending.ObjectKey) })
		plant("pending upload", func() {
			f := c.upload("solid expired")
			c.exec("UPDATE files SET expires_at = ? WHERE id = ?", models.Now().Add(-time.Hour), f.ID)
		})
		plant("object "+bucket.PendingPrefix, func() {
			if _, err := core.Bucket.Put(ctx, strings.NewReader("orphan"), 10); err != nil {
				t.Fatal(err)
			}
		})
		plant("object "+bucket.ContentPrefix, func() {
			u, err := core.Bucket.Put(ctx, strings.NewReader("solid orphan"), 100)
			if err == nil {
				err = core.Bucket.Promote(ctx, u.Key, u.SHA256, u.Size)
			}
			if err != nil {
				t.Fatal(err)
			}
			remove(u.Key)
		})
		other := bucket.DerivedKey(strings.Repeat("ab", 32), "stl.1.full.png")
		plant("object "+other+": no preview refers to it", func() { c.put(other, wholePNG) })
		plant("object "+model+": is incomplete", func() { c.put(model, glb(40, 30)) })
		plant("object "+image+": is incomplete", func() { c.put(image, wholePNG[:10]) })
		plant(part+" is missing", func() { remove(part) })
		plant("things 1: like_count is 7, not 0",
			func() { c.exec("UPDATE things SET like_count = 7 WHERE id = ?", thing.ID) })
		plant("likes", func() {
			c.exec("INSERT INTO likes (user_id, target_type, target_id, created_at) VALUES (?, 'thing', 9999, ?)", ada.UserID,
				models.Now())
		})
		plant("files", func() {
			f := c.file("solid untouched", thing.ID) // the content of another file
			c.exec("UPDATE files SET target_id = 9999 WHERE id = ?", f.ID)
			c.exec("DELETE FROM count_changes")
		})
		// After the file, which is added to the search index.
		plant("thing 1: its row in the search index", func() { c.exec("DELETE FROM thing_documents") })
		plant("staged upload", func() {
			s, err := core.Bucket.Stage(ctx)
			if err == nil {
				_, err = core.Bucket.Append(ctx, s, bytes.NewReader([]byte("some")), nil, func(bucket.Staged) error { return nil })
			}
			if err != nil {
				t.Fatal(err)
			}
		})

		wantAll := func(found []fsck.Problem) {
			t.Helper()
			for _, fault := range faults {
				n := 0
				for _, p := range found {
					if strings.Contains(p.Text, fault) {
						n++
					}
				}
				if n == 0 {
					t.Errorf("not found: %s", fault)
				}
			}
			// The expired upload has an object, and a like that is counted wrong has a user.
			if len(found) > len(faults)+2 {
				t.Errorf("found %d problems, planted %d: %v", len(found), len(faults), found)
			}
		}
		before := c.rows()
		found, left := c.check(fsck.Options{})
		wantAll(found)
		if left != len(found) || !maps.Equal(before, c.rows()) {
			t.Errorf("without repairing: %d of %d are left, rows %v, want %v", left, len(found), c.rows(), before)
		}
		found, left = c.check(fsck.Options{Repair: true, From: copied})
		wantAll(found)
		for _, p := range found {
			if p.Repaired == "" {
				t.Errorf("not repaired: %s", p)
			}
		}
		if left != 0 {
			t.Errorf("%d problems are left, want none", left)
		}
		if found, left := c.check(fsck.Options{}); len(found)+left > 0 {
			t.Errorf("after the repair: %d, %v", left, found)
		}
		for _, key := range []string{model, image, part} { // servers make them again
			delete(objects, key)
		}
		if now := c.objects(); !maps.Equal(now, objects) {
			t.Errorf("objects after the repair:\n%v\nwant\n%v", now, objects)
		}
		if now := c.rows(); !maps.Equal(now, rows) {
			t.Errorf("rows after the repair: %v, want %v", now, rows)
		}
	})
}

// TestDamagedContentHeals checks that fsck marks a damaged content of which there is no good copy,
// and that the next upload of the same bytes replaces it.
func TestDamagedContentHeals(t *testing.T) {
	modelstest.Each(t, func() {}, func(t *testing.T, core *models.Store, ada auth.Caller) {
		c := catalogue{core, t, ada}
		thing := modelstest.Published(t, core, ada)
		f := c.file("solid good", thing.ID)
		c.file("solid good", thing.ID)
		c.replace(f, "solid bad!")
		found, left := c.check(fsck.Options{Repair: true})
		if left != 2 || len(found) != 2 || !strings.Contains(found[0].Text, "has other content") {
			t.Fatalf("found %v, %d left, want the damaged content of two files", found, left)
		}
		c.file("solid good", thing.ID)
		if found, _ := c.check(fsck.Options{}); len(found) > 0 {
			t.Errorf("after the upload: %v", found)
		}
		var marked int
		if err := c.DB.Write.NewSelect().Table("contents").ColumnExpr("count(*)").Where("damaged_at IS NOT NULL").
			Scan(context.Background(), &marked); err != nil || marked != 0 {
			t.Errorf("%d contents are marked, %v, want none", marked, err)
		}
	})
}
