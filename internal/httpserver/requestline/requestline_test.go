package requestline

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestPaths sends request lines one after another on one connection, each after the response to the
// one before, and with bodies in between that look like request lines.
func TestPaths(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Unmark(r)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, "%s %s %s %s", r.URL.Path, r.URL.EscapedPath(), r.URL.RawQuery, body)
	})}
	served := Serve(server, l)
	done := make(chan error, 1)
	go func() { done <- server.Serve(served) }()
	t.Cleanup(func() {
		server.Close()
		<-done
	})
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answers := bufio.NewReader(c)
	const line = "GET /a%zz HTTP/1.1\r\n"
	for _, test := range []struct{ request, want string }{
		{"GET /search/100%/ HTTP/1.1\r\nHost: a\r\n\r\n", "/search/100%/ /search/100%25/  "},
		{"GET /a%20b%? HTTP/1.1\r\nHost: a\r\n\r\n", "/a b% /a%20b%25  "},
		{"GET /%zz%4?q=%zz HTTP/1.1\r\nHost: a\r\n\r\n", "/%zz%4 /%25zz%254 q=%zz "},
		{"POST /%C3%A4%e4 HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n" + line, "/ä\xe4 /%C3%A4%e4  " + line},
		{"POST /50%% HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n" + line + "\r\n0\r\n\r\n",
			"/50%% /50%25%25  " + line},
		{"GET /last HTTP/1.1\r\nHost: a\r\n\r\n", "/last /last  "},
	} {
		if _, err := io.WriteString(c, test.request); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("%q: %v", test.request, err)
		}
		body, err := io.ReadAll(response.Body)
		if got := string(body); err != nil || response.StatusCode != http.StatusOK || got != test.want {
			t.Errorf("%q: %d %q (%v), want %q", test.request, response.StatusCode, got, err, test.want)
		}
	}
}

// TestMarks checks that only the paths of complete request lines are changed, and never the length.
func TestMarks(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"GET /%/ HTTP/1.1\r\n": "GET /\xff/ HTTP/1.1\r\n",
		// The first letter of the method was read before.
		"ET /%/ HTTP/1.0\nX: %":              "ET /\xff/ HTTP/1.0\nX: %",
		"GET /%2 HTTP/1.1\r\nX: GET /% H\n":  "GET /\xff2 HTTP/1.1\r\nX: GET /% H\n",
		"GET /%2F%g0%aF?%=% HTTP/1.1\r\n":    "GET /%2F\xffg0%aF?%=% HTTP/1.1\r\n",
		"GET /%/ HTTP/1.1":                   "",
		"GET /% b HTTP/1.1\r\n":              "",
		"GET /%/ HTTP/2.0\r\n":               "",
		"GET http://a/% HTTP/1.1\r\n":        "",
		"get /% HTTP/1.1\r\n":                "",
		"GET /\xff% HTTP/1.1\r\n":            "",
		"{\"a\": \"/% HTTP/1.1\"}\r\n":       "",
		"\r\nGET /% HTTP/1.1\r\n":            "",
		"\n":                                 "",
		"GET /" + strings.Repeat("a", 5_000): "",
	} {
		if want == "" {
			want = in
		}
		b := []byte(in)
		if markInvalid(b); string(b) != want {
			t.Errorf("%q: %q, want %q", in, b, want)
		}
	}
}
