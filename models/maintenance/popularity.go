package maintenance

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// The popularity of a thing is the sum of the points of users' actions on it. Points are halved
// after every half-life:
//
//	popularity = Σ weight · 2^(−age / 14 days)
//
// over the users and days of the 90 days up to the last day with any action. A user counts once a
// day for a thing, with the action of the highest weight: download 1, collect 2, like 3, make 8.
// The creator of the thing does not count. All ages grow equally, so the order of things does not
// change without new actions. The stored value is log2 of the sum as it would be at a fixed time.
// It is computed from the rows alone, and only after an action. This takes longer the more recent
// actions a thing has, so folding only adds the thing to the table unranked_things; see RankThings.

const popularityWindow = 90 // days

// PopularityEvent is an action of a user on a thing.
type PopularityEvent string

// The actions of users on things.
const (
	Downloaded PopularityEvent = "download"
	Collected  PopularityEvent = "collect"
	Liked      PopularityEvent = "like"
	Made       PopularityEvent = "make"
)

// PopularityDay is the actions of the same weight on one day.
type PopularityDay struct {
	ThingID int64
	Day     string // in UTC
	Weight  int64
	Users   int64
}

// Event returns the kind of the actions.
func (d PopularityDay) Event() PopularityEvent {
	return map[int64]PopularityEvent{1: Downloaded, 2: Collected, 3: Liked, 8: Made}[d.Weight]
}

func (d PopularityDay) date() time.Time {
	at, _ := time.Parse(time.DateOnly, d.Day)
	return at
}

// Points returns the current points of the actions.
func (d PopularityDay) Points() float64 {
	age := models.Now().Sub(d.date()).Hours() / 24
	return float64(d.Weight*d.Users) * math.Exp2(-age/models.PopularityHalfLife)
}

// Popularity returns the actions that make up the popularity of things, the latest day first.
func (s *Store) Popularity(ctx context.Context, thingIDs []int64) (map[int64][]PopularityDay, error) {
	return popularity(ctx, s.core.DB, s.core.DB.Read, thingIDs)
}

// popularity returns the days that count for things, the latest first.
func popularity(ctx context.Context, db *models.DB, in bun.IDB, thingIDs []int64) (map[int64][]PopularityDay, error) {
	since, err := popularSince(ctx, in, thingIDs)
	if err != nil || len(since) == 0 {
		return nil, err
	}
	first := models.Now()
	for _, day := range since {
		if day.Before(first) {
			first = day
		}
	}
	rows, err := actionsSince(ctx, db, in, thingIDs, first)
	if err != nil {
		return nil, err
	}
	var imported []ImportedCounts
	if err := in.NewSelect().Model(&imported).Where("ic.thing_id IN (?)", bun.List(thingIDs)).Scan(ctx); err != nil {
		return nil, err
	}
	for _, c := range imported {
		rows = append(rows, c.Days()...)
	}
	slices.SortStableFunc(rows, func(a, b PopularityDay) int {
		return cmp.Or(strings.Compare(b.Day, a.Day), cmp.Compare(b.Weight, a.Weight))
	})
	days := make(map[int64][]PopularityDay)
	for _, row := range rows {
		if row.Day >= since[row.ThingID].Format(time.DateOnly) {
			days[row.ThingID] = append(days[row.ThingID], row)
		}
	}
	return days, nil
}

// popularSince returns the first day that counts for each thing: popularityWindow days before its
// last action. Things without actions are missing.
func popularSince(ctx context.Context, in bun.IDB, thingIDs []int64) (map[int64]time.Time, error) {
	var latest []struct {
		ID                                         int64
		Imported, Download, Collected, Liked, Made *time.Time
	}
	err := in.NewSelect().Table("things").Column("id").
		ColumnExpr("(SELECT at FROM imported_counts WHERE thing_id = things.id) AS imported").
		ColumnExpr("(SELECT max(created_at) FROM downloads WHERE thing_id = things.id) AS download").
		ColumnExpr("(SELECT max(created_at) FROM collection_things WHERE thing_id = things.id) AS collected").
		ColumnExpr("(SELECT max(created_at) FROM likes WHERE target_type = 'thing' AND target_id = things.id) AS liked").
		ColumnExpr("(SELECT max(published_at) FROM makes WHERE thing_id = things.id) AS made").
		Where("id IN (?)", bun.List(thingIDs)).Scan(ctx, &latest)
	if err != nil {
		return nil, err
	}
	since := make(map[int64]time.Time)
	for _, row := range latest {
		var last time.Time
		for _, at := range []*time.Time{row.Imported, row.Download, row.Collected, row.Liked, row.Made} {
			if at != nil && at.After(last) {
				last = *at
			}
		}
		if !last.IsZero() {
			since[row.ID] = last.UTC().Truncate(24*time.Hour).AddDate(0, 0, -popularityWindow)
		}
	}
	return since, nil
}

