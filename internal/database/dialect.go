package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strconv"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"
)

// Engine is the name of the database system that a DB uses.
type Engine string

// The two engines. Only tests compare an Engine with them. Other code runs the same on both, asks
// the [Dialect], or is an implementation of it.
const (
	SQLite   Engine = "sqlite"
	Postgres Engine = "postgres"
)

// Dialect is all that differs between the engines. Each has one implementation. Methods named after
// a capability, which return a bool, are for code that makes sense only with the capability, or
// that is faster with it.
type Dialect interface {
	// Engine returns the name of the engine.
	Engine() Engine

	// The first methods lock what a transaction reads. SQLite has no such locks and does not need
	// them: only one transaction writes at a time, and it has the write lock from its start. So on
	// SQLite they do nothing.

	// ForUpdate locks the rows of q until the transaction ends.
	ForUpdate(q *bun.SelectQuery) *bun.SelectQuery
	// ForUpdateSkipLocked is ForUpdate without the rows that other transactions have locked.
	ForUpdateSkipLocked(q *bun.SelectQuery) *bun.SelectQuery
	// ForShare locks the rows of q so that they cannot be deleted until the transaction ends. Their
	// keys cannot be changed either, but other columns can.
	ForShare(q *bun.SelectQuery) *bun.SelectQuery
	// LockRows locks rows against changes, in the order of their IDs. Transactions that only insert
	// references to the rows do not wait.
	LockRows(ctx context.Context, tx bun.IDB, table string, ids []int64) error
	// LockTable locks a table in a mode of PostgreSQL until tx ends.
	LockTable(ctx context.Context, tx bun.IDB, table, mode bun.Safe) error
	// AdvisoryLock waits until other transactions that have called it with the same key end.
	AdvisoryLock(ctx context.Context, tx bun.IDB, key int64) error
	// OneWriter reports whether only one transaction writes at a time.
	OneWriter() bool

	// Parts of the texts of statements.

	// OneOf returns the condition that a column is one of the values that q selects.
	OneOf(q *bun.SelectQuery) schema.QueryAppender
	// InList returns the condition that a column is one of the given IDs, and the argument that
	// contains them. It must be argument number n of its statement, counted from 1.
	InList(n int, ids []int64) (condition bun.Safe, list any)
	// Day returns the day of a time as a text, YYYY-MM-DD.
	Day(at bun.Safe) bun.Safe
	// JSONFunctions returns the functions that build a JSON array of rows and a JSON object.
	JSONFunctions() (array, object bun.Safe)
	// Bytewise returns the clause COLLATE that compares texts byte by byte.
	Bytewise() bun.Safe

	// The sequences that assign the IDs of tables.

	// TakeIDs takes n IDs from the sequence of a table. No row has or had them.
	TakeIDs(ctx context.Context, tx bun.IDB, table string, n int) (ids []int64, err error)
	// LastID returns the last ID that the sequence of a table has assigned, or 0.
	LastID(ctx context.Context, tx bun.IDB, table string) (last int64, err error)
	// SetLastID sets the sequence of a table, so that the next row gets an ID greater than last.
	SetLastID(ctx context.Context, tx bun.IDB, table string, last int64) error
	// ReserveIDs advances the sequence of a table past last, unless it is past it already.
	ReserveIDs(ctx context.Context, tx bun.IDB, table string, last int64) error

	// Settings of a transaction, and statements that have no common form.

	// CommitAsync makes tx commit without waiting for the disk. A crash of PostgreSQL may lose the
	// transaction until a later one has waited. On SQLite it does nothing.
	CommitAsync(ctx context.Context, tx bun.IDB) error
	// EndTimeouts removes the timeout for statements from tx, which the operator may have set for the
	// role or the database. SQLite has none.
	EndTimeouts(ctx context.Context, tx bun.IDB) error
	// AddEach adds numbers to a column of rows, by ID. The caller has locked the rows.
	AddEach(ctx context.Context, tx bun.IDB, table, column string, sums map[int64]int64) error
	// HasTable reports whether a table exists.
	HasTable(ctx context.Context, db bun.IDB, table string) (bool, error)
	// SchemaOf returns the schema that contains a table. It is empty on SQLite.
	SchemaOf(ctx context.Context, db bun.IDB, table string) (string, error)
	// CheckOwner returns an error if a SQLite database has tables, but not the table own: its file
	// belongs to another program. A database of PostgreSQL may have tables of others, such as those of
	// extensions.
	CheckOwner(ctx context.Context, db bun.IDB, own string) error

	// CheckTrigrams returns an error if PostgreSQL has the extension pg_trgm in a schema that is
	// not in the search_path, so that statements do not find its operators. It returns nil if the
	// extension does not exist. SQLite needs no extension.
	CheckTrigrams(ctx context.Context, db bun.IDB) error

	// Capabilities, which only one of the engines has.

	// HasLateral reports whether a join can be LATERAL.
	HasLateral() bool
	// KeepsJoinOrder reports whether the tables of CROSS JOIN are joined in the order of the text.
	KeepsJoinOrder() bool
	// ChangesInWith reports whether the queries of WITH can change rows.
	ChangesInWith() bool
	// PlansByPages reports whether the plan of a statement depends on how many pages a table has.
	PlansByPages() bool
	// IndexesConcurrently reports whether an index can be created while other transactions write.
	IndexesConcurrently() bool
	// HasSessions reports whether the statements of a connection run in one session, so that SET
	// has an effect on later ones. Behind a connection pooler in transaction mode, SET would
	// instead have an effect on other clients.
	HasSessions() bool
	// IsDumped reports whether backups are written by a program of the engine, pg_dump. The others are
	// a copy of the database file.
	IsDumped() bool

	// Differences that the rest of this package hides.

	open(db *DB, address string, observe observer) error
	// checkServer returns an error if statements would fail, or lose texts, with the settings of the
	// database server, or because of what is between it and this program.
	checkServer(ctx context.Context, db *DB) error
	limitConnections(db *DB, n int)
	pools(db *DB) map[string]*sql.DB
	system() string // in traces
	isFile() bool   // the database is a file of this machine
	checkPrimary(ctx context.Context, db *DB, table string) error

	snapshot() *sql.TxOptions // of a read-only transaction that sees one state
	export(ctx context.Context, db *DB, file string, fn func(Exported) error) error
	analyze(ctx context.Context, db *DB, t Tables) error
	diagnose(ctx context.Context, db *DB, t Tables) ([]string, error)
	refresh(ctx context.Context, db *DB, t Tables) error

	maxTexts() int
	inList(list schema.QueryAppender) schema.QueryAppender // the condition for an argument with IDs
	argument(arg any) any                                  // an argument of a prepared statement
	bind(args []any) []any                                 // arguments for database/sql
	// driverArgs returns the arguments of a query in the form that the driver expects. With keep, the
	// query stays prepared.
	driverArgs(keep bool, args []any) ([]driver.NamedValue, error)
	// scanTime returns a scanner of times that sets them in UTC.
	scanTime(scan schema.ScannerFunc) schema.ScannerFunc
	// selectsRows reports whether a statement selects the rows of lists, of one parent or of several,
	// as it goes through each list, instead of reading their IDs first.
	selectsRows(several bool) bool
	// eachParent returns the text of a statement that runs a query for each ID in list, an argument.
	// The query refers to the ID as parents.value, and selects it as parent, and the given columns.
	eachParent(list, text string, columns []string) string
	bulkTable(db *DB, name, columns string) bulkTable
}

// sqlitePrefix is the beginning of the URL of a SQLite database. Its path follows.
const sqlitePrefix = "sqlite:"

// File returns the path of a SQLite database from its URL, and false for PostgreSQL.
func File(address string) (path string, ok bool) { return strings.CutPrefix(address, sqlitePrefix) }

// DialectOfURL returns the dialect of the database at address. It does not check the address.
func DialectOfURL(address string) Dialect {
	if _, ok := File(address); ok {
		return sqliteDialect{}
	}
	return postgresDialect{pooled: isPooledURL(address)}
}

// DialectOf returns the dialect of the database of a connection or a transaction.
func DialectOf(tx bun.IDB) Dialect {
	if tx.Dialect().Name() == dialect.SQLite {
		return sqliteDialect{}
	}
	_, pooled := tx.Dialect().(pooledDialect)
	return postgresDialect{pooled: pooled}
}

// placeholder returns the placeholder for argument number n of a statement, counted from 1.
func placeholder(n int) bun.Safe { return bun.Safe("$" + strconv.Itoa(n)) }
