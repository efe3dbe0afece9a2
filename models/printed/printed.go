// Package printed summarizes how the makes of things were printed.
package printed

import (
	"context"

	"github.com/meshyard/meshyard/models"
)

// MaxNames is the number of printers and materials in a summary.
const MaxNames = 10

// goodRating is the lowest rating of a print that succeeded.
const goodRating = 3

// Summary is what the published makes of a thing say about printing it.
type Summary struct {
	ThingID   int64
	Makes     int64 // that say how they were printed
	Rated     int64
	Good      int64 // rated as goodRating or better
	RatingSum int64
	Printers  []Count
	Materials []Count
}

// Count is how many makes state a value.
type Count struct {
	Name  string
	Count int64
}

// SuccessRate returns the share of rated makes that succeeded, from 0 to 1, or nil if none is
// rated.
func (s *Summary) SuccessRate() *float64 {
	if s.Rated == 0 {
		return nil
	}
	return new(float64(s.Good) / float64(s.Rated))
}

// AverageRating returns the average rating, or nil if no make is rated.
func (s *Summary) AverageRating() *float64 {
	if s.Rated == 0 {
		return nil
	}
	return new(float64(s.RatingSum) / float64(s.Rated))
}

// Store has the operations on summaries.
type Store struct{ core *models.Store }

// New adds the summaries to the core.
func New(core *models.Store) *Store { return &Store{core} }

// Summaries returns the summary of each thing. It reads two statements, however many things there
// are. It does not check visibility: the caller must be allowed to see the things.
func (s *Store) Summaries(ctx context.Context, thingIDs []int64) (map[int64]*Summary, error) {
	db := s.core.DB
	all := make(map[int64]*Summary, len(thingIDs))
	for _, id := range thingIDs {
		all[id] = &Summary{ThingID: id}
	}
	condition, list := db.InList(1, thingIDs)
	var sums []Summary
	err := db.Read.NewSelect().TableExpr("makes AS m").
		ColumnExpr("m.thing_id, count(*) AS makes, count(m.print ->> 'rating') AS rated").
		ColumnExpr("coalesce(sum(CAST(m.print ->> 'rating' AS integer)), 0) AS rating_sum").
		ColumnExpr("coalesce(sum(CASE WHEN CAST(m.print ->> 'rating' AS integer) >= ? THEN 1 ELSE 0 END), 0) AS good",
			goodRating).
		Where("m.thing_id ? AND m.state = 'published' AND m.print IS NOT NULL", condition).Group("m.thing_id").
		Conn(db.BindRead(list)).Scan(ctx, &sums)
	if err != nil {
		return nil, err
	}
	for _, sum := range sums {
		*all[sum.ThingID] = sum
	}
	var names []struct {
		ThingID int64
		Of      string
		Count
	}
	// Spellings that differ only in the case of letters are one value.
	err = db.Read.NewRaw("SELECT thing_id, of, min(name) AS name, count(*) AS count FROM ("+
		"SELECT m.thing_id, 'printer' AS of, m.print ->> 'printer' AS name FROM makes AS m WHERE m.thing_id ? AND m.state = 'published' "+
		"UNION ALL SELECT m.thing_id, 'material' AS of, m.print ->> 'material' AS name FROM makes AS m WHERE m.thing_id ? AND m.state = 'published'"+
		") AS n WHERE name IS NOT NULL GROUP BY thing_id, of, lower(name) ORDER BY thing_id, of, count(*) DESC, lower(min(name))", condition, condition).
		Conn(db.BindRead(list)).Scan(ctx, &names)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		to := &all[n.ThingID].Printers
		if n.Of == "material" {
			to = &all[n.ThingID].Materials
		}
		if len(*to) < MaxNames {
			*to = append(*to, n.Count)
		}
	}
	return all, nil
}
