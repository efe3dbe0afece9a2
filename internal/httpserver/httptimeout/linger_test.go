package httptimeout

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestLinger checks that a client which sends a large body before it reads the response gets the
// refusal of the body.
func TestLinger(t *testing.T) {
	for name, closing := range map[string]string{"keep-alive": "", "closing": "Connection: close\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := &http.Server{Handler: Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "refused", http.StatusUnauthorized)
			}), IdleTimeout)}
			defer server.Close()
			go server.Serve(Linger(listener))
			conn, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			// much more than the buffers of both sockets hold
			request := "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n" + closing + "\r\n" +
				strings.Repeat("x", 16<<20)
			if n, err := io.WriteString(conn, request); err != nil {
				t.Fatalf("sent %d bytes: %v", n, err)
			}
			r, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(r.Body); err != nil || r.StatusCode != http.StatusUnauthorized ||
				string(text) != "refused\n" {
				t.Errorf("got %d %q, %v", r.StatusCode, text, err)
			}
		})
	}
}
