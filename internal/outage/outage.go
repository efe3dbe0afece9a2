// Package outage recognizes errors that mean that the database or the file storage is down or full.
// Such an error is not caused by the request: the same request will succeed after the outage. The
// APIs respond with 503 or 507, and background work waits instead of failing.
//
// [Of] classifies an error, and [Log] logs each outage once and not for each request.
package outage

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/meshyard/meshyard/internal/apierror"
)

// The errors that Of returns.
var (
	full = &apierror.Error{
		Code:    apierror.InsufficientStorage,
		Message: "the server has no space left to store data; the operator must make room",
	}
	databaseDown = &apierror.Error{
		Code: apierror.Unavailable, RetryAfter: RetryAfter,
		Message: "the database is unavailable: try again in a few seconds",
	}
	storageDown = &apierror.Error{
		Code: apierror.Unavailable, RetryAfter: RetryAfter,
		Message: "the storage for files is unavailable: try again in a few seconds",
	}
)

// ErrReplaced matches the error of a SQLite database whose file was deleted or replaced while it
// was open. What is written to it is lost when the process ends.
var ErrReplaced = errors.New(
	"the file of the database was deleted or replaced: stop this server before you do that, and start it again")

// RetryAfter is the time after which clients should retry a request that failed because of an
// outage.
const RetryAfter = 5 * time.Second

// Of returns the error to show to clients if err means that the database or the file storage is
// full or unavailable, and nil for any other error.
func Of(err error) *apierror.Error {
	for _, classify := range []func(error) *apierror.Error{ofDisk, ofSQLite, ofPostgres, ofS3} {
		if found := classify(err); found != nil {
			return found
		}
	}
	if errors.Is(err, ErrReplaced) {
		return databaseDown
	}
	// A transaction or a statement exceeded its deadline, because it waited for a lock or for a
	// connection.
	if errors.Is(err, context.DeadlineExceeded) {
		return databaseDown
	}
	return nil
}

func ofDisk(err error) *apierror.Error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return full
	}
	// No file descriptors or no memory left.
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) {
		return storageDown
	}
	var cause error
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		cause = path.Err
	} else if link, ok := errors.AsType[*os.LinkError](err); ok {
		cause = link.Err
	}
	for _, broken := range []error{
		syscall.EIO, syscall.EROFS, syscall.ESTALE, syscall.ENOTCONN, syscall.EACCES, syscall.EPERM,
		syscall.EAGAIN, // from fork(2): no processes left
	} {
		if errors.Is(cause, broken) {
			return storageDown
		}
	}
	return nil
}

func ofSQLite(err error) *apierror.Error {
	var lite *sqlite.Error
	if !errors.As(err, &lite) {
		return nil
	}
	if lite.Code() == sqlite3.SQLITE_IOERR_SHMSIZE { // the WAL index cannot grow
		return full
	}
	switch lite.Code() & 0xff { // the primary result code
	case sqlite3.SQLITE_FULL:
		return full
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_PROTOCOL,
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR:
		return databaseDown
	}
	return nil
}

func ofPostgres(err error) *apierror.Error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case pg.Code == "53100": // disk_full
			return full
		case pg.Code == "25006", // read_only_sql_transaction: the primary became a replica
			strings.HasPrefix(pg.Code, "08"), // connection exceptions
			strings.HasPrefix(pg.Code, "53"), // no connection or memory left
			strings.HasPrefix(pg.Code, "57"), // shutdown, crash or start of the server; canceled by it
			strings.HasPrefix(pg.Code, "58"): // input and output errors
			return databaseDown
		}
		return nil
	}
	var connect *pgconn.ConnectError
	var lost *connectionError
	if errors.As(err, &connect) || errors.As(err, &lost) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, sql.ErrConnDone) {
		return databaseDown
	}
	// The driver found the connection closed before it sent anything.
	if pgconn.SafeToRetry(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return databaseDown
	}
	return nil
}

func ofS3(err error) *apierror.Error {
	var operation *smithy.OperationError
	if !errors.As(err, &operation) || errors.Is(err, context.Canceled) {
		return nil
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		switch api.ErrorCode() {
		case "QuotaExceeded", "XMinioAdminBucketQuotaExceeded", "XMinioStorageFull": // Ceph and MinIO
			return full
		}
	}
	// There is a ResponseError also if there is no response. Its status is then 0.
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		switch status := response.HTTPStatusCode(); {
		case status == 507:
			return full
		case status == 401, status == 403, // the credentials are wrong, or do not permit the call
			status == 429, status >= 500:
			return storageDown
		}
	}
	if _, ok := errors.AsType[*smithyhttp.RequestSendError](err); ok {
		return storageDown
	}
	return nil
}
