package cluster

import (
	"context"
	"time"

	"github.com/meshyard/meshyard/internal/database"
)

// Positions returns how far a replica must be for each account that has written. They are in an
// unlogged table of the primary: after a crash of PostgreSQL, an account may briefly read what was
// there before its last change.
func (s *Store) Positions() database.Positions { return positions{s} }

type positions struct{ store *Store }

// positionTimeout limits the wait for a primary that does not respond.
const positionTimeout = 2 * time.Second

// Written implements [database.Positions].
func (p positions) Written(ctx context.Context, account string) error {
	ctx, cancel := context.WithTimeout(ctx, positionTimeout)
	defer cancel()
	db := p.store.core.DB.Write
	// The position for inserts includes a commit that is not on the disk yet.
	_, err := db.NewRaw(
		"INSERT INTO written_positions AS w (account, position, written_at) VALUES ($1, pg_current_wal_insert_lsn(), now()) " +
			"ON CONFLICT (account) DO UPDATE SET position = greatest(w.position, EXCLUDED.position), written_at = EXCLUDED.written_at").
		Conn(database.Bind(db, account)).Exec(ctx)
	return err
}

// Of implements [database.Positions].
func (p positions) Of(ctx context.Context, account string) (position int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, positionTimeout)
	defer cancel()
	db := p.store.core.DB.Write
	err = db.NewRaw("SELECT coalesce((SELECT CAST(position - '0/0' AS bigint) FROM written_positions WHERE account = $1), 0)").
		Conn(database.Bind(db, account)).Scan(database.WithSharedResult(ctx), &position)
	return position, err
}

// DeletePositions deletes positions that each replica in use has replayed long ago.
func (s *Store) DeletePositions(ctx context.Context) error {
	if s.core.DB.OneWriter() {
		return nil
	}
	_, err := s.core.DB.Write.ExecContext(ctx,
		"DELETE FROM written_positions WHERE written_at < now() - interval '1 hour'")
	return err
}
