package main_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// managedDatabase creates a database as a managed PostgreSQL does: it belongs to an unprivileged
// role, but an administrator has prepared it. It returns the URL of the role, and that of the
// administrator.
func managedDatabase(t *testing.T, role string, statements ...string) (address, administrator string) {
	t.Helper()
	ctx, administrator := t.Context(), pgtest.Database(t)
	conn, err := pgx.Connect(ctx, pgtest.Direct(t, administrator))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	u, err := url.Parse(administrator)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range append([]string{"ALTER DATABASE " + u.Path[1:] + " OWNER TO " + role}, statements...) {
		statement = strings.NewReplacer("{database}", u.Path[1:], "{role}", role).Replace(statement)
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	u.User = url.UserPassword(role, "secret")
	return u.String(), administrator
}

// newRole creates an unprivileged role that the test drops at its end.
func newRole(t *testing.T) string {
	t.Helper()
	role, ctx := strings.ToLower("meshyard_test_role_"+rand.Text()[:8]), context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD 'secret'", role)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the databases of the role were dropped
		if _, err := conn.Exec(ctx, "DROP ROLE "+role); err != nil {
			t.Error(err)
		}
		conn.Close(ctx)
	})
	return role
}

// TestBackupOfUnprivilegedRole checks that a backup of a database that an administrator has
// prepared can be restored to another such database.
func TestBackupOfUnprivilegedRole(t *testing.T) {
	t.Parallel()
	built := buildBinary(t)
	const (
		extension  = "CREATE EXTENSION pg_trgm"
		comment    = "COMMENT ON SCHEMA public IS 'of the administrator'"
		extensions = "CREATE SCHEMA extensions; CREATE TABLE extensions.secrets (id bigint); GRANT USAGE ON SCHEMA extensions TO {role}; CREATE EXTENSION pg_trgm SCHEMA extensions"
		path       = `ALTER ROLE {role} IN DATABASE {database} SET search_path = "$user", public, extensions`
		public     = "GRANT CREATE ON SCHEMA public TO {role}"
		own        = "CREATE SCHEMA {role} AUTHORIZATION {role}; REVOKE CREATE ON SCHEMA public FROM PUBLIC"
		strict     = "REVOKE CREATE ON DATABASE {database} FROM {role}; REVOKE CREATE ON SCHEMA public FROM PUBLIC"
	)
	for name, prepared := range map[string]struct{ from, to []string }{
		"nothing prepared":                  {[]string{public}, []string{public}},
		"extension of the administrator":    {[]string{public, extension, comment}, []string{public, extension, comment}},
		"extension in another schema":       {[]string{public, extensions, path}, []string{public, extensions, path}},
		"extension moves to another schema": {[]string{public, extensions, path}, []string{public, extension}},
		"own schema":                        {[]string{own, extension}, []string{own, extension, strict}},
		"own schema that is missing":        {[]string{own}, []string{extension}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			role := newRole(t)
			from, _ := managedDatabase(t, role, prepared.from...)
			source := newCatalogue(t, built, from)
			source.run("user", "create", "ada")
			dir := filepath.Join(t.TempDir(), "backup")
			source.run("backup", dir)

			to, _ := managedDatabase(t, role, prepared.to...)
			restored := newCatalogue(t, built, to)
			restored.run("restore", dir)
			if out := restored.run("user", "list"); !strings.Contains(out, "ada") {
				t.Errorf("got the users %q, want ada", out)
			}
			conn, err := pgx.Connect(t.Context(), to)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())
			var indexes int
			err = conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_indexes WHERE indexname = 'vocabulary_trigrams'").
				Scan(&indexes)
			if err != nil || indexes != 1 {
				t.Errorf("got %d indexes of trigrams, %v, want 1", indexes, err)
			}
		})
	}
}

// TestTrigramsOutsideOfSearchPath checks that the error names an extension that statements do not
// find, at the first start and at a restore, and that nothing is restored.
func TestTrigramsOutsideOfSearchPath(t *testing.T) {
	t.Parallel()
	built, role := buildBinary(t), newRole(t)
	const public, hidden = "GRANT CREATE ON SCHEMA public TO {role}",
		"CREATE SCHEMA extensions; CREATE EXTENSION pg_trgm SCHEMA extensions"
	from, _ := managedDatabase(t, role, public)
	source := newCatalogue(t, built, from)
	source.run("user", "create", "ada")
	dir := filepath.Join(t.TempDir(), "backup")
	source.run("backup", dir)
	to, _ := managedDatabase(t, role, public, hidden)
	c := newCatalogue(t, built, to)
	for _, args := range [][]string{{"restore", dir}, {"user", "create", "bob"}} {
		const want = `the extension pg_trgm is in the schema "extensions", which is not in the search_path`
		if _, stderr, err := c.try(args...); exitStatus(err) != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%q: got %v, %q, want %q", args, err, stderr, want)
		}
	}
}
