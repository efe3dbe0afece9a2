package jobs

import (
	"database/sql"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"github.com/meshyard/meshyard/internal/database"
)

// engine is what differs between the database engines.
type engine struct {
	driver func(*sql.DB) riverdriver.Driver[*sql.Tx]
	// reindex is the schedule on which River rebuilds its indexes; nil is its default, daily.
	reindex river.PeriodicSchedule
	age     string                       // the seconds since scheduled_at of the oldest job
	later   func(interval string) string // the time after an interval, such as "7 days"
	time    func(time.Time) any          // an argument of a statement
}

var engines = map[database.Engine]*engine{
	database.Postgres: {
		driver: func(db *sql.DB) riverdriver.Driver[*sql.Tx] { return riverdatabasesql.New(db) },
		age:    "EXTRACT(EPOCH FROM now() - min(scheduled_at))",
		later:  func(interval string) string { return "now() + interval '" + interval + "'" },
		time:   func(t time.Time) any { return t },
	},
	database.SQLite: {
		driver:  func(db *sql.DB) riverdriver.Driver[*sql.Tx] { return riversqlite.New(db) },
		reindex: river.NeverSchedule(), // the indexes that River names do not exist
		age:     "(julianday('now') - julianday(min(scheduled_at))) * 86400",
		later:   func(interval string) string { return "datetime('now', '+" + interval + "')" },
		time:    func(t time.Time) any { return t.UTC().Format(time.DateTime) },
	},
}
