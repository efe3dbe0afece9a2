package maintenance

import "context"

// RefreshStatistics collects the statistics of a SQLite database if tables have grown to more than
// twice the rows since the last time. The server calls it every hour. PostgreSQL does this itself.
func (s *Store) RefreshStatistics(ctx context.Context) error {
	return s.core.DB.Refresh(ctx, Maintained)
}
