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
		"postgres://h/d?search_path=a,b%20c": {"postgres://h/d", []string{`PGOPTIONS=-c search_path=a,b\ c`}},
	} {
		target, environment, err := connection(address)
		if err != nil || target != want.target || !slices.Equal(environment, want.environment) {
			t.Errorf("%s: got %s %q %v, want %s %q", address, target, environment, err, want.target, want.environment)
		}
	}
	if _, _, err := connection("postgres://ada:secret@h:x/d"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("an invalid URL: got %v, want an error without the password", err)
	}
}
