package activity

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/meshyard/meshyard/internal/database"
)

// TestDownloadsShareCommits checks that downloads that arrive during a commit share the next
// commit, that each is recorded once, and that a download that fails, or whose caller disconnects,
// does not affect the others.
func TestDownloadsShareCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var statements [][]int64
		var mu sync.Mutex // guards kept
		kept := make(map[int64]int)
		const deleted = 13
		log := downloadLog{insert: func(ctx context.Context, rows []*Download) error {
			time.Sleep(time.Second)
			if ctx.Err() != nil {
				t.Error("a commit ends with a caller")
			}
			var files []int64
			for _, row := range rows {
				files = append(files, row.FileID)
			}
			statements = append(statements, files)
			if slices.Contains(files, deleted) {
				return &pgconn.PgError{Code: "23503"}
			}
			mu.Lock()
			defer mu.Unlock()
			for _, id := range files {
				kept[id]++
			}
			return nil
		}}
		leaving, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for id := int64(1); id <= 20; id++ {
			wg.Go(func() {
				time.Sleep(time.Duration(id) * time.Millisecond) // all during the first commit
				ctx := t.Context()
				if id == 7 {
					ctx = leaving
				}
				err := log.record(ctx, &Download{FileID: id})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case id == 7 && !errors.Is(err, context.Canceled), id == deleted && !database.IsForeignKey(err), id != 7 &&
					id != deleted && (err != nil || kept[id] != 1):
					t.Errorf("download %d: %v, kept %d times", id, err, kept[id])
				}
			})
		}
		time.Sleep(500 * time.Millisecond)
		leave()
		wg.Wait()
		synctest.Wait()
		// The first one alone, then all others together, which fails because of the deleted one,
		// and then each separately.
		if len(statements) != 2+18 || len(statements[0]) != 1 || len(statements[1]) != 18 || len(kept) != 18 ||
			kept[deleted] != 0 || kept[7] != 0 || log.committing {
			t.Errorf("%d kept by the statements %v", len(kept), statements)
		}
	})
}
