package outage

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/meshyard/meshyard/internal/apierror"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want *apierror.Error
	}{
		"none":                   {nil, nil},
		"another error":          {errors.New("disk full"), nil},
		"no space":               {&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, full},
		"disk quota":             {&fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}, full},
		"failing disk":           {&fs.PathError{Op: "read", Path: "x", Err: syscall.EIO}, storageDown},
		"missing file":           {&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, nil},
		"PostgreSQL full":        {&pgconn.PgError{Code: "53100"}, full},
		"PostgreSQL shutdown":    {&pgconn.PgError{Code: "57P01"}, databaseDown},
		"PostgreSQL starting":    {&pgconn.PgError{Code: "57P03"}, databaseDown},
		"PostgreSQL constraint":  {&pgconn.PgError{Code: "23505"}, nil},
		"broken connection":      {driver.ErrBadConn, databaseDown},
		"connection lost in use": {mark(syscall.ECONNRESET), databaseDown},
		"transaction timed out":  {context.DeadlineExceeded, databaseDown},
		"client went away":       {context.Canceled, nil},
	} {
		if got := Of(fmt.Errorf("operation: %w", c.err)); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// TestLogOnce replaces the default logger, so it cannot be parallel.
func TestLogOnce(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	defer slog.SetDefault(before)
	for range 10 {
		Log(t.Context(), databaseDown, errors.New("connection refused"))
	}
	if n := strings.Count(out.String(), "connection refused"); n != 1 {
		t.Errorf("logged %d lines, want 1:\n%s", n, out.String())
	}
}
