package legacyclient

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/publicaddr"
)

// service returns a client of a test server. Its waits are recorded in waits instead of being
// carried out.
func service(t *testing.T, h http.HandlerFunc) (c *Client, waits *[]time.Duration) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := New(s.URL, Options{Token: "secret", AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	waits = new([]time.Duration)
	c.sleep = func(ctx context.Context, d time.Duration) error {
		*waits = append(*waits, d.Round(time.Second))
		return ctx.Err()
	}
	return c, waits
}

func TestWaits(t *testing.T) {
	for name, try := range map[string]struct {
		first func(w http.ResponseWriter)
		want  []time.Duration
	}{
		"429 with Retry-After": {func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		}, []time.Duration{7 * time.Second}},
		"503 without": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
			[]time.Duration{time.Second}},
		"a long wait": {func(w http.ResponseWriter) { w.Header().Set("Retry-After", "99999"); w.WriteHeader(429) },
			[]time.Duration{maxWait}},
		"a broken body": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "9")
			_,
				_ = w.Write([]byte(`{"a`))
		}, []time.Duration{time.Second}},
		"nothing is left": {func(w http.ResponseWriter) {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", "40")
			_, _ = w.Write([]byte(`{"name": "ada"}`))
		}, []time.Duration{40 * time.Second}},
		"the newer header": {func(w http.ResponseWriter) {
			w.Header().Set("RateLimit", `"default";r=0;t=30`)
			_, _ = w.Write([]byte(`{"name": "ada"}`))
		}, []time.Duration{30 * time.Second}},
	} {
		requests := 0
		c, waits := service(t, func(w http.ResponseWriter, r *http.Request) {
			if requests++; requests == 1 {
				try.first(w)
				return
			}
			_, _ = w.Write([]byte(`{"name": "ada"}`))
		})
		var got struct{ Name string }
		if err := c.JSON(t.Context(), "/users/me", &got); err != nil || got.Name != "ada" || !slices.Equal(*waits, try.want) {
			t.Errorf("%s: got %+v, %v, and waits of %v; want %v", name, got, err, *waits, try.want)
		}
	}
}

func TestFinalErrors(t *testing.T) {
	requests := 0
	c, waits := service(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"error": "Not Found", "message": "thing 1 does not exist"}`))
	})
	err := c.JSON(t.Context(), "/things/1", new(any))
	var status *StatusError
	if !errors.As(err, &status) || status.Status != 404 || !strings.Contains(err.Error(), "thing 1 does not exist") ||
		requests != 1 || len(*waits) > 0 {
		t.Errorf("404: got %v after %d requests", err, requests)
	}
	c, waits = service(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	if err := c.JSON(t.Context(), "/", new(any)); !errors.As(err, &status) || len(*waits) != maxAttempts-1 {
		t.Errorf("502 forever: got %v after waits of %v", err, *waits)
	}
}

// TestRedirects checks that other hosts do not receive the token, and that a public service cannot
// redirect to a private address.
func TestRedirects(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("only Linux has 127.0.0.2: %v", err)
	}
	var seen []string
	private := &httptest.Server{Listener: listener,
		Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen = append(seen, "token: "+r.Header.Get("Authorization"))
			_, _ = w.Write([]byte("bytes"))
		})}}
	private.Start()
	defer private.Close()
	c, _ := service(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, private.URL, http.StatusFound) })
	read := func(r io.Reader, _ int64) error {
		_, err := io.Copy(io.Discard, r)
		return err
	}
	if err := c.Bytes(t.Context(), c.base.String()+"/files/1/download", read); err != nil ||
		!slices.Equal(seen, []string{"token: "}) {
		t.Errorf("with AllowPrivate, a redirect: got %v, and %q", err, seen)
	}
	c.options.AllowPrivate = false
	c.public = func(a netip.Addr) bool { return a != netip.MustParseAddr("127.0.0.2") }
	c.connect()
	for _, address := range []string{c.base.String() + "/files/1/download", private.URL} {
		if err := c.Bytes(t.Context(), address, read); !errors.Is(err, publicaddr.ErrPrivate) || len(seen) != 1 {
			t.Errorf("%s: got %v, and %q; want that it is refused", address, err, seen)
		}
	}
}

// TestPrivateAddresses checks that a service is dialed at a private address only with AllowPrivate,
// even if its host has a public address, too.
func TestPrivateAddresses(t *testing.T) {
	c, _ := service(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("{}")) })
	port := c.base.Port()
	for _, host := range []string{"127.0.0.1", "localhost"} {
		c.base.Host = net.JoinHostPort(host, port)
		for _, allow := range []bool{false, true} {
			c.options.AllowPrivate = allow
			c.connect()
			if err := c.JSON(t.Context(), "/users/me", new(any)); errors.Is(err, publicaddr.ErrPrivate) == allow {
				t.Errorf("%s, AllowPrivate %v: got %v", host, allow, err)
			}
		}
	}
}

func TestPages(t *testing.T) {
	c, _ := service(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.FormValue("page") {
		case "1":
			_, _ = w.Write([]byte("[" + strings.Repeat("1,", 99) + "1]"))
		case "2":
			_, _ = w.Write([]byte("[2, 3]"))
		case "3":
			_, _ = w.Write([]byte("[]"))
		default:
			t.Errorf("requested %s", r.URL)
		}
	})
	sum := 0
	err := Each(t.Context(), c, "/users/ada/things", func(n int) error {
		sum += n
		return nil
	})
	if err != nil || sum != 105 {
		t.Errorf("got %d, %v; want 105", sum, err)
	}
}
