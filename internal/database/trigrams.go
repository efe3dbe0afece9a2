package database

import (
	"context"
	"database/sql"
	"fmt"
)

// CheckTrigrams returns an error if PostgreSQL has the extension pg_trgm in a schema that is not in
// the search_path, so that statements do not find its operators. It returns nil if the extension
// does not exist.
func CheckTrigrams(ctx context.Context, db interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}) error {
	rows, err := db.QueryContext(ctx, "SELECT n.nspname, current_user FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace "+
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
			"run GRANT USAGE ON SCHEMA %[1]q TO %[2]q and ALTER ROLE %[2]q SET search_path = \"$user\", public, %[1]q", schema, role)
	}
	return rows.Err()
}
