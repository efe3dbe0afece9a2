package models

import (
	"context"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/fieldset"
)

// Signature is what the signature of a URL of a file permits.
type Signature int

// The kinds of signatures.
const (
	Unsigned        Signature = iota // the file must be public, or its thing opened
	Signed                           // the thing of the file must not be taken down
	SignedTakenDown                  // issued during the takedown, to someone who sees the thing
)

// ContentFields has the fields of a file that serving its content needs.
var ContentFields = fieldset.Of[File]("Name", "Kind", "Size", "ContentType", "SHA256", "MD5", "ObjectKey",
	"MissingSince", "FinalizedAt", "CreatedAt", "ExpiresAt", "PreviewID").With(FileAccess)

// Blob returns a file and the object key of its content. It returns NotFound if the file or its
// content does not exist, and Forbidden or NotFound if neither the signature nor the set of opened
// things permits access to the file.
func (s *Store) Blob(ctx context.Context, fileID int64, by Signature, opened *auth.Opened) (*File, string, error) {
	f, err := s.Accessible(ctx, fileID, by, opened)
	if err != nil {
		return nil, "", err
	}
	if f.State != Pending && !f.IsAvailable() {
		return nil, "", f.Unavailable()
	}
	return f, f.ContentKey(), nil
}

// Accessible returns a file like [Store.Blob], even if the server does not have its content.
func (s *Store) Accessible(ctx context.Context, fileID int64, by Signature, opened *auth.Opened) (*File, error) {
	f, ok, err := s.batcher(ctx).get(ctx, ContentFields, fileID)
	if err != nil {
		return nil, err
	}
	if !ok || !f.Live(Now()) {
		return nil, NoSuch("file", fileID)
	}
	if by == Unsigned {
		if err := f.Allows(auth.Caller{Opened: opened}); err != nil {
			return nil, err
		}
	}
	if f.State != Pending && f.TakenDown() && by != SignedTakenDown {
		return nil, f.Down()
	}
	return f, nil
}

// Unavailable returns the error for the content of a file that the server does not have.
func (f *File) Unavailable() error {
	if f.IsMissing() {
		return Fail(NotFound, "file %d is missing from its library", f.ID)
	}
	return Fail(NotFound, "file %d was imported without its content", f.ID)
}
