package reader

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"

	"github.com/meshyard/meshyard/internal/legacyclient"
	"github.com/meshyard/meshyard/internal/publicaddr"
	"github.com/meshyard/meshyard/internal/remote"
)

// explained returns an error for the user who gave the URL, or err if it is one of this server.
func explained(err error) error {
	if _, ok := errors.AsType[*remote.Error](err); ok || err == nil {
		return err
	}
	if reason := reasonOf(err); reason != "" {
		return remote.Failf("%s", reason)
	}
	return err
}

// reasonOf returns the reason of an error for a user. It contains no addresses of the server's
// network. It is empty if the error is one of this server.
func reasonOf(err error) string {
	var name *net.DNSError
	var timeout net.Error
	var certificate *tls.CertificateVerificationError
	var operation *net.OpError
	status, hasStatus := errors.AsType[*legacyclient.StatusError](err)
	switch {
	case errors.Is(err, publicaddr.ErrPrivate):
		return "the host has no address of the public internet"
	case hasStatus && (status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden):
		return fmt.Sprintf("the other service refuses access (%d): it may require a token", status.Status)
	case hasStatus && status.Status == http.StatusNotFound:
		return "there is nothing at the URL (404)"
	case hasStatus:
		return fmt.Sprintf("the other service responded with %d", status.Status)
	case errors.As(err, &name):
		return "the host name cannot be resolved"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "the other service did not respond in time"
	case errors.As(err, &certificate):
		return "the certificate of the other service is not valid"
	case errors.As(err, &operation) && operation.Op == "dial":
		return "the other service cannot be reached"
	case errors.As(err, &operation):
		return "the connection to the other service failed"
	}
	if _, local := errors.AsType[*fs.PathError](err); local {
		return ""
	}
	return "the response of the other service cannot be read"
}
