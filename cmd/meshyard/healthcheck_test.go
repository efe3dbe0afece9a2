package main_test

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
)

func TestHealthcheck(t *testing.T) {
	binary := buildBinary(t)
	status, query := http.StatusOK, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" || r.URL.RawQuery != query {
			t.Errorf("the URL is %s, want /readyz and the query %q", r.URL, query)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"status":"insufficient storage"}`))
	}))
	address := strings.TrimPrefix(server.URL, "http://")
	check := func(want int, says string, flags ...string) {
		t.Helper()
		out, err := exec.Command(binary, append([]string{"healthcheck", "--listen", address}, flags...)...).CombinedOutput()
		if exitStatus(err) != want || !strings.Contains(string(out), says) {
			t.Errorf("got status %d: %s; want %d and %q", exitStatus(err), out, want, says)
		}
	}
	check(0, "the server is ready")
	status = http.StatusServiceUnavailable
	check(1, "insufficient storage")
	query = "all"
	check(1, "insufficient storage", "--all")
	server.Close()
	check(1, "refused")
}
