package servertest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/meshyard/meshyard/internal/config"
)

// Privately turns anonymous reading off, as --no-anonymous-read does.
func Privately(c *config.Settings) { c.AnonymousRead = false }

// Scrape returns the metrics of a server in the text format.
func Scrape(t *testing.T, s *Server) string {
	t.Helper()
	return string(s.Client("scrape").Get("/metrics").Want(t, http.StatusOK).Bytes)
}

func WithMetrics(c *config.Settings) { c.MetricsToken = "scrape" }

func BehindProxy(t *testing.T) func(*config.Settings) {
	return func(c *config.Settings) {
		if err := c.TrustedProxies.UnmarshalText([]byte("127.0.0.0/8")); err != nil {
			t.Fatal(err)
		}
	}
}

// FakeS3 starts an S3 server with a bucket until the end of the test, and returns the bucket URL
// for the settings.
func FakeS3(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("meshyard"); err != nil {
		t.Fatal(err)
	}
	fake := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(fake.Close)
	return "s3://meshyard?region=us-east-1&use_path_style=true&endpoint=" + url.QueryEscape(fake.URL)
}