// actionsSince returns the numbers of users who did something with things since a day. Each user
// counts once a day for a thing, with the heaviest of their actions.
func actionsSince(ctx context.Context, db *models.DB, in bun.IDB, thingIDs []int64,
	first time.Time) (rows []PopularityDay, err error) {
	people := in.NewSelect().TableExpr("(?) AS e", bun.SafeQuery(`
		SELECT thing_id, user_id, ?2 AS day, 1 AS weight FROM downloads WHERE thing_id IN (?0) AND created_at >= ?1
		UNION ALL SELECT ct.thing_id, c.owner_id, ?3, 2 FROM collection_things AS ct
			JOIN collections AS c ON c.id = ct.collection_id WHERE ct.thing_id IN (?0) AND ct.created_at >= ?1
		UNION ALL SELECT target_id, user_id, ?2, 3 FROM likes
			WHERE target_type = 'thing' AND target_id IN (?0) AND created_at >= ?1
		UNION ALL SELECT thing_id, owner_id, ?4, 8 FROM makes WHERE thing_id IN (?0) AND state = 'published' AND published_at >= ?1`,
		bun.List(thingIDs), first, db.Day("created_at"), db.Day("ct.created_at"), db.Day("published_at"))).
		Join("JOIN things AS t ON t.id = e.thing_id AND t.owner_id <> e.user_id").
		ColumnExpr("e.thing_id, e.user_id, e.day, max(e.weight) AS weight").GroupExpr("e.thing_id, e.user_id, e.day")
	err = in.NewSelect().TableExpr("(?) AS p", people).ColumnExpr("p.thing_id, p.day, p.weight, count(*) AS users").
		GroupExpr("p.thing_id, p.day, p.weight").Scan(ctx, &rows)
	return rows, err
}

// rankBatch is the maximum number of things whose popularity is computed at a time.
const rankBatch = 500

// RankThings recomputes the popularity of up to rankBatch things with new actions, in the order of
// their IDs, and returns their number. Each call continues after the last thing of the previous
// call, and starts again from the lowest ID when no higher one is left. It returns 0 if there are
// no such things.
func (s *Store) RankThings(ctx context.Context) (ranked int, err error) {
	var ids []int64
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		ids = nil // a retry may find nothing
		after := s.rankedTo.Load()
		unranked := tx.NewSelect().Table("unranked_things").Column("thing_id").Order("thing_id").Limit(rankBatch)
		err := unranked.Clone().Where("thing_id > ?", after).Scan(ctx, &ids)
		if err == nil && len(ids) == 0 && after > 0 {
			err = unranked.Scan(ctx, &ids)
		}
		if err != nil || len(ids) == 0 {
			return err
		}
		return rank(ctx, s.core.DB, tx, ids)
	})
	if err != nil {
		return 0, fmt.Errorf("rank things: %w", err)
	}
	if len(ids) > 0 {
		s.rankedTo.Store(ids[len(ids)-1])
	}
	return len(ids), nil
}

// rank stores the popularity of things.
func rank(ctx context.Context, db *models.DB, tx bun.Tx, thingIDs []int64) error {
	slices.Sort(thingIDs) // the order in which all chunks are locked
	for some := range slices.Chunk(slices.Compact(thingIDs), rankBatch) {
		// The rows of things are locked before those of unranked_things, as in noteUnranked, so that two
		// nodes do not deadlock. The latter are deleted before the actions are read, so that later
		// actions add the thing again.
		if err := db.LockRows(ctx, tx, "things", some); err != nil {
			return err
		}
		if _, err := tx.NewDelete().Table("unranked_things").Where("thing_id IN (?)", bun.List(some)).Exec(ctx); err != nil {
			return err
		}
		days, err := popularity(ctx, db, tx, some)
		if err != nil {
			return err
		}
		kept := make(map[int64]int64, len(some))
		for _, id := range some {
			kept[id] = PopularityKept(days[id])
		}
		if err := database.SetEach(ctx, tx, "things", "id", "popularity = v.n", "popularity <> v.n", kept); err != nil {
			return err
		}
	}
	return nil
}

// PopularityKept returns the value that is stored for the actions of some days, the latest first,
// or 0 if there are no actions.
func PopularityKept(days []PopularityDay) int64 {
	if len(days) == 0 {
		return 0
	}
	last, sum := days[0].date(), 0.0
	for _, d := range days { // relative to the last day, so that no power overflows
		sum += float64(d.Weight*d.Users) * math.Exp2(-last.Sub(d.date()).Hours()/24/models.PopularityHalfLife)
	}
	return int64(math.Round(models.PopularityUnit * (math.Log2(sum) + last.Sub(models.PopularityEpoch).
		Hours()/24/models.PopularityHalfLife)))
}

// ImportedCounts holds the likes, downloads and so on that a thing had before its import. The
// popularity counts them as actions on the day of the import.
type ImportedCounts struct {
	bun.BaseModel `bun:"table:imported_counts,alias:ic"`

	ThingID                                     int64 `bun:",pk"`
	At                                          time.Time
	Downloads, Likes, Collects, Makes, Comments int64
}

// Days returns the counts in the form from which the popularity is computed.
func (c ImportedCounts) Days() []PopularityDay {
	var days []PopularityDay
	for _, did := range []struct{ weight, users int64 }{{8, c.Makes}, {3, c.Likes}, {2, c.Collects}, {1, c.Downloads}} {
		if did.users > 0 {
			days = append(days, PopularityDay{ThingID: c.ThingID, Day: c.At.UTC().Format(time.DateOnly), Weight: did.weight,
				Users: did.users})
		}
	}
	return days
}
