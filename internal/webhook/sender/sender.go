// Package sender sends messages to webhooks. URLs come from users, so it connects only to public
// addresses, unless private ones are allowed, and does not follow redirects.
package sender

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/meshyard/meshyard/internal/publicaddr"
	"github.com/meshyard/meshyard/internal/webhook"
)

const (
	// maxResponse is how much of a response is read. Reading it to its end allows the connection to be
	// reused.
	maxResponse = 16 << 10
	// maxRetryAfter is the longest wait that a receiver can ask for.
	maxRetryAfter = 24 * time.Hour
)

// Sender sends messages. Its methods may be called from any goroutine.
type Sender struct {
	allowPrivate bool
	timeout      time.Duration
	userAgent    string
	client       *http.Client
}

// DefaultTimeout is the timeout of a sender that is given none.
const DefaultTimeout = 10 * time.Second

// New returns a sender. timeout limits each attempt, up to the end of the response; 0 means
// DefaultTimeout. With allowPrivate it also sends to private addresses and over plain HTTP.
func New(timeout time.Duration, allowPrivate bool, version string) *Sender {
	timeout = cmp.Or(timeout, DefaultTimeout)
	dialer := &net.Dialer{Control: publicaddr.Control(func(a netip.Addr) bool { return allowPrivate || publicaddr.Is(a) })}
	return &Sender{allowPrivate: allowPrivate, timeout: timeout, userAgent: "Meshyard/" + version, client: &http.Client{
		Timeout: timeout,
		// It does not use the proxy of the environment, whose address would be checked instead.
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableCompression: true,
			MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Check returns an error if messages cannot be sent to a URL. It does not resolve the host name;
// that happens for each connection.
func (s *Sender) Check(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return fmt.Errorf("must be an absolute URL such as https://example.org/hook (got %.60q)", address)
	case u.Scheme != "https" && (u.Scheme != "http" || !s.allowPrivate):
		return fmt.Errorf("must begin with https:// (got %.60q)", address)
	case u.User != nil || u.Fragment != "":
		return errors.New("must have neither a user name nor a fragment")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !s.allowPrivate && !publicaddr.Is(ip) {
		return fmt.Errorf("%s %w", ip, publicaddr.ErrPrivate)
	}
	return nil
}

// Send makes one attempt to deliver a message. It succeeds if the receiver responds with a status
// of 200 to 299 in time.
func (s *Sender) Send(ctx context.Context, m webhook.Message) webhook.Result {
	at := time.Now()
	signature, err := m.Signature(at)
	if err == nil {
		err = s.Check(m.URL) // the settings may have been less strict when the URL was registered
	}
	if err != nil {
		return webhook.Result{Error: err.Error()}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return webhook.Result{Error: "the URL is not valid"}
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {s.userAgent},
		"Webhook-Id": {m.ID}, "Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)}, "Webhook-Signature": {signature},
	}
	response, err := s.client.Do(r)
	if err != nil {
		return webhook.Result{Error: s.explain(err)}
	}
	defer response.Body.Close()
	// An error is ignored: the status has been received, even if the response does not end.
	_, _ = io.CopyN(io.Discard, response.Body, maxResponse)
	result := webhook.Result{Status: response.StatusCode}
	switch {
	case response.StatusCode >= 200 && response.StatusCode < 300:
		return result
	case response.StatusCode >= 300 && response.StatusCode < 400:
		result.Error = fmt.Sprintf("the receiver redirects (%d), and redirects are not followed", response.StatusCode)
	default:
		result.Error = fmt.Sprintf("the receiver responded with %d", response.StatusCode)
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		result.RetryAfter = min(time.Duration(min(seconds, 1_000_000))*time.Second, maxRetryAfter)
	}
	return result
}

// explain returns the reason why there was no response. It is shown to the owner of the webhook, so
// it contains no addresses of the server's network.
func (s *Sender) explain(err error) string {
	var name *net.DNSError
	var timeout net.Error
	var certificate *tls.CertificateVerificationError
	var operation *net.OpError
	switch {
	case errors.Is(err, publicaddr.ErrPrivate):
		return "the host has no address of the public internet"
	case errors.As(err, &name):
		return "the host name cannot be resolved"
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("the receiver did not respond within %s", s.timeout)
	case errors.As(err, &certificate):
		return "the certificate of the receiver is not valid"
	case errors.As(err, &operation) && operation.Op == "dial":
		return "the receiver cannot be reached"
	}
	return "the connection to the receiver failed"
}
