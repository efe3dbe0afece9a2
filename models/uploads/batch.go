package uploads

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// MaxStaged is the maximum number of uploads of one call of CreateStagedUploads.
const MaxStaged = 100

// NewStagedUpload is a file of CreateStagedUploads.
type NewStagedUpload struct {
	Filename string
	Size     int64
	Kind     *models.FileKind // that the owner declares
	SHA256   *string          // of the bytes, in hex
}

// CreateStagedUploads begins uploads of the caller: all of them, or none if one is refused. The
// bytes may arrive by a form, by the tus protocol, or in parts that are sent to S3. If target is
// not nil, FinalizeOne attaches them to it. An upload is complete at once if it has the SHA-256 and
// the size of a file that the caller may see. Each upload has a transaction of its own.
func (s *Store) CreateStagedUploads(ctx context.Context, caller auth.Caller, uploads []NewStagedUpload,
	target *models.Target) (_ []*StagedUpload, err error) {
	if len(uploads) == 0 {
		return nil, models.RequiredList("uploads")
	}
	if len(uploads) > MaxStaged {
		return nil, models.TooMany("uploads", len(uploads), MaxStaged)
	}
	var created []*StagedUpload
	defer func() {
		if err == nil {
			return
		}
		for _, u := range created { // what remains expires
			_ = s.DeletePendingUpload(context.WithoutCancel(ctx), caller, u.FileID)
		}
	}()
	for i, n := range uploads {
		r := NewResumable{Name: n.Filename, Length: &n.Size, Target: target,
			Metadata: map[string]string{"filename": n.Filename}}
		if n.Kind != nil {
			r.Kind = *n.Kind
		}
		if n.SHA256 != nil {
			r.SHA256 = *n.SHA256
		}
		u, err := s.createStaged(ctx, caller, r)
		if err != nil {
			return nil, inUpload(i, err)
		}
		created = append(created, u)
	}
	return created, nil
}

// inUpload returns an error of an upload as one about its place in the input.
func inUpload(i int, err error) error {
	e, ok := errors.AsType[*models.Error](err)
	if !ok || e.Field == "" {
		return err
	}
	field := map[string]string{"file": "size"}[e.Field]
	if field == "" {
		field = e.Field
	}
	if field == "target" {
		return err
	}
	return models.About(fmt.Sprintf("uploads[%d].%s", i, field), err)
}

func (s *Store) createStaged(ctx context.Context, caller auth.Caller, n NewResumable) (*StagedUpload, error) {
	if known, err := s.readable(ctx, caller, n); err != nil || known != nil {
		return known, err
	}
	u, err := s.CreateResumable(ctx, caller, n)
	if err != nil {
		return nil, err
	}
	return &StagedUpload{FileID: u.FileID, Name: n.Name, Limit: *n.Length, ExpiresAt: u.ExpiresAt, resumable: u}, nil
}

// maxSame limits how many files with the same bytes are checked for one that the caller may see.
const maxSame = 20

// readable returns a complete upload if the caller may see a file that has the bytes of n, and nil
// otherwise.
func (s *Store) readable(ctx context.Context, caller auth.Caller, n NewResumable) (*StagedUpload, error) {
	if n.SHA256 == "" || n.Kind == models.Image {
		return nil, nil //nolint:nilnil // there is no such file
	}
	n, err := n.checked()
	if err != nil {
		return nil, err
	}
	name, err := models.CleanFilename("filename", n.Name)
	if err != nil {
		return nil, err
	}
	var same []*models.File
	err = s.core.DB.Read.NewSelect().Model(&same).Where("f.sha256 = ? AND f.size = ? AND f.state = ?", n.SHA256, *n.Length,
		models.Finalized).Order("f.id").Limit(maxSame).Scan(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(same, func(f *models.File) bool {
		_, err := s.core.File(ctx, caller, models.AllFileFields, f.ID)
		return err == nil
	})
	if at < 0 {
		return nil, nil //nolint:nilnil // as above
	}
	if err := s.MayUpload(ctx, caller, *n.Length); err != nil {
		return nil, err
	}
	key, err := s.core.Bucket.Duplicate(ctx, n.SHA256, *n.Length)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // the object is missing or damaged: the client sends the bytes
	}
	now := models.Now()
	expires := now.Add(s.core.Options.PendingTTL)
	f := &models.File{OwnerID: caller.UserID, Name: name, CreatedAt: now, ExpiresAt: &expires}
	f.SetContent(bucket.Upload{Key: key, Size: *n.Length, SHA256: n.SHA256, MD5: same[at].MD5,
		ContentType: same[at].ContentType}, n.Kind)
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.core.Claim(ctx, tx, caller.UserID, models.Claim{Bytes: f.Size, Pending: 1}); err != nil {
			return err
		}
		if err := s.stageOn(ctx, tx, caller, f, n.Target); err != nil {
			return err
		}
		if _, err := tx.NewInsert().Model(f).Exec(ctx); err != nil {
			return err
		}
		return s.core.Enqueue(ctx, tx, models.Work{ExpireUpload: f.ID, At: expires})
	})
	if err != nil {
		s.discardUnreferenced(ctx, key)
		return nil, err
	}
	return &StagedUpload{FileID: f.ID, Name: name, Limit: *n.Length, ExpiresAt: expires, IsComplete: true}, nil
}

// stageOn sets the target that FinalizeOne attaches a file to, which must belong to the caller.
func (s *Store) stageOn(ctx context.Context, tx bun.Tx, caller auth.Caller, f *models.File,
	target *models.Target) error {
	if target == nil {
		return nil
	}
	on, err := s.core.LockOwned(ctx, tx, caller, *target)
	f.TargetType, f.TargetID, f.ThingID = on.Type, on.ID, on.ThingID
	return err
}

// Parts returns the parts of an upload that clients can send to S3 directly, whose bytes are then
// hashed when all have arrived. ok is false if there are none.
func (s *Store) Parts(ctx context.Context, u *StagedUpload) (parts []bucket.Part, ok bool, err error) {
	if u.resumable == nil {
		return nil, false, nil
	}
	parts, ok, err = s.core.Bucket.PresignParts(ctx, u.resumable.staged(), *u.resumable.Length,
		u.ExpiresAt.Sub(models.Now()))
	if err != nil || !ok {
		return nil, false, err
	}
	// Before anyone has the URLs, with which bytes can be replaced after they were hashed.
	u.resumable.Direct = true
	_, err = s.core.DB.Write.NewUpdate().Model(u.resumable).Column("direct").WherePK().Exec(ctx)
	return parts, err == nil, err
}
