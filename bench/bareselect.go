package main

import (
	"context"
	"database/sql"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// selection runs a prepared select and calls each for every row.
type selection func(ctx context.Context, each func(scanner) error, args ...any) error

// scanner reads the columns of a row.
type scanner func(columns ...any) error

// databaseConns is the number of connections to PostgreSQL that the server uses.
func databaseConns() int { return max(16, 4*runtime.NumCPU()) }

// forSQLite replaces the names of functions that have another name in SQLite. The selects are
// written for PostgreSQL.
var forSQLite = strings.NewReplacer("string_agg(", "group_concat(", "chr(", "char(")

// preparer prepares a select with the least overhead that the driver allows.
type preparer func(query string) (selection, error)

// openBare opens the database of a bare handler.
func openBare(ctx context.Context, e engine, address string) (preparer, error) {
	if e == postgres {
		settings, err := pgxpool.ParseConfig(address)
		if err != nil {
			return nil, err
		}
		settings.MaxConns = int32(databaseConns())
		pool, err := pgxpool.NewWithConfig(ctx, settings)
		if err != nil {
			return nil, err
		}
		return func(query string) (selection, error) {
			return func(ctx context.Context, each func(scanner) error, args ...any) error {
				// pgx prepares the query on its first use on each connection.
				rows, err := pool.Query(ctx, query, args...)
				if err != nil {
					return err
				}
				defer rows.Close()
				return forEach(rows, each)
			}, nil
		}, nil
	}
	db, err := sql.Open("sqlite", "file:"+address+"?_pragma=busy_timeout(10000)&_pragma=query_only(1)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(max(4, runtime.NumCPU())) // as many as the server uses
	db.SetMaxIdleConns(max(4, runtime.NumCPU()))
	return func(query string) (selection, error) {
		prepared, err := db.PrepareContext(ctx, forSQLite.Replace(query))
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, each func(scanner) error, args ...any) error {
			rows, err := prepared.QueryContext(ctx, args...)
			if err != nil {
				return err
			}
			defer rows.Close()
			return forEach(rows, each)
		}, nil
	}, nil
}

// forEach calls each for every row of either driver.
func forEach(rows interface {
	Next() bool
	Scan(...any) error
	Err() error
}, each func(scanner) error) error {
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// timeFormat is the format in which the server stores times in SQLite, which has no time type.
const timeFormat = "2006-01-02 15:04:05.999999-07:00"

// moment is a time as a column or an argument, in the representation of the engine.
type moment struct {
	e    engine
	at   time.Time
	text string
}

// column returns the destination for Scan.
func (m *moment) column() any {
	if m.e == sqlite {
		return &m.text
	}
	return &m.at
}

func (m *moment) time() (time.Time, error) {
	if m.e == sqlite {
		return time.Parse(timeFormat, m.text)
	}
	return m.at.UTC(), nil
}

func (m *moment) argument() any {
	if m.e == sqlite {
		return m.at.UTC().Format(timeFormat)
	}
	return m.at
}
