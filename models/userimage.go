package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// The images of a user, as targets of files. The id of the target is that of the user.
const (
	OnAvatar TargetType = "avatar"
	OnCover  TargetType = "cover"
)

// isUserImage reports whether a target is an image of a user.
func isUserImage(on TargetType) bool { return on == OnAvatar || on == OnCover }

// StageUserImage returns an id for the avatar or the cover of the caller, before its bytes are
// there. The image replaces the one before when it is finalized.
func (s *Store) StageUserImage(ctx context.Context, caller auth.Caller, username string, on TargetType, name string) (*StagedUpload, error) {
	u, err := s.User(ctx, caller, username)
	if err != nil {
		return nil, err
	}
	return s.StageUpload(ctx, caller, name, Target{on, u.ID})
}

// lockUser locks a user as the target of files.
func (s *Store) lockUser(ctx context.Context, tx bun.Tx, id int64) error {
	u := new(User)
	err := s.db.ForUpdate(tx.NewSelect().Model(u).Column("u.id").Where("u.id = ? AND u.deleted_at IS NULL", id)).Scan(ctx)
	return notFoundIfNoRows(err, "user", id)
}

// checkUserImage returns an error unless the files are one image.
func checkUserImage(on TargetType, files []*File) error {
	if len(files) != 1 || files[0].Kind != Image {
		return badInput("files", "files: the %s of a user must be one image (PNG, JPEG or GIF)", on)
	}
	return nil
}

// showUserImage makes a finalized file the avatar or the cover of a locked user, and deletes the
// one before. The garbage collector removes its bytes.
func showUserImage(ctx context.Context, tx bun.Tx, f *File) error {
	_, err := tx.NewDelete().Model((*File)(nil)).
		Where("target_type = ? AND target_id = ? AND state = ? AND id <> ?", f.TargetType, f.TargetID, Finalized, f.ID).Exec(ctx)
	if err != nil {
		return err
	}
	column := "avatar_id"
	if f.TargetType == OnCover {
		column = "cover_id"
	}
	_, err = tx.NewUpdate().Model((*User)(nil)).Set("? = ?", bun.Ident(column), f.ID).Where("id = ?", f.TargetID).Exec(ctx)
	return err
}
