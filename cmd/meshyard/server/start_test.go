package server

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// TestStartErrorHidesPasswords checks that the error about a database or bucket that cannot be
// opened contains no part of a password, and that it names the setting.
func TestStartErrorHidesPasswords(t *testing.T) {
	t.Parallel()
	const encode = "must be percent-encoded"
	for value, want := range map[string]string{
		"postgres://meshyard:topsecret@127.0.0.1:1/m":            "--database-url postgres://meshyard:xxxxx@127.0.0.1:1/m: ",
		"postgres://meshyard:topsecret/word@127.0.0.1:1/m":       encode,
		"postgres://meshyard:top@secret/word@127.0.0.1:1/m":      encode,
		"postgres://meshyard:top@secret@127.0.0.1:1/m":           encode,
		"postgres://meshyard:top@12?secret@127.0.0.1:1/m":        encode,
		"postgres://meshyard:12/topsecret@127.0.0.1:1/m":         encode,
		"postgres://meshyard:topsecret#word@127.0.0.1:1/m":       encode,
		"postgres://meshyard:12#topsecret@127.0.0.1:1/m":         encode,
		"postgres://meshyard:12/a?topsecret@127.0.0.1:1/m":       encode,
		"postgres://meshyard:12?a=topsecret@127.0.0.1:1/m":       encode,
		"postgres://meshyard:12?topsecret=1@127.0.0.1:1/m":       encode,
		"postgres://meshyard:%zztopsecret@127.0.0.1:1/m":         encode,
		"postgres://127.0.0.1:1/m?password=topsecret&user=a@b":   encode,
		"postgres://127.0.0.1:1/m?password=topsecret&user=a%40b": "--database-url postgres://127.0.0.1:1/m?password=xxxxx&user=a%40b: ",
		"postgres://127.0.0.1:1/m?sslpassw%6Frd=topsecret":       "--database-url postgres://127.0.0.1:1/m?sslpassword=xxxxx: ",
		"postgres://127.0.0.1:1/m?password=topsecret;a=%zz":      encode,
		"host=127.0.0.1 password='topsecret' user=a":             "--database-url host=127.0.0.1 password=xxxxx: ",
		"sqlite:/nowhere/a@b/m.db":                               "--database-url sqlite:/nowhere/a@b/m.db: ",
	} {
		_, err := models.OpenDB(t.Context(), value)
		if err == nil {
			t.Errorf("%s: opened", value)
			continue
		}
		got := startError("--database-url", value, err).Error()
		if !strings.HasPrefix(got, "--database-url") || !strings.Contains(got, want) || strings.Contains(got, "secret") ||
			strings.Contains(got, "word@") {
			t.Errorf("%s: got %q, want an error that contains %q and no part of the password", value, got, want)
		}
	}
	for _, value := range []string{"s3://key:topsecret/word@models?region=x", "s3://key:%zztopsecret@models",
		"file://%zztopsecret"} {
		_, err := bucket.Open(t.Context(), value)
		if got := startError("--bucket-url", value, err).Error(); err == nil || strings.Contains(got, "secret") ||
			!strings.HasPrefix(got, "--bucket-url") || !strings.Contains(got, "percent-encoded") {
			t.Errorf("%s: got %q, want an error without the value", value, got)
		}
	}
}
