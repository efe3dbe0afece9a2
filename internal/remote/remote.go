// Package remote defines what a URL of things leads to. Package reader reads it.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"regexp"
	"strings"

	"github.com/meshyard/meshyard/internal/layout"
)

// Source is what a URL leads to.
type Source struct {
	Content fs.FS  // has the files that were downloaded
	Page    string // the URL of the page of the thing, or the URL itself
	Found   layout.Result
	// Download downloads a file of Content, unless it was downloaded before.
	Download func(ctx context.Context, path string) error
	// Close deletes what was downloaded.
	Close func() error
}

// Error is an error whose message may be shown to the user who gave the URL.
type Error struct{ message string }

func (e *Error) Error() string { return e.message }

// Failf returns an Error.
func Failf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Reason returns the message for the user who gave the URL. It is empty if the error is one of this
// server.
func Reason(err error) string {
	if known, ok := errors.AsType[*Error](err); ok {
		return known.message
	}
	return ""
}

// maxURL is the maximum length of a URL in bytes.
const maxURL = 2_000

// Normalize checks a URL without any request, and returns it without a fragment.
func Normalize(address string, hasToken bool) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case len(address) > maxURL:
		return "", Failf("must be at most %d bytes (got %d)", maxURL, len(address))
	case err != nil || u.Hostname() == "" || u.Opaque != "" || u.Scheme != "http" && u.Scheme != "https":
		return "", Failf("must be a URL such as https://example.org/thing:1 (got %.60q)", address)
	case u.User != nil:
		return "", Failf("must not have a user name")
	case hasToken && u.Scheme != "https":
		return "", Failf("must begin with https:// if there is a token")
	}
	u.Host, u.Fragment = strings.ToLower(u.Host), ""
	return u.String(), nil
}

// ThingPath matches the path of the page of a thing, or of a thing in the legacy REST API. Its
// groups are the path of the service and the ID.
var ThingPath = regexp.MustCompile(`^(.*?)/things?[:/](\d{1,18})(?:/[^.]*)?$`)

// Identity returns a text that is the same for all URLs of a thing, as far as they show that.
func Identity(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if part := ThingPath.FindStringSubmatch(u.Path); part != nil {
		return u.Host + part[1] + "/thing:" + part[2]
	}
	return address
}
