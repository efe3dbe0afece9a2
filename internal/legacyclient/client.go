// Package legacyclient reads accounts from a service over the legacy REST API, which Meshyard and
// the service that it replaces have in common. It respects the rate limits of the service, and
// retries after outages.
package legacyclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/publicaddr"
)

const (
	maxResponse = 32 << 20 // bytes of JSON
	maxAttempts = 6
	maxWait     = 15 * time.Minute // the longest wait that a service can ask for
	stall       = time.Minute      // how long a response may send no data
	maxPages    = 10_000
)

// Options are settings of a client.
type Options struct {
	Token string
	// Rate is the maximum number of requests per second. 0 means no limit.
	Rate float64
	// AllowPrivate permits connections to private addresses, by the service and by the URLs in its
	// responses. Otherwise the address of each connection is checked when it is dialed.
	AllowPrivate bool
	UserAgent    string
	// Attempts is the maximum number of attempts at a request. 0 means 6.
	Attempts int
	// Waiting is called before a wait of more than five seconds. It may be nil.
	Waiting func(why string, wait time.Duration)
}

// Client sends requests to a service, one after the other. It is not safe for concurrent use.
type Client struct {
	// Origin is the scheme and the host of the service.
	Origin string

	base    *url.URL
	options Options
	http    *http.Client
	next    time.Time // the earliest time of the next request
	sleep   func(context.Context, time.Duration) error
	public  func(netip.Addr) bool
}

// StatusError reports a response with a status other than 200.
type StatusError struct {
	Status  int
	URL     string
	Message string
}

func (e *StatusError) Error() string {
	if e.Message != "" {
		return fmt.Sprintf("%s: %d: %s", e.URL, e.Status, e.Message)
	}
	return fmt.Sprintf("%s: %d %s", e.URL, e.Status, http.StatusText(e.Status))
}

// New returns a client of the service at a base URL. It sends no request.
func New(from string, o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(from, "/"))
	if err != nil {
		return nil, err
	}
	if base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.RawQuery != "" || base.User != nil {
		return nil, fmt.Errorf("%q: must be a URL such as https://old.example.org", from)
	}
	c := &Client{Origin: base.Scheme + "://" + base.Host, base: base, options: o, sleep: sleep, public: publicaddr.Is}
	c.connect()
	return c, nil
}

// connect creates the HTTP client. Its dialer checks the address of every connection, whether a
// request is for the base URL, for a URL that the service returned or for the target of a redirect:
// the host of the service may have public and private addresses at the same time.
func (c *Client) connect() {
	dialer := &net.Dialer{Timeout: 30 * time.Second,
		Control: publicaddr.Control(func(a netip.Addr) bool { return c.options.AllowPrivate || c.public(a) })}
	c.http = &http.Client{
		// It does not use the proxy of the environment, whose address would be checked instead.
		Transport: &http.Transport{DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: 30 * time.Second, ResponseHeaderTimeout: stall},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) == 10 {
				return errors.New("redirected 10 times")
			}
			if !c.ours(r.URL) {
				r.Header.Del("Authorization")
			}
			return nil
		},
	}
}

// ours reports whether a URL belongs to the service. Only such requests carry the token.
func (c *Client) ours(u *url.URL) bool { return u.Scheme == c.base.Scheme && u.Host == c.base.Host }

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// get requests an absolute URL and calls read with the response. It retries if the connection
// fails, if the status is 429 or at least 500, or if read returns an error that is not marked with
// [Final]. It makes at most maxAttempts attempts, with exponential backoff.
func (c *Client) get(ctx context.Context, address string, read func(*http.Response) error) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	if u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("%s: must be an http or https URL", address)
	}
	for attempt := 1; ; attempt++ {
		wait, err := c.try(ctx, u, read)
		var final finalError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &final):
			return final.error
		case errors.Is(err, publicaddr.ErrPrivate) || attempt == cmp.Or(c.options.Attempts, maxAttempts):
			return err
		}
		if wait == 0 {
			wait = time.Second << (attempt - 1)
		}
		if err := c.wait(ctx, err.Error(), min(wait, maxWait)); err != nil {
			return err
		}
	}
}

func (c *Client) wait(ctx context.Context, why string, wait time.Duration) error {
	if c.options.Waiting != nil && wait > 5*time.Second {
		c.options.Waiting(why, wait)
	}
	return c.sleep(ctx, wait)
}

// finalError marks an error that a retry would not change.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// pace waits until the next request may be sent.
func (c *Client) pace(ctx context.Context) error {
	if c.options.Rate <= 0 {
		return ctx.Err()
	}
	now := time.Now()
	wait := c.next.Sub(now)
	c.next = now.Add(max(wait, 0) + time.Duration(float64(time.Second)/c.options.Rate))
	if wait <= 0 {
		return ctx.Err()
	}
	return sleep(ctx, wait)
}

