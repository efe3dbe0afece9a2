package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/models/maintenance"
)

const (
	probeTimeout = 30 * time.Second
	retryEvery   = time.Second // while OpenWait waits
)

// OpenWait is Open for a server. It also checks that the bucket is writable. While the database or
// the bucket is unavailable, it logs a warning and tries again every second, until wait has passed.
func OpenWait(ctx context.Context, s config.Settings, logger *slog.Logger, wait time.Duration) (*Server, error) {
	deadline := time.Now().Add(wait)
	for {
		a, err := openProbed(ctx, s, logger)
		left := time.Until(deadline)
		if err == nil || outage.Of(err) == nil || left <= 0 {
			return a, err
		}
		logger.Warn("waiting for the database and the bucket", "error", err.Error(), "left", left.Round(time.Second).String())
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(min(retryEvery, left)):
		}
	}
}

func openProbed(ctx context.Context, s config.Settings, logger *slog.Logger) (*Server, error) {
	a, err := open(ctx, s, logger, &Server{by: "meshyard serve"}, true)
	if err != nil {
		return nil, err
	}
	probe, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := a.bucket.Probe(probe); err != nil {
		return nil, errors.Join(startError("--bucket-url", s.BucketURL, err), a.Close())
	}
	err = a.Store.Maintenance.CheckBucket(probe)
	if err == nil {
		err = a.Store.Maintenance.CheckCollector(probe)
	}
	switch {
	case errors.Is(err, maintenance.ErrNoContents), errors.Is(err, maintenance.ErrOtherCollector):
		logger.Error("check --bucket-url and --database-url: garbage is not collected", "error", err.Error())
	case errors.Is(err, maintenance.ErrUsedBucket):
		err = fmt.Errorf("%w: check --data and --database-url; to begin with an empty catalogue, use an empty bucket", err)
		return nil, errors.Join(startError("--bucket-url", s.BucketURL, err), a.Close())
	case err != nil:
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// CheckURLs checks the URLs of the database and the bucket, without connecting to either. It
// returns a [config.InvalidError] about the first one that is invalid.
func CheckURLs(ctx context.Context, s config.Settings) error {
	if err := database.CheckURL(s.DatabaseURL); err != nil {
		return &config.InvalidError{Err: startError("--database-url", s.DatabaseURL, err)}
	}
	if err := bucket.CheckURL(ctx, s.BucketURL); err != nil {
		return &config.InvalidError{Err: startError("--bucket-url", s.BucketURL, err)}
	}
	return nil
}

// startError wraps err in an error with a message of one line, which contains the setting and its
// value without a password. If special characters make it unclear which part of the value is the
// password, the message does not contain the value.
func startError(setting, value string, err error) error {
	cause := strings.Join(strings.Fields(fmt.Sprint(err)), " ")
	shown, secret := redact(value)
	switch {
	case shown != "":
		setting += " " + shown
	case secret:
		// Drivers would quote the part of the password that follows a slash or an @ as a host or
		// database.
		cause = encodeNote
	default:
		setting += " (" + encodeNote + ")"
	}
	return &oneLine{setting + ": " + cause, err}
}

const encodeNote = "special characters in a user name or password must be percent-encoded, such as @ as %40, / as %2F and # as %23"

// keywordPassword matches the password in libpq's keyword format, and all that follows it.
var keywordPassword = regexp.MustCompile(`(?is)(password\s*=).*`)

// redact returns value without its password, or "" if it cannot find the password for certain. It
// also reports whether errors about value may contain parts of the password.
func redact(value string) (shown string, secret bool) {
	_, rest, ok := strings.Cut(value, "://")
	if !ok && keywordPassword.MatchString(value) {
		return keywordPassword.ReplaceAllString(value, "${1}xxxxx"), false
	}
	if strings.Count(rest, "@") > 1 {
		return "", true // net/url ends the password at the last one, pgx at the first one
	}
	authority, after := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i > 0 {
		authority, after = rest[:i], rest[i:]
	}
	if ok && strings.Contains(after, "@") {
		return "", true // the password may contain a slash, a question mark or a number sign
	}
	u, err := url.Parse(value)
	if err != nil {
		return "", false
	}
	if u.Host != "" && u.User == nil && strings.Contains(authority, "@") {
		return "", false
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", false
	}
	for name := range query {
		if strings.Contains(strings.ToLower(name), "password") { // password or sslpassword
			query.Set(name, "xxxxx")
			u.RawQuery = query.Encode()
		}
	}
	return u.Redacted(), false
}

type oneLine struct {
	text string
	err  error
}

func (e *oneLine) Error() string { return e.text }
func (e *oneLine) Unwrap() error { return e.err }
