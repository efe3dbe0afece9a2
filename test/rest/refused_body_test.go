package rest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// never lists heads and beginnings of bodies that never arrive completely.
var never = map[string]struct{ headers, beginning string }{
	"invited":     {"Content-Length: 100000000\r\nExpect: 100-continue\r\n", ""},
	"short":       {"Content-Length: 10\r\nExpect: 100-continue\r\n", ""},
	"in chunks":   {"Transfer-Encoding: chunked\r\n", "5\r\n--b\r\n\r\n"},
	"with length": {"Content-Length: 100000000\r\n", "--b\r\n"},
}

// TestRefusedWithoutReadingTheBody checks that an error that does not depend on the body is
// returned without waiting for the body: the server sends no 100 Continue, and closes the
// connection.
func TestRefusedWithoutReadingTheBody(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		s.User("ada")
		reads, writes := s.Token("ada", "read"), s.Token("ada", "read", "write")
		for _, c := range []struct {
			path, token string
			want        int
			code        string
		}{
			{"/files/0/uploadFile", "", 401, "Unauthorized"}, {"/graphql", "", 401, `"UNAUTHENTICATED"`},
			{"/files/0/uploadFile", "my_bad", 401, "Unauthorized"}, {"/graphql", "my_bad", 401, `"UNAUTHENTICATED"`},
			{"/files/0/uploadFile", reads, 403, "Forbidden"}, {"/files/0/nowhere", writes, 404, "Not Found"},
			{"/files/1", writes, 405, "Method Not Allowed"},
		} {
			for way, body := range never {
				t.Run(fmt.Sprintf("%s %d %s", c.path, c.want, way), func(t *testing.T) {
					t.Parallel()
					r, closed := servertest.Unsent(t, s, "POST", c.path, c.token, body.headers, body.beginning)
					if r.StatusCode != c.want || !strings.Contains(string(r.Bytes), c.code) || !r.Close || !closed() {
						t.Errorf("with %.6q: %d %v: %s", c.token, r.StatusCode, r.Header, r.Bytes)
					}
				})
			}
		}
	})
}

func TestTooManyWithoutTheBody(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		for i, path := range []string{"/files/0/uploadFile", "/graphql"} {
			for way, body := range never {
				t.Run(path+" "+way, func(t *testing.T) {
					t.Parallel()
					// Each user has a separate limit.
					ada := s.User(fmt.Sprintf("ada-%d-%s", i, strings.ReplaceAll(way, " ", "-")))
					ada.Get("/files/1").Want(t, 404)
					r, closed := servertest.Unsent(t, s, "POST", path, ada.Token, body.headers, body.beginning)
					h := r.Header
					if r.StatusCode != 429 || h.Get("Retry-After") == "" || h.Get("RateLimit-Policy") != `"default";q=1;w=300` ||
						!strings.HasPrefix(h.Get("RateLimit"), `"default";r=0;t=`) || !closed() {
						t.Errorf("%d %v", r.StatusCode, h)
					}
				})
			}
		}
	}, func(c *config.Settings) { c.RateLimit = 1 })
}

// TestRefusalReachesSender checks that a client that sends the body of an upload, after 100
// Continue, receives the refusal: the connection is not reset before the client reads the response.
func TestRefusalReachesSender(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		body := "--b\r\nContent-Disposition: form-data; name=\"upload\"; filename=\"cube.stl\"\r\n\r\n" +
			strings.Repeat("x", 3<<20) + "\r\n--b--\r\n"
		for i := range 10 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(servertest.Hung))
				fmt.Fprintf(conn, "POST /files/0/uploadFile HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", ada.Token, len(body))
				reader := bufio.NewReader(conn)
				if r, err := http.ReadResponse(reader, nil); err != nil || r.StatusCode != http.StatusContinue {
					t.Fatalf("%+v, %v, want to be told to go on", r, err)
				}
				// Like curl, send parts of the body as long as there is no response.
				answered := make(chan error, 1)
				go func() {
					r, err := http.ReadResponse(reader, nil)
					if err == nil && r.StatusCode != http.StatusBadRequest {
						err = fmt.Errorf("status %d", r.StatusCode)
					}
					if err == nil {
						_, err = io.Copy(io.Discard, r.Body)
					}
					answered <- err
				}()
				for rest := body; rest != ""; rest = rest[min(len(rest), 1<<14):] {
					if len(answered) > 0 {
						break
					}
					if _, err := io.WriteString(conn, rest[:min(len(rest), 1<<14)]); err != nil {
						t.Fatalf("cannot send the body, and there is no response yet: %v", err)
					}
				}
				if err := <-answered; err != nil {
					t.Errorf("got %v, want the refusal", err)
				}
			})
		}
	})
}

// TestConnectionIsKept checks that the connection stays open after a request with a short body that
// the handler does not read, whether or not the body has arrived.
func TestConnectionIsKept(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, "sqlite")
	ada := s.User("ada")
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(servertest.Hung))
	reader := bufio.NewReader(conn)
	for i := range 3 {
		fmt.Fprintf(conn, "POST /files/1/finalize HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 4\r\n\r\nnull", ada.Token)
		r, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != 404 || r.Close {
			t.Fatalf("request %d: %d %v, %v", i, r.StatusCode, r.Header, err)
		}
	}
}

// TestRefusedUploadIsNotDrained checks that the server stops reading the body of a rejected upload,
// instead of reading hundreds of MB.
func TestRefusedUploadIsNotDrained(t *testing.T) {
	const size = 512 << 20
	s := servertest.Start(t, "sqlite")
	for _, path := range []string{"/files/0/uploadFile", "/graphql"} {
		for way, head := range map[string]string{"with length": fmt.Sprintf("Content-Length: %d\r\n", size),
			"in chunks": "Transfer-Encoding: chunked\r\n"} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.SetDeadline(time.Now().Add(servertest.Hung))
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n%s\r\n",
				path, head)
			answered := make(chan string, 1)
			go func() {
				line, err := bufio.NewReader(conn).ReadString('\n')
				answered <- fmt.Sprint(line, err)
			}()
			chunk := fmt.Appendf(nil, "10000\r\n%s\r\n", strings.Repeat("x", 1<<16))
			sent := 0
			for ; sent < size; sent += len(chunk) {
				if _, err := conn.Write(chunk); err != nil {
					break
				}
			}
			if line := <-answered; !strings.Contains(line, " 401 ") || sent > 64<<20 {
				t.Errorf("%s, %s: %d bytes were sent, the response is %q", path, way, sent, line)
			}
			t.Logf("%s, %s: %d bytes were sent", path, way, sent)
			conn.Close()
		}
	}
}
