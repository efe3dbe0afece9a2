package uploads

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// MultipartGrace is the minimum age of a multipart upload that is garbage: its age counts from its
// start, and one that belongs to a single request may last long.
const MultipartGrace = 24 * time.Hour

// CollectStaged calls remove for each upload that is staged in the bucket, that no row refers to,
// and that is older than grace. Its argument removes it.
func (s *Store) CollectStaged(ctx context.Context, grace time.Duration,
	remove func(name string, remove func() error) error) error {
	var some []bucket.StagedUpload
	check := func() error {
		names := make([]string, len(some))
		for i, u := range some {
			names[i] = u.Name
		}
		begun, err := s.StagedNames(ctx, names)
		if err != nil {
			return err
		}
		for _, u := range some {
			if begun[u.Name] {
				continue
			}
			if err := remove(u.Name, func() error { return s.core.Bucket.Unstage(ctx, u.Staged) }); err != nil {
				return err
			}
		}
		some = some[:0]
		return nil
	}
	for u, err := range s.core.Bucket.StagedUploads(ctx) {
		if err != nil {
			return err
		}
		least := grace
		if u.Multipart != "" && grace > 0 {
			least = max(grace, MultipartGrace)
		}
		if time.Since(u.ModTime) < least {
			continue
		}
		if some = append(some, u); len(some) == models.ObjectsAtOnce {
			if err := check(); err != nil {
				return err
			}
		}
	}
	return check()
}

// StagedNames returns which of the names are those of uploads in progress.
func (s *Store) StagedNames(ctx context.Context, names []string) (map[string]bool, error) {
	found := make(map[string]bool)
	if len(names) == 0 {
		return found, nil
	}
	var known []string
	err := s.core.DB.Write.NewSelect().Model((*Resumable)(nil)).Column("up.name").
		Where("up.name IN (?) AND (up.partial OR NOT up.done)", bun.List(names)).Scan(ctx, &known)
	for _, name := range known {
		found[name] = true
	}
	return found, err
}
