package cluster

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/ratelimit"
)

// Limits implements [ratelimit.Shared] in an unlogged table of PostgreSQL. The times are those of
// the database, so that the clocks of the nodes do not matter.
type Limits struct{ store *Store }

// Limits returns the counts of all nodes, or nil if the database has one node only.
func (s *Store) Limits() ratelimit.Shared {
	if s.core.DB.OneWriter() {
		return nil
	}
	return Limits{s}
}

// counted is the part of a statement that counts rows of (key, used). A window that has ended
// begins again.
const counted = ` ON CONFLICT (key) DO UPDATE SET
	used = EXCLUDED.used + CASE WHEN l.ends_at > now() THEN l.used ELSE 0 END,
	ends_at = CASE WHEN l.ends_at > now() THEN l.ends_at ELSE EXCLUDED.ends_at END`

// state selects what a row has counted, and the seconds until its window ends.
const state = "used, CAST(extract(epoch FROM ends_at - now()) AS double precision) AS seconds"

// total is a row of state.
type total struct {
	Key     []byte
	Used    int
	Seconds float64
}

func (t total) total() ratelimit.Total {
	return ratelimit.Total{Used: t.Used, Left: time.Duration(t.Seconds * float64(time.Second))}
}

// Take implements [ratelimit.Shared].
func (l Limits) Take(ctx context.Context, key string, n, limit int) (ratelimit.Total, bool, error) {
	db, hash := l.store.core.DB.Write, hashOf(key)
	var row total
	err := db.NewRaw("INSERT INTO rate_limits AS l (key, used, ends_at) VALUES (?, ?, now() + interval '? seconds')"+counted+
		" WHERE l.ends_at <= now() OR l.used + EXCLUDED.used <= ? RETURNING "+state, hash, n, windowSeconds, limit).
		Scan(ctx, &row)
	if err == nil {
		return row.total(), true, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return ratelimit.Total{}, false, err
	}
	err = db.NewRaw("SELECT "+state+" FROM rate_limits WHERE key = ?", hash).Scan(ctx, &row)
	return row.total(), false, err
}

const windowSeconds = int(ratelimit.Window / time.Second)

// Add implements [ratelimit.Shared].
func (l Limits) Add(ctx context.Context, used map[string]int) (map[string]ratelimit.Total, error) {
	names := make(map[string]string, len(used)) // the keys by hash
	for key := range used {
		names[string(hashOf(key))] = key
	}
	totals := make(map[string]ratelimit.Total, len(used))
	// All nodes lock the rows in the same order, so that they do not deadlock.
	for hashes := range slices.Chunk(slices.Sorted(maps.Keys(names)), database.MaxSet) {
		keys, counts := make([][]byte, len(hashes)), make([]int64, len(hashes))
		for i, hash := range hashes {
			keys[i], counts[i] = []byte(hash), int64(used[names[hash]])
		}
		var rows []total
		err := l.store.core.DB.Write.NewRaw("INSERT INTO rate_limits AS l (key, used, ends_at) "+
			"SELECT key, used, now() + interval '? seconds' FROM unnest($1::bytea[], $2::bigint[]) AS added (key, used)"+counted+
			" RETURNING key, "+state, windowSeconds).Conn(database.Bind(l.store.core.DB.Write, keys, counts)).Scan(ctx, &rows)
		if err != nil {
			return totals, err
		}
		for _, row := range rows {
			totals[names[string(row.Key)]] = row.total()
		}
	}
	return totals, nil
}

// Refund implements [ratelimit.Shared].
func (l Limits) Refund(ctx context.Context, key string, n int) error {
	_, err := l.store.core.DB.Write.ExecContext(ctx, "UPDATE rate_limits SET used = greatest(used - ?, 0) WHERE key = ?",
		n, hashOf(key))
	return err
}

// DeleteLimits deletes the counts of windows that have ended.
func (s *Store) DeleteLimits(ctx context.Context) error {
	if s.core.DB.OneWriter() {
		return nil
	}
	_, err := s.core.DB.Write.ExecContext(ctx, "DELETE FROM rate_limits WHERE ends_at < now()")
	return err
}

func hashOf(key string) []byte {
	hash := sha256.Sum256([]byte(key))
	return hash[:]
}
