// Package client connects to printers by HTTP.
//
// The URLs come from users, and a printer may be broken or hostile. So a client connects only to
// addresses of the networks that the operator allows, follows no redirects, and limits the time and
// the size of each response.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net"
	"net/http"
	"net/netip"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/printer"
	"github.com/meshyard/meshyard/internal/publicaddr"
)

const (
	maxResponse = 256 << 10 // bytes of JSON
	maxPicture  = 8 << 20   // bytes
	maxError    = 200       // characters of a printer's own message
)

// Network creates clients of printers. Its methods may be called from any goroutine.
type Network struct {
	allowed   []netip.Prefix
	userAgent string
	timeouts  Timeouts
	client    *http.Client
}

// Timeouts limit requests to printers. A zero value means its default.
type Timeouts struct {
	Request time.Duration // of everything but Send; 10 seconds
	Send    time.Duration // of the whole upload; 9 minutes
}

// NewNetwork returns a network of which only the given parts can be reached.
func NewNetwork(allowed []netip.Prefix, version string, timeouts Timeouts) *Network {
	n := &Network{allowed: allowed, userAgent: "Meshyard/" + version, timeouts: Timeouts{
		Request: cmp.Or(timeouts.Request, 10*time.Second), Send: cmp.Or(timeouts.Send, 9*time.Minute),
	}}
	dialer := &net.Dialer{Timeout: n.timeouts.Request, Control: publicaddr.Control(n.Allows)}
	n.client = &http.Client{
		// It does not use the proxy of the environment, whose address would be checked instead.
		// Connections are not reused, because net/http repeats some requests when a reused connection
		// breaks.
		Transport: &http.Transport{
			DialContext: dialer.DialContext, DisableCompression: true, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10,
			TLSHandshakeTimeout: n.timeouts.Request, ResponseHeaderTimeout: min(n.timeouts.Send, 2*time.Minute),
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return n
}

// Allows reports whether printers may have an address.
func (n *Network) Allows(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(n.allowed, func(network netip.Prefix) bool { return network.Contains(a) })
}

// Check returns an error if a printer cannot have a URL. It does not resolve the host name; that
// happens for each connection.
func (n *Network) Check(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("must be an absolute URL such as http://192.168.1.20 (got %.60q)", address)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("must have no user name, query or fragment")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !n.Allows(ip) {
		return fmt.Errorf("%s is not in a network that the operator allows for printers (--printer-networks)", ip)
	}
	return nil
}

// Printer returns a client of a printer.
func (n *Network) Printer(kind printer.Kind, address, key string) (printer.Printer, error) {
	if err := n.Check(address); err != nil { // the settings may have been less strict
		return nil, failed("the URL %s", err)
	}
	c := &client{n, strings.TrimRight(address, "/"), key}
	switch kind {
	case printer.OctoPrint:
		return &octoprint{c}, nil
	case printer.Moonraker:
		return &moonraker{c}, nil
	case printer.PrusaLink:
		return &prusalink{c}, nil
	}
	return nil, failed("the kind %.20q of the printer is not known", kind)
}

func failed(format string, args ...any) error {
	return &printer.Error{Text: fmt.Sprintf(format, args...)}
}

// client sends requests to one printer.
type client struct {
	network *Network
	base    string // the URL, without a slash at its end
	key     string
}

// request is a request to a printer.
type request struct {
	method, path string
	header       http.Header // besides the key
	body         io.Reader
	size         int64
	limit        int64 // of the response; 0: maxResponse
	timeout      time.Duration
}

// response is the response of a printer.
type response struct {
	status int
	body   []byte
}

// do sends a request. A response with any status is no error.
func (c *client) do(ctx context.Context, q request) (*response, error) {
	timeout := cmp.Or(q.timeout, c.network.timeouts.Request)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(limited, q.method, c.base+q.path, q.body)
	if err != nil {
		return nil, failed("the URL of the printer is not valid")
	}
	r.Header = q.header.Clone()
	if r.Header == nil {
		r.Header = make(http.Header)
	}
	r.Header.Set("User-Agent", c.network.userAgent)
	if c.key != "" {
		r.Header.Set("X-Api-Key", c.key)
	}
	r.ContentLength, r.GetBody = q.size, nil
	answer, err := c.network.client.Do(r)
	if err != nil {
		return nil, c.explain(err, timeout)
	}
	defer answer.Body.Close()
	limit := cmp.Or(q.limit, maxResponse)
	body, err := io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = &printer.Error{Text: fmt.Sprintf("the response of the printer is larger than %d bytes", limit), Uncertain: true}
	} else if err != nil {
		err = c.explain(err, timeout)
	}
	return &response{answer.StatusCode, body}, err
}

// explain returns the error for a request without a response. It is shown to the owner of the
// printer, so it contains no addresses of the network.
func (c *client) explain(err error, timeout time.Duration) error {
	var name *net.DNSError
	var late net.Error
	var certificate *tls.CertificateVerificationError
	var operation *net.OpError
	dialed := errors.As(err, &operation) && operation.Op == "dial"
	switch {
	case errors.Is(err, publicaddr.ErrPrivate):
		return failed("the address of the printer is not in a network that the operator allows for printers")
	case errors.As(err, &name):
		return &printer.Error{Text: "the host name of the printer cannot be resolved", Unreachable: true}
	case errors.As(err, &certificate):
		return failed("the certificate of the printer is not valid")
	case dialed:
		return &printer.Error{Text: "the printer cannot be reached", Unreachable: true}
	case errors.As(err, &late) && late.Timeout():
		return &printer.Error{Text: fmt.Sprintf("the printer did not respond within %s", timeout), Uncertain: true,
			Unreachable: true}
	}
	return &printer.Error{Text: "the connection to the printer failed", Uncertain: true, Unreachable: true}
}

// refused returns the error for a status that is not expected, or nil for 200 to 299.
func (r *response) refused() error {
	switch s := r.status; {
	case s >= 200 && s < 300:
		return nil
	case s >= 300 && s < 400:
		return failed("the printer redirects (%d), and redirects are not followed", s)
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return failed("the printer refuses the key (%d)", s)
	default:
		return &printer.Error{Text: fmt.Sprintf("the printer responded with %d", s), Uncertain: s >= 500}
	}
}

// get reads a JSON object from a path into v.
func (c *client) get(ctx context.Context, path string, v any) error {
	r, err := c.do(ctx, request{method: http.MethodGet, path: path})
	if err == nil {
		err = r.refused()
	}
	if err != nil {
		return err
	}
	if json.Unmarshal(r.body, v) != nil {
		return failed("the response of the printer is not what its program documents")
	}
	return nil
}

// send makes a request with a small body and expects a status of 200 to 299.
func (c *client) send(ctx context.Context, method, path, contentType, body string) error {
	q := request{method: method, path: path}
	if body != "" {
		q.header, q.body, q.size = http.Header{"Content-Type": {contentType}}, strings.NewReader(body), int64(len(body))
	}
	r, err := c.do(ctx, q)
	if err != nil {
		return err
	}
	return r.refused()
}

// picture fetches a picture from a path.
func (c *client) picture(ctx context.Context, path string) ([]byte, error) {
	r, err := c.do(ctx, request{method: http.MethodGet, path: path, limit: maxPicture})
	switch {
	case err != nil:
		return nil, err
	case r.status == http.StatusNotFound || r.status == http.StatusNoContent || len(r.body) == 0:
		return nil, printer.ErrNoCamera
	}
	return r.body, r.refused()
}

// upload sends a form with fields and a file, with its length, which OctoPrint requires.
func (c *client) upload(ctx context.Context, path string, fields [][2]string, f printer.File) (*response, error) {
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	for _, field := range fields {
		if err := form.WriteField(field[0], field[1]); err != nil {
			return nil, err
		}
	}
	_, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="` + f.Name + `"`},
		"Content-Type":        {"application/octet-stream"},
	})
	if err != nil {
		return nil, err
	}
	tail := "\r\n--" + form.Boundary() + "--\r\n"
	size := int64(head.Len()) + f.Size + int64(len(tail))
	r, err := c.do(ctx, request{
		method: http.MethodPost, path: path, header: http.Header{"Content-Type": {form.FormDataContentType()}},
		body: io.MultiReader(&head, f.Content, strings.NewReader(tail)), size: size, timeout: c.network.timeouts.Send,
	})
	if err == nil {
		err = r.refused()
	}
	// An error in the body of a success is ignored: the printer has the file.
	if r != nil && r.refused() == nil {
		return r, nil
	}
	return nil, err
}

// cameraPath returns the path of a camera URL that a printer states, relative to the URL of the
// printer. It is empty if the camera is on another host, which is not requested.
func (c *client) cameraPath(camera string) string {
	base, err := url.Parse(c.base + "/")
	if err != nil || camera == "" {
		return ""
	}
	u, err := base.Parse(camera)
	if err != nil || u.Fragment != "" {
		return ""
	}
	// OctoPrint states the URL by which it reaches its own host, or one relative to its page.
	local := u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" || u.Hostname() == "::1"
	// The system images of OctoPrint serve mjpg-streamer below /webcam/.
	if local && u.Query().Get("action") == "snapshot" {
		return "/webcam/?action=snapshot"
	}
	if u.Host != base.Host || u.Scheme != base.Scheme {
		return ""
	}
	return strings.TrimPrefix(u.RequestURI(), strings.TrimRight(base.Path, "/"))
}

// part returns a share of a whole within its limits: printers also report NaN and more than 100 %.
func part(n float64) float64 {
	if math.IsNaN(n) {
		return 0
	}
	return max(0, min(1, n))
}

// seconds returns a duration that a printer states, at most a year.
func seconds(n float64) time.Duration {
	const year = 365 * 24 * 3600
	if !(n > 0) {
		return 0
	}
	return time.Duration(min(n, year)) * time.Second
}

// short returns a text of a printer that can be shown: one line of limited length.
func short(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")), " ")
	if runes := []rune(text); len(runes) > maxError {
		text = string(runes[:maxError])
	}
	return text
}
