package pgdump

import (
	"slices"
	"strings"
	"testing"
)

func TestConnection(t *testing.T) {
	t.Setenv("PGOPTIONS", "")
	for address, want := range map[string]struct {
		target      string
		environment []string
	}{
		"postgres://ada@h:1/d?sslmode=disable": {"postgres://ada@h:1/d?sslmode=disable", nil},
		"postgres://ada:s%40cret@h/d":          {"postgres://ada@h/d", []string{"PGPASSWORD=s@cret"}},
		"postgres:///d?host=%2Frun&user=ada&password=secret&default_query_exec_mode=exec": {
			"postgres:///d?host=%2Frun&user=ada", []string{"PGPASSWORD=secret"}},
		"postgres://h/d?pool_mode=session":          {"postgres://h/d", nil},
		"postgres://h/d?search_path=a,b%20c":        {"postgres://h/d", []string{`PGOPTIONS=-c search_path=a,b\ c`}},
		"postgres://h/d?application_name=a%20b%2Bc": {"postgres://h/d?application_name=a%20b%2Bc", nil},
	} {
		c, err := connectionTo(address)
		if err != nil || c.target != want.target || !slices.Equal(c.environment, want.environment) {
			t.Errorf("%s: got %s %q %v, want %s %q", address, c.target, c.environment, err, want.target, want.environment)
		}
	}
	const pooled = "postgres://ada@h/d?pool_mode=transaction"
	if err := Check(pooled, "pg_dump"); err == nil ||
		!strings.Contains(err.Error(), "does not work through a connection pooler") {
		t.Errorf("%s: got %v, want an error about the pooler", pooled, err)
	}
	for _, address := range []string{
		"postgres://ada:secret@h:x/d", "postgres://h/d?sslpassword=secret%0A", "postgres://h/d?sslpassword=secret%20",
		"postgres://h/d?sslpassword=secret&service=s",
	} {
		if _, err := connectionTo(address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want an error without the password", address, err)
		}
	}
}
