package outage

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
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
		"no permission":          {&fs.PathError{Op: "openat", Path: "x", Err: syscall.EACCES}, storageDown},
		"failing rename":         {&os.LinkError{Op: "renameat", Old: "x", New: "y", Err: syscall.EIO}, storageDown},
		"too many open files":    {&fs.PathError{Op: "openat", Path: "x", Err: syscall.EMFILE}, storageDown},
		"no pipe":                {os.NewSyscallError("pipe2", syscall.EMFILE), storageDown},
		"too many processes":     {&fs.PathError{Op: "fork/exec", Path: "x", Err: syscall.EAGAIN}, storageDown},
		"S3 access denied":       {answered(403), storageDown},
		"S3 missing object":      {answered(404), nil},
		"S3 failure":             {answered(500), storageDown},
		"S3 full":                {answered(507), full},
		"missing file":           {&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, nil},
		"PostgreSQL full":        {&pgconn.PgError{Code: "53100"}, full},
		"PostgreSQL shutdown":    {&pgconn.PgError{Code: "57P01"}, databaseDown},
		"PostgreSQL starting":    {&pgconn.PgError{Code: "57P03"}, databaseDown},
		"PostgreSQL canceled":    {&pgconn.PgError{Code: "57014"}, databaseDown},
		"PostgreSQL memory":      {&pgconn.PgError{Code: "53200"}, databaseDown},
		"PostgreSQL disk":        {&pgconn.PgError{Code: "58030"}, databaseDown},
		"PostgreSQL read-only":   {&pgconn.PgError{Code: "25006"}, databaseDown},
		"PostgreSQL constraint":  {&pgconn.PgError{Code: "23505"}, nil},
		"SQLite read-only":       {writeReadOnly(t), databaseDown},
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

// writeReadOnly returns the error of SQLite for a change of a database that is read-only.
func writeReadOnly(t *testing.T) error {
	t.Helper()
	name := filepath.Join(t.TempDir(), "db")
	for _, mode := range []string{"rwc", "ro"} {
		db, err := sql.Open("sqlite", "file:"+name+"?mode="+mode)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE things_"+mode+" (id INTEGER)"); mode == "ro" {
			return err
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return nil
}

// answered returns the error of a call to S3 that was answered with a status.
func answered(status int) error {
	response := &smithyhttp.Response{Response: &http.Response{StatusCode: status}}
	return &smithy.OperationError{ServiceID: "S3", OperationName: "PutObject",
		Err: &smithyhttp.ResponseError{Response: response, Err: errors.New("answered")}}
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
