package httptimeout_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshyard/meshyard/internal/httpserver/httptimeout"
)

const idleTimeout = time.Minute

// pipes is a listener whose connections are pipes in memory, so that time can be synctest's.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error { p.close(); return nil }

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// dial connects to a server that answers each request with fn.
func dial(t *testing.T, fn http.HandlerFunc) net.Conn {
	t.Helper()
	conn, accepted := net.Pipe()
	serve(t, accepted, fn)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// serve answers each request on a connection with fn.
func serve(t *testing.T, accepted net.Conn, fn http.HandlerFunc) {
	t.Helper()
	closed := make(chan struct{})
	listener := pipes{make(chan net.Conn), closed, sync.OnceFunc(func() { close(closed) })}
	server := &http.Server{Handler: httptimeout.Handler(fn, idleTimeout)}
	go func() { _ = server.Serve(listener) }()
	listener.conns <- accepted
	t.Cleanup(func() { _ = server.Close() })
}

// TestBodies checks that a body that stalls, or arrives byte by byte, ends with an error, and that
// a steady one may take much longer than idleTimeout.
func TestBodies(t *testing.T) {
	const size = 200 << 10
	for name, c := range map[string]struct {
		part string        // sent repeatedly
		wait time.Duration // between the parts
		ends bool
	}{
		"stalls":      {"x", time.Hour, false},
		"trickles":    {"x", idleTimeout / 50, false},
		"comes slow":  {strings.Repeat("x", 4096), idleTimeout / 20, true},
		"comes whole": {strings.Repeat("x", size), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				read := make(chan error, 1)
				conn := dial(t, func(_ http.ResponseWriter, r *http.Request) {
					n, err := io.Copy(io.Discard, r.Body)
					if read <- err; err != nil && n > 1000 {
						t.Errorf("it ended after %d bytes", n)
					}
				})
				fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
				go func() { _, _ = io.Copy(io.Discard, conn) }()
				gone := make(chan struct{})
				defer close(gone)
				go func() {
					for left := size; left > 0; left -= len(c.part) {
						if _, err := io.WriteString(conn, c.part); err != nil {
							return
						}
						select {
						case <-time.After(c.wait):
						case <-gone:
							return
						}
					}
				}()
				began := time.Now()
				if err := <-read; (err == nil) != c.ends || err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("got %v, want an end: %t", err, c.ends)
				}
				if took := time.Since(began); c.wait > 0 && (took > idleTimeout) != c.ends {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// TestSlowReaders checks that a client that receives nothing is disconnected, and that a slow one
// receives everything, from memory and from a file.
func TestSlowReaders(t *testing.T) {
	content := make([]byte, 8<<20)
	rand.Read(content)
	path := filepath.Join(t.TempDir(), "content")
	if err := os.WriteFile(path, append(content, "more"...), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(w http.ResponseWriter, r *http.Request) error{
		"memory": func(w http.ResponseWriter, _ *http.Request) error {
			_, err := w.Write(content)
			return err
		},
		"file": func(w http.ResponseWriter, r *http.Request) error {
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			n, err := io.CopyN(w, f, int64(len(content)))
			if err == nil && n != int64(len(content)) {
				return fmt.Errorf("copied %d", n)
			}
			return err
		},
	} {
		for _, takes := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%t", name, takes), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					written := make(chan error, 1)
					conn := dial(t, func(w http.ResponseWriter, r *http.Request) {
						w.Header().Set("Content-Length", fmt.Sprint(len(content)))
						written <- write(w, r)
					})
					began := time.Now()
					fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
					if takes {
						answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
						if err != nil {
							t.Fatal(err)
						}
						var got bytes.Buffer
						for err == nil {
							time.Sleep(idleTimeout / 5)
							_, err = io.CopyN(&got, answer.Body, 512<<10)
						}
						if !bytes.Equal(got.Bytes(), content) {
							t.Errorf("got %d bytes, %v", got.Len(), err)
						}
					}
					if err := <-written; (err == nil) != takes {
						t.Errorf("got %v, want it written: %t", err, takes)
					}
					if took := time.Since(began); (took > idleTimeout) != takes {
						t.Errorf("it took %s", took)
					}
				})
			})
		}
	}
}

