package activity

import "context"

// Internals that the tests of package activity_test use.

const MaxStatsDays = maxStatsDays

type NewDownload = newDownload

func (s *Store) InsertDownloads(ctx context.Context, rows []*Download) error {
	return s.insertDownloads(ctx, rows)
}
