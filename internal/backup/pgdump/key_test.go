package pgdump

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// TestKeyPassword checks that pg_dump gets the password of a client key, but not as an argument,
// which other users could see. A script in place of pg_dump records its arguments and the service
// file, and then runs pg_dump.
func TestKeyPassword(t *testing.T) {
	program, err := exec.LookPath("pg_dump")
	if err != nil {
		t.Skip(err)
	}
	const secret = "a secret=#;'"
	address := pgtest.Database(t)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var snapshot string
	if _, err := conn.Exec(t.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ"); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), "SELECT pg_export_snapshot()").Scan(&snapshot); err != nil {
		t.Fatal(err)
	}
	dir, temporary := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + dir + "/arguments\ncat \"$PGSERVICEFILE\" >" + dir +
		"/service\nexec " + program + ` "$@"` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "pg_dump"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", temporary)
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	if err := Dump(t.Context(), address+separator+"sslpassword=a%20secret%3D%23%3B%27", snapshot, "public",
		filepath.Join(dir, "dump")); err != nil {
		t.Fatal(err)
	}
	arguments, _ := os.ReadFile(filepath.Join(dir, "arguments"))
	if !strings.Contains(string(arguments), "--dbname=") || strings.Contains(string(arguments), "secret") {
		t.Errorf("the arguments are %s, want them without the password", arguments)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "service")); string(got) != "[meshyard]\nsslpassword="+secret+"\n" {
		t.Errorf("the service file is %q, want one with the password", got)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}
