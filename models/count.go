package models

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
)

// A count is a column that stores a number of rows. It changes in the transaction that changes the
// rows, so no change is lost or counted twice. On PostgreSQL, changes are appended to count_changes
// and folded into the column later, so that transactions do not wait for the row of a popular
// object. A reader adds the changes that are not folded yet, in the statement that reads the row.
// On SQLite, where only one transaction writes at a time, changes are made in the column directly;
// only triggers append theirs.

// Count names a count by table and column.
type Count struct{ Table, Column string }

// The counts.
var (
	ThingLikes        = Count{"things", "like_count"}
	ThingCollects     = Count{"things", "collect_count"}
	ThingMakes        = Count{"things", "make_count"}         // published ones
	ThingComments     = Count{"things", "comment_count"}      // on the thing, without deleted ones
	ThingRootComments = Count{"things", "root_comment_count"} // the same, without replies
	ThingRemixes      = Count{"things", "remix_count"}        // published ones
	UserThings        = Count{"users", "thing_count"}         // published ones
	// Published ones whose thing is published or was deleted.
	UserMakes        = Count{"users", "make_count"}
	UserLikes        = Count{"users", "like_count"}       // things that the user likes
	UserCollections  = Count{"users", "collection_count"} // public ones
	UserFollowers    = Count{"users", "follower_count"}
	UserFollowing    = Count{"users", "following_count"}
	UserBytes        = Count{"users", "held_bytes"} // of files with bytes; appended by triggers
	MakeLikes        = Count{"makes", "like_count"}
	MakeComments     = Count{"makes", "comment_count"}
	MakeRootComments = Count{"makes", "root_comment_count"}
	CommentReplies   = Count{"comments", "reply_count"}      // direct ones, including deleted ones
	CategoryThings   = Count{"categories", "thing_count"}    // published ones, in this category only
	CategoryFeatured = Count{"categories", "featured_count"} // appended by triggers
	TagThings        = Count{"tags", "thing_count"}          // published ones
	CollectionThings = Count{"collections", "thing_count"}   // published or not
	CollectionLikes  = Count{"collections", "like_count"}
	// Downloads of its files and of those of its makes and comments; folded from new_downloads.
	ThingDownloads = Count{"things", "download_count"}
)

// countChange is a change of a count.
type countChange struct {
	bun.BaseModel `bun:"table:count_changes,alias:cc"`

	ID       int64 `bun:",pk,autoincrement"`
	OfTable  string
	OfColumn string
	ObjectID int64
	Delta    int64
}

func (c Count) By(delta int64, objectIDs ...int64) []countChange {
	changes := make([]countChange, len(objectIDs))
	for i, id := range objectIDs {
		changes[i] = countChange{OfTable: c.Table, OfColumn: c.Column, ObjectID: id, Delta: delta}
	}
	return changes
}

// AddCounts changes counts in the transaction that changes the rows. On PostgreSQL, it appends the
// changes.
func AddCounts(ctx context.Context, tx bun.Tx, changes ...[]countChange) error {
	all := slices.Concat(changes...)
	if len(all) == 0 {
		return nil
	}
	if database.DialectOf(tx).OneWriter() { // no other transaction waits for the rows
		return addToCounts(ctx, tx, all)
	}
	_, err := tx.NewInsert().Model(&all).Exec(ctx)
	return err
}

// Changes are the changes of a row's counts that are not folded yet, as pendingCounts selects them:
// column:delta, separated by commas.
type Changes string

// AnyPending is the condition that a table has changes that are not folded yet. The database
// evaluates it once for all rows of a statement. Because of the ORDER BY, PostgreSQL uses the
// index, even if its statistics are from a moment when most changes were of this table.
const AnyPending = "(SELECT object_id FROM count_changes WHERE of_table = ? ORDER BY of_table, object_id LIMIT 1) IS NOT NULL"

// PendingCounts adds the column changes to a query: the Changes of each row of a table with the
// given alias. Most of the time, no row of the table has any.
func PendingCounts(q *bun.SelectQuery, table, alias string) *bun.SelectQuery {
	return q.ColumnExpr("CASE WHEN "+AnyPending+" THEN "+
		"(SELECT string_agg(cc.of_column || ':' || CAST(cc.delta AS text), ',') FROM count_changes AS cc WHERE cc.of_table = ? AND cc.object_id = ?.id) END AS changes",
		table, table, bun.Ident(alias))
}

