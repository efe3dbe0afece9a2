package library

import (
	"context"
	"time"

	"github.com/meshyard/meshyard/models"
)

// IsDue reports whether a library is to be scanned now: it was requested, or the last scan was
// interrupted, has failed or began longer ago than interval. With an interval of 0, only requested
// scans are due.
func (s *Store) IsDue(ctx context.Context, name string, interval time.Duration) (bool, error) {
	l, err := s.row(ctx, name)
	switch {
	case err != nil:
		return false, err
	case l.Scanner != "" && l.BeatAt != nil && models.Now().Sub(*l.BeatAt) < leaseExpiry:
		return false, nil
	case l.RequestedAt != nil:
		return true, nil
	case interval == 0:
		return false, nil
	case l.StartedAt == nil || l.FinishedAt == nil:
		return true, nil
	case l.Error != "":
		return models.Now().Sub(*l.FinishedAt) >= min(interval, time.Minute), nil
	}
	return models.Now().Sub(*l.StartedAt) >= interval, nil
}
