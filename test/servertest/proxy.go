package servertest

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
)

// StartBehind runs a server on an engine behind a reverse proxy, whose URL clients use, until the
// end of the test. front is the handler of the proxy: it calls the given one to pass a request on.
func StartBehind(t testing.TB, engine string, front func(pass http.Handler) http.Handler,
	change ...func(*config.Settings)) *Server {
	t.Helper()
	settings := Settings(t, engine)
	for _, c := range change {
		c(&settings)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := &url.URL{Scheme: "http", Host: listener.Addr().String()}
	proxy := httptest.NewServer(front(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}}))
	settings.BaseURL = proxy.URL
	s := &Server{URL: proxy.URL, t: t, settings: settings,
		log: slog.NewTextHandler(logTo{t}, &slog.HandlerOptions{Level: slog.LevelWarn})}
	s.serve(listener)
	t.Cleanup(func() {
		proxy.CloseClientConnections()
		proxy.Close()
		if err := s.stop(); err != nil {
			t.Errorf("the server ended with: %v", err)
		}
		s.Server, s.conns, s.log, s.stop = nil, nil, nil, nil
	})
	return s
}
