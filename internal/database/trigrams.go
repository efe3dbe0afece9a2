package database

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
)

func (sqliteDialect) CheckTrigrams(context.Context, bun.IDB) error { return nil }

func (postgresDialect) CheckTrigrams(ctx context.Context, db bun.IDB) error {
	rows, err := db.QueryContext(ctx,
		"SELECT n.nspname, current_user FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace "+
			"WHERE e.extname = 'pg_trgm' AND n.nspname <> ALL (current_schemas(true))")
	if err != nil {
		return fmt.Errorf("look up the extension pg_trgm: %w", err)
	}
	defer rows.Close()
	if rows.Next() {
		var schema, role string
		if err := rows.Scan(&schema, &role); err != nil {
			return err
		}
		return fmt.Errorf("the extension pg_trgm is in the schema %[1]q, which is not in the search_path of the role, or which the role may not use: "+
			"run GRANT USAGE ON SCHEMA %[1]q TO %[2]q and ALTER ROLE %[2]q SET search_path = \"$user\", public, %[1]q",
			schema, role)
	}
	return rows.Err()
}
