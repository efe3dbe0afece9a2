// Package openin counts the downloads of programs to which a user has passed the URL of a file.
package openin

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/activity"
)

// TTL is how long the URL of a file for a program is valid.
const TTL = 15 * time.Minute

// URL is a URL of the content of a file that a user has passed to a program. Its signature was
// verified.
type URL struct {
	FileID  int64
	UserID  int64 // whose download it is; 0: nobody's
	Expires time.Time
	Token   string // identifies the URL
}

// openedURL is a URL whose download was counted.
type openedURL struct {
	bun.BaseModel `bun:"table:opened_urls"`

	Token     string `bun:",pk"`
	ExpiresAt time.Time
}

// Store has the operations on URLs for programs.
type Store struct {
	core     *models.Store
	activity *activity.Store
}

// New adds the URLs for programs to the core.
func New(core *models.Store, downloads *activity.Store) *Store {
	s := &Store{core, downloads}
	core.DB.Register((*openedURL)(nil))
	core.Expire("URLs for programs", s.expire)
	return s
}

// Content returns the file of a URL for a program, and the object key of its content. If count is
// set, the first call for a URL adds a download to the history of its user, in the same transaction
// that marks the URL. It returns NotFound if the file or the user was deleted, and Forbidden if the
// thing was taken down.
func (s *Store) Content(ctx context.Context, o URL, count bool) (*models.File, string, error) {
	f, key, err := s.core.Blob(ctx, o.FileID, models.Signed, nil)
	if err != nil || !count || o.UserID == 0 || f.ThingID == 0 {
		return f, key, err
	}
	fresh := false
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		fresh = false
		result, err := tx.NewInsert().Model(&openedURL{Token: o.Token, ExpiresAt: o.Expires}).On("CONFLICT DO NOTHING").
			Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return err
		}
		fresh = true
		return s.activity.InsertDownload(ctx, tx, &activity.Download{UserID: o.UserID, FileID: f.ID, ThingID: f.ThingID,
			CreatedAt: models.Now()})
	})
	if database.IsForeignKey(err) {
		err = models.NoSuch("file", o.FileID)
	}
	if err != nil {
		return nil, "", err
	}
	if fresh {
		s.activity.NoteDownload()
	}
	return f, key, nil
}

// Opens reports whether programs can open a file: a model of a thing that is not taken down.
func Opens(f *models.File, caller auth.Caller) bool {
	return f.State == models.Finalized && f.Kind == models.Model && f.IsAvailable() && !f.TakenDown() &&
		f.Allows(caller) == nil
}

// expire deletes the URLs that have expired.
func (s *Store) expire(ctx context.Context) error {
	_, err := s.core.DB.ExecAgain(ctx, s.core.DB.Write.NewDelete().Model((*openedURL)(nil)).
		Where("expires_at < ?", models.Now()))
	return err
}