// addTo adds the changes to the counts of a row, by column. It ignores unknown columns, because
// nodes of a newer version may have more counts.
func (c Changes) addTo(counts map[string]*int64) error {
	if c == "" {
		return nil
	}
	for change := range strings.SplitSeq(string(c), ",") {
		column, digits, _ := strings.Cut(change, ":")
		delta, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return fmt.Errorf("count change %q: %w", change, err)
		}
		if n := counts[column]; n != nil {
			*n += delta
		}
	}
	return nil
}

// lockOrder lists tables in reverse order of locking. Other tables are locked after them.
var lockOrder = []string{"comments", "makes", "things"}

// FoldBatch is the maximum number of changes that one transaction folds.
const FoldBatch = 5_000

// FoldCounts adds appended changes to their counts, in transactions of at most foldBatch changes.
// It returns the number of folded changes.
func (s *Store) FoldCounts(ctx context.Context) (folded int, err error) {
	for {
		n, err := s.foldSomeCounts(ctx)
		folded += n
		if err != nil || n < FoldBatch {
			return folded, err
		}
	}
}

func (s *Store) foldSomeCounts(ctx context.Context) (n int, err error) {
	err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		n = 0 // a retry may find nothing
		var changes []countChange
		oldest := tx.NewSelect().Model((*countChange)(nil)).Column("cc.id").Order("cc.id").Limit(FoldBatch)
		// If two nodes fold at the same time, the second one waits for the first and finds the rows
		// deleted.
		err := tx.NewDelete().Model((*countChange)(nil)).Where("cc.id ?", s.DB.OneOf(oldest)).
			Returning("of_table, of_column, object_id, delta").Scan(ctx, &changes)
		if err != nil || len(changes) == 0 {
			return IgnoreNoRows(err)
		}
		n = len(changes)
		return addToCounts(ctx, tx, changes)
	})
	if err != nil {
		return 0, fmt.Errorf("fold counts: %w", err)
	}
	return n, nil
}

// addToCounts adds changes to the columns of their counts.
func addToCounts(ctx context.Context, tx bun.Tx, changes []countChange) error {
	sums, rows := make(map[Count]map[int64]int64), make(map[string][]int64) // rows by table
	var touched []int64
	for _, c := range changes {
		of := Count{c.OfTable, c.OfColumn}
		if sums[of] == nil {
			sums[of] = make(map[int64]int64)
		}
		sums[of][c.ObjectID] += c.Delta
		rows[of.Table] = append(rows[of.Table], c.ObjectID)
		if of == ThingLikes || of == ThingCollects || of == ThingMakes {
			touched = append(touched, c.ObjectID)
		}
	}
	// The order is fixed, so that two nodes do not deadlock.
	for _, table := range slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(lockOrder, b), slices.Index(lockOrder, a)), strings.Compare(a, b))
	}) {
		if err := database.DialectOf(tx).LockRows(ctx, tx, table, rows[table]); err != nil {
			return err
		}
	}
	for of, sum := range sums {
		if err := of.add(ctx, tx, sum); err != nil {
			return err
		}
	}
	return NoteUnranked(ctx, tx, touched)
}

// add adds numbers to the counts of objects, which are locked.
func (c Count) add(ctx context.Context, tx bun.Tx, sum map[int64]int64) error {
	return database.DialectOf(tx).AddEach(ctx, tx, c.Table, c.Column, sum)
}

// NoteUnranked adds things with new actions to the table unranked_things. tx must have locked the
// rows of the things, so that they are not ranked at the same time.
func NoteUnranked(ctx context.Context, tx bun.Tx, thingIDs []int64) error {
	slices.Sort(thingIDs)
	for some := range slices.Chunk(slices.Compact(thingIDs), database.MaxSet) {
		var rows []byte
		for _, id := range some {
			rows = append(strconv.AppendInt(append(rows, ",("...), id, 10), ')')
		}
		_, err := tx.NewRaw("INSERT INTO unranked_things (thing_id) VALUES ? ON CONFLICT DO NOTHING", bun.Safe(rows[1:])).
			Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}
