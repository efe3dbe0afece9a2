package models

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
)

// Count names a number that hangs on an object and is counted from rows.
type Count int

// What is counted, and by whose id.
const (
	ThingFiles     Count = iota // finalized files, by thing
	ThingMakes                  // published makes, by thing
	ThingComments               // comments on the thing itself, by thing
	ThingDownloads              // tracked downloads, by the thing at the root
	UserThings                  // published things, by owner
	UserMakes                   // published makes, by owner
)

// Counts are all that there are.
var Counts = []Count{ThingFiles, ThingMakes, ThingComments, ThingDownloads, UserThings, UserMakes}

// Count counts for each of ids, in one statement; a count of nothing is missing in the map.
func (s *Store) Count(ctx context.Context, what Count, ids []int64) (map[int64]int64, error) {
	q := s.db.read.NewSelect()
	var by string
	switch what {
	case ThingFiles:
		q, by = q.Model((*File)(nil)).Where("f.target_type = ? AND f.state = ?", OnThing, Finalized), "f.target_id"
	case ThingMakes:
		q, by = q.Model((*Make)(nil)).Where("m.state = ?", Published), "m.thing_id"
	case ThingComments:
		q, by = q.Model((*Comment)(nil)).Where("cm.target_type = ?", OnThing), "cm.target_id"
	case ThingDownloads:
		return s.countDownloads(ctx, ids)
	case UserThings:
		q, by = q.Model((*Thing)(nil)).Where("t.state = ?", Published), "t.owner_id"
	case UserMakes:
		q, by = q.Model((*Make)(nil)).Where("m.state = ?", Published), "m.owner_id"
	default:
		return nil, fmt.Errorf("count %d: unknown", what)
	}
	var rows []struct{ ID, N int64 }
	column := bun.Ident(by)
	err := q.ColumnExpr("? AS id, count(*) AS n", column).Where("? IN (?)", column, bun.List(ids)).GroupExpr("?", column).Scan(ctx, &rows)
	counts := make(map[int64]int64, len(rows))
	for _, row := range rows {
		counts[row.ID] = row.N
	}
	return counts, err
}

// countDownloads adds up what the files of things count, so that it costs what the files are, and not what the log is.
func (s *Store) countDownloads(ctx context.Context, thingIDs []int64) (map[int64]int64, error) {
	var rows []struct{ ID, N int64 }
	err := s.db.read.NewSelect().Model((*File)(nil)).ColumnExpr("f.thing_id AS id").
		ColumnExpr("CAST(sum(f.download_count + (SELECT count(*) FROM downloads AS d WHERE d.file_id = f.id AND NOT d.folded)) AS bigint) AS n").
		Where("f.thing_id IN (?) AND f.state = ?", bun.List(thingIDs), Finalized).Group("f.thing_id").Scan(ctx, &rows)
	counts := make(map[int64]int64, len(rows))
	for _, row := range rows {
		counts[row.ID] = row.N
	}
	return counts, err
}
