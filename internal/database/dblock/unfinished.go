package dblock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"github.com/meshyard/meshyard/internal/filesystem/durable"
)

// Table is the table of the marker on PostgreSQL. It exists only during an operation.
const Table = "meshyard_unfinished"

// Unfinished is the marker of an exclusive operation that is not complete.
type Unfinished struct {
	Source  string // identifies what is restored or imported
	Command string // continues the operation
}

// Error returns the error of other operations on the database.
func (u *Unfinished) Error() error {
	return fmt.Errorf("%q was interrupted: run it again to continue, or delete the database to begin again", u.Command)
}

// Unfinished returns the marker of an interrupted operation, or nil.
func (l *Lock) Unfinished(ctx context.Context) (*Unfinished, error) {
	if l == nil {
		return nil, nil
	}
	u := new(Unfinished)
	if l.conn == nil {
		text, err := os.ReadFile(l.marker())
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err == nil {
			err = json.Unmarshal(text, u)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", l.marker(), err)
		}
		return u, nil
	}
	var exists bool
	err := l.session(ctx, func(conn *pgx.Conn) error {
		err := conn.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", Table).Scan(&exists)
		if err != nil || !exists {
			return err
		}
		err = conn.QueryRow(ctx, "SELECT source, command FROM "+Table).Scan(&u.Source, &u.Command)
		if errors.Is(err, pgx.ErrNoRows) {
			exists, err = false, nil
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for an interrupted operation: %w", err)
	}
	if !exists {
		return nil, nil
	}
	return u, nil
}

func (l *Lock) marker() string { return l.path + ".unfinished" }

// Begin durably stores the marker. The lock must be exclusive.
func (l *Lock) Begin(ctx context.Context, u Unfinished) error {
	if l.conn == nil {
		text, err := json.Marshal(u)
		if err != nil {
			return err
		}
		return durable.Write(l.marker(), l.marker()+".new", func(w io.Writer) error { _, err := w.Write(text); return err })
	}
	return l.session(ctx, func(conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return storeMarker(ctx, tx, u) })
	})
}

func storeMarker(ctx context.Context, tx pgx.Tx, u Unfinished) error {
	_, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS "+Table+" (source TEXT NOT NULL, command TEXT NOT NULL)")
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM "+Table); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO "+Table+" (source, command) VALUES ($1, $2)", u.Source, u.Command)
	return err
}

// Finish removes the marker, once the operation is complete.
func (l *Lock) Finish(ctx context.Context) error {
	if l.conn != nil {
		return l.session(ctx, func(conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "DROP TABLE IF EXISTS "+Table)
			return err
		})
	}
	if err := os.Remove(l.marker()); err != nil {
		return err
	}
	return durable.SyncFolder(filepath.Dir(l.marker()))
}
