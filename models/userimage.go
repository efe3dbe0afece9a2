package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// The images of a user, as targets of files. The ID of the target is that of the user.
const (
	OnAvatar TargetType = "avatar"
	OnCover  TargetType = "cover"
)

// IsUserImage reports whether a target is an image of a user.
func IsUserImage(on TargetType) bool { return on == OnAvatar || on == OnCover }

// checkUserImage returns an error unless the files are one image.
func checkUserImage(on TargetType, files []*File) error {
	if len(files) != 1 || files[0].Kind != Image {
		return Invalid("files", "the %s of a user must be one image (PNG, JPEG, GIF, WebP or AVIF)", on)
	}
	return nil
}

// userImage is a change of an image of a user.
type userImage struct {
	on     TargetType
	field  string // the field of the input
	fileID int64  // 0: none
}

// images returns the changes of images in c.
func (c ProfileChange) images() (changes []userImage) {
	if c.AvatarID != nil {
		changes = append(changes, userImage{OnAvatar, "avatarId", *c.AvatarID})
	}
	if c.CoverID != nil {
		changes = append(changes, userImage{OnCover, "coverId", *c.CoverID})
	}
	return changes
}

// promoteUserImages is promote for the new images of the caller.
func (s *Store) promoteUserImages(ctx context.Context, caller auth.Caller,
	images []userImage) (keys []string, err error) {
	for _, image := range images {
		if image.fileID == 0 {
			continue
		}
		promoted, err := s.Promote(ctx, caller, []FinalizeFile{{ID: image.fileID}})
		if err != nil {
			return nil, err
		}
		keys = append(keys, promoted...)
	}
	return keys, nil
}

// setUserImages changes the images of the caller, whose row is locked.
func (s *Store) setUserImages(ctx context.Context, tx bun.Tx, caller auth.Caller, images []userImage) error {
	for _, image := range images {
		on := Target{image.on, caller.UserID}
		if image.fileID == 0 {
			if err := showUserImage(ctx, tx, &File{TargetType: on.Type, TargetID: on.ID}); err != nil {
				return err
			}
			continue
		}
		if err := s.finalize(ctx, tx, caller, []FinalizeFile{{ID: image.fileID}}, on); err != nil {
			return About(image.field, err)
		}
	}
	return nil
}

// showUserImage makes a finalized file the avatar or the cover of a locked user, and deletes the
// file of the previous image, whose bytes the garbage collector removes. If the ID of f is 0, the
// user has no image afterwards.
func showUserImage(ctx context.Context, tx bun.Tx, f *File) error {
	_, err := tx.NewDelete().Model((*File)(nil)).
		Where("target_type = ? AND target_id = ? AND state = ? AND id <> ?", f.TargetType, f.TargetID, Finalized, f.ID).
		Exec(ctx)
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
