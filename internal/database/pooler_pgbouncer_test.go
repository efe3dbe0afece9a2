//go:build pgbouncer

package database

import (
	"fmt"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// TestPoolerModes checks that a PgBouncer in transaction mode is found if the URL does not declare
// it, and that one in session mode needs no declaration, with one connection and with several.
func TestPoolerModes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		mode        string
		connections int
		declared    string
		want        string // in the error; empty: none
	}{
		{"transaction", 1, "", "add pool_mode=transaction"},
		{"transaction", 2, "", "add pool_mode=transaction"},
		{"transaction", 20, "", "add pool_mode=transaction"},
		{"transaction", 20, "&pool_mode=session", "add pool_mode=transaction"},
		{"transaction", 1, "&pool_mode=transaction", ""},
		{"transaction", 20, "&pool_mode=transaction", ""},
		{"session", 1, "", ""},
		{"session", 20, "", ""},
		{"session", 20, "&pool_mode=transaction", ""},
		{"session", 20, "&pool_mode=statement", "pool_mode: must be transaction or session"},
	} {
		t.Run(fmt.Sprint(test.mode, test.connections, test.declared), func(t *testing.T) {
			t.Parallel()
			address, _ := pgtest.Pooled(t, test.mode, test.connections)
			db, err := Open(t.Context(), address+test.declared)
			if err == nil {
				err = db.Close()
			}
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestPooledSettings checks that settings of the database that statements cannot work with are
// reported, with the statement that changes them.
func TestPooledSettings(t *testing.T) {
	t.Parallel()
	for _, setting := range []struct{ name, bad, want string }{
		{"default_transaction_isolation", "serializable", "default_transaction_isolation = 'read committed'"},
		{"bytea_output", "escape", "bytea_output = 'hex'"},
		{"extra_float_digits", "-10", "extra_float_digits = '1'"},
	} {
		t.Run(setting.name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			address, direct := pgtest.Pooled(t, "transaction", 2)
			db, err := Open(ctx, direct)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Write.NewRaw("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ? = ?', current_database()); END $$",
				bun.Safe(setting.name), bun.Safe("''"+setting.bad+"''")).Exec(ctx); err != nil {
				t.Fatal(err)
			}
			pooled, err := Open(ctx, address+"&pool_mode=transaction")
			if err == nil {
				_ = pooled.Close()
			}
			if want := `run ALTER ROLE "postgres" SET ` + setting.want; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}