// TestIdleConnectionsAndSlowHandlers checks that an idle connection between requests and a slow
// handler are not treated as stalled.
func TestIdleConnectionsAndSlowHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := make(chan error, 10)
		conn := dial(t, func(w http.ResponseWriter, r *http.Request) {
			for range 2 { // another read at the end does not wait
				_, _ = io.Copy(io.Discard, r.Body)
			}
			select {
			case <-r.Context().Done():
				left <- context.Cause(r.Context())
			case <-time.After(2 * idleTimeout):
				left <- nil
			}
			if r.Method == http.MethodPost {
				_, _ = io.WriteString(w, "done")
			}
		})
		answers := bufio.NewReader(conn)
		for _, method := range []string{"POST", "GET", "POST", "GET"} {
			fmt.Fprintf(conn, "%s / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n", method)
			if answer, err := http.ReadResponse(answers, nil); err != nil || answer.StatusCode != http.StatusContinue {
				t.Fatalf("%s: %+v, %v, want to be told to go on", method, answer, err)
			}
			fmt.Fprint(conn, "body")
			answer, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("%s: %d %v", method, answer.StatusCode, err)
			}
			if err := <-left; err != nil {
				t.Errorf("%s: the request ended while the client waited: %v", method, err)
			}
			time.Sleep(2 * idleTimeout)
		}
	})
}

// halfOpen is a connection that records when each side of it is closed.
type halfOpen struct {
	net.Conn
	events chan string
}

func (c halfOpen) CloseWrite() error { c.events <- "close write"; return nil }

func (c halfOpen) Close() error { c.events <- "close"; return c.Conn.Close() }

// TestRefusedBodyLingers checks that a connection whose request body is not read stays open for
// reading after the response, so that a client that is still sending receives the response, and
// that it is then closed although the client sends nothing and does not close it.
func TestRefusedBodyLingers(t *testing.T) {
	for name, c := range map[string]struct {
		head string
		read bool // the handler reads the beginning of the body
	}{
		"no Expect":            {"Content-Length: 3000000\r\n", true},
		"Expect, never read":   {"Content-Length: 3000000\r\nExpect: 100-continue\r\n", false},
		"Expect, partly read":  {"Content-Length: 3000000\r\nExpect: 100-continue\r\n", true},
		"Expect and in chunks": {"Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n", true},
		"closing":              {"Content-Length: 3000000\r\nConnection: close\r\n", true},
		"closing, never read":  {"Content-Length: 3000000\r\nConnection: close\r\n", false},
		"closing, short":       {"Content-Length: 2\r\nConnection: close\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, accepted := net.Pipe()
				defer conn.Close()
				events := make(chan string, 10)
				serve(t, halfOpen{accepted, events}, func(w http.ResponseWriter, r *http.Request) {
					if c.read {
						if _, err := io.ReadFull(r.Body, make([]byte, 5)); err != nil {
							t.Error(err)
						}
					}
					http.Error(w, "refused", http.StatusBadRequest)
				})
				answers := bufio.NewReader(conn)
				fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\n%s\r\n", c.head)
				if strings.Contains(c.head, "Expect") && c.read {
					if answer, err := http.ReadResponse(answers, nil); err != nil || answer.StatusCode != http.StatusContinue {
						t.Fatalf("%+v, %v, want to be told to go on", answer, err)
					}
				}
				if c.read {
					fmt.Fprint(conn, "5\r\nbegin\r\n")
				}
				answer, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Fatal(err)
				}
				if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusBadRequest ||
					!answer.Close || string(text) != "refused\n" {
					t.Errorf("got %d %v %q, %v", answer.StatusCode, answer.Header, text, err)
				}
				answered := time.Now()
				if first := <-events; first != "close write" {
					t.Errorf("the first event after the response is %q, want that the server stops writing", first)
				}
				if _, err := answers.ReadByte(); err != io.EOF || time.Since(answered) > idleTimeout {
					t.Errorf("got %v after %s, want the end of the connection", err, time.Since(answered))
				}
			})
		})
	}
}