// try sends one request. If it fails, wait is how long the service asks to wait, or 0.
func (c *Client) try(ctx context.Context, u *url.URL, read func(*http.Response) error) (wait time.Duration, err error) {
	if err := c.pace(ctx); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return 0, finalError{err}
	}
	r.Header.Set("User-Agent", c.options.UserAgent)
	if c.options.Token != "" && c.ours(u) {
		r.Header.Set("Authorization", "Bearer "+c.options.Token)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	timer := time.AfterFunc(stall, func() { cancel(fmt.Errorf("%s: no data for %s", u, stall)) })
	defer timer.Stop()
	response.Body = &watched{response.Body, timer}
	switch {
	case response.StatusCode == http.StatusOK:
		if err := read(response); err != nil {
			return 0, errors.Join(err, context.Cause(ctx))
		}
		return 0, c.waitForRateLimit(ctx, response.Header)
	case response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= 500:
		return retryAfter(response.Header), &StatusError{response.StatusCode, u.String(), message(response)}
	}
	return 0, finalError{&StatusError{response.StatusCode, u.String(), message(response)}}
}

// watched restarts the timer that cancels a request each time data arrives.
type watched struct {
	io.ReadCloser
	timer *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.timer.Reset(stall)
	return n, err
}

// message returns the explanation in an error response of the service, or "".
func message(response *http.Response) string {
	var body struct{ Message, Error string }
	text, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if err != nil || json.Unmarshal(text, &body) != nil {
		return ""
	}
	if body.Message != "" {
		return body.Message
	}
	return body.Error
}

// retryAfter parses the header Retry-After, which contains seconds or a time. It returns 0 if the
// header is missing or invalid.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), time.Second)
	}
	return 0
}

// waitForRateLimit waits for the next window of the rate limit if the headers of a response say
// that no request is left in the current one.
func (c *Client) waitForRateLimit(ctx context.Context, h http.Header) error {
	wait := time.Duration(0)
	if left := h.Get("X-RateLimit-Remaining"); left == "0" {
		if at, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			wait = time.Until(time.Unix(at, 0)) // a Unix time; a small number means seconds
			if at < 1_000_000 {
				wait = time.Duration(at) * time.Second
			}
		}
	} else if _, fields, ok := strings.Cut(h.Get("RateLimit"), ";r=0;t="); ok && left == "" {
		if seconds, err := strconv.ParseUint(fields, 10, 31); err == nil {
			wait = time.Duration(seconds) * time.Second
		}
	}
	if wait <= 0 {
		return nil
	}
	return c.wait(ctx, "the rate limit of the service is used up", min(wait, maxWait))
}

// JSON decodes the response to a path of the API, or to an absolute URL, into v.
func (c *Client) JSON(ctx context.Context, path string, v any) error {
	address := path
	if strings.HasPrefix(path, "/") {
		address = c.base.String() + path
	}
	return c.get(ctx, address, func(r *http.Response) error {
		text, err := io.ReadAll(io.LimitReader(r.Body, maxResponse+1))
		if err != nil {
			return err
		}
		if len(text) > maxResponse {
			return finalError{fmt.Errorf("%s: must be at most %d bytes", address, maxResponse)}
		}
		if err := json.Unmarshal(text, v); err != nil {
			return finalError{fmt.Errorf("%s: %w", address, err)}
		}
		return nil
	})
}

// Each calls fn with each item of a list. It reads page by page until a page is empty, because the
// maximum page length of a service may be smaller than the requested one.
func Each[T any](ctx context.Context, c *Client, path string, fn func(T) error) error {
	const perPage = 100
	for page := 1; page <= maxPages; page++ {
		var items []T
		if err := c.JSON(ctx, fmt.Sprintf("%s?page=%d&per_page=%d", path, page, perPage), &items); err != nil {
			return err
		}
		for _, item := range items {
			if err := fn(item); err != nil {
				return err
			}
		}
		if len(items) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%s: must be at most %d pages", path, maxPages)
}

// Bytes gets the content at a URL and calls store with it. If the connection breaks, it calls store
// again with the content from the start. size is the number of bytes, or -1 if it is unknown. An
// error of store that is marked with [Final] is not retried.
func (c *Client) Bytes(ctx context.Context, address string, store func(r io.Reader, size int64) error) error {
	return c.get(ctx, address, func(r *http.Response) error {
		size := r.ContentLength
		if size == math.MaxInt64 {
			size = -1
		}
		return store(r.Body, size)
	})
}

// Response gets the response with status 200 to a GET request for a URL, and calls read with it. It
// is retried like that of Bytes.
func (c *Client) Response(ctx context.Context, address string, read func(*http.Response) error) error {
	return c.get(ctx, address, read)
}

// Final marks an error that a retry would not change.
func Final(err error) error {
	if err == nil {
		return nil
	}
	return finalError{err}
}
