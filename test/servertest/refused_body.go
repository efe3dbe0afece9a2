package servertest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Hung is the time limit for a server that waits for a body that never arrives.
const Hung = 2 * time.Minute

// Unsent sends the head of a request and only the beginning of its body, and returns the response.
// closed reports whether the server closes the connection afterwards.
func Unsent(t *testing.T, s *Server, method, path, token string, headers,
	beginning string) (response *Response, closed func() bool) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(Hung))
	if token != "" {
		headers += "Authorization: Bearer " + token + "\r\n"
	}
	if _, err := fmt.Fprintf(conn,
		"%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n%s\r\n%s", method, path, headers,
		beginning); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	r, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatalf("%s %s: no response while the body is missing: %v", method, path, err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &Response{Response: r, Bytes: body}, func() bool {
		_, err := reader.ReadByte()
		return err == io.EOF
	}
}
