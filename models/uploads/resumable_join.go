package uploads

import (
	"context"
	"fmt"
	"io"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// JoinResumables makes the parts of an upload, which are finished uploads of the caller, its bytes,
// and finishes it. It opens a transaction.
func (s *Store) JoinResumables(ctx context.Context, caller auth.Caller, id int64) error {
	u, err := s.Resumable(ctx, caller, id)
	if err != nil || u.Done {
		return err
	}
	var readers []io.Reader
	for i, part := range u.PartIDs() {
		p, err := s.Resumable(ctx, caller, part)
		if err != nil {
			return models.About(fmt.Sprintf("parts[%d]", i), err)
		}
		if !p.Partial || !p.Done {
			return models.Fail(models.Conflict, "upload %d is not a finished part", part)
		}
		r, _, err := s.core.Bucket.Reader(ctx, p.staged().Key())
		if err != nil {
			return err
		}
		defer r.Close()
		readers = append(readers, r)
	}
	joined := io.MultiReader(readers...)
	// An interrupted call has joined the first bytes already.
	if _, err := io.CopyN(io.Discard, joined, u.Received); err != nil {
		return err
	}
	if _, err := s.AppendResumable(ctx, caller, id, u.Received, joined, nil); err != nil {
		return err
	}
	return s.FinishResumable(ctx, caller, id)
}
