package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func settings() Settings {
	return Settings{Listen: "127.0.0.1:8080", Data: "data", UploadLimit: 1, PendingTTL: time.Hour,
		WebhookTimeout: time.Second}
}

func TestComplete(t *testing.T) {
	s := settings()
	if err := s.Complete(); err != nil {
		t.Fatal(err)
	}
	data, _ := filepath.Abs("data")
	if s.BaseURL != "http://127.0.0.1:8080" || s.DatabaseURL != "sqlite:"+data+"/meshyard.db" ||
		s.BucketURL != "file://"+data+"/bucket" {
		t.Errorf("got %+v", s)
	}
	for listen, base := range map[string]string{":80": "http://localhost:80", "0.0.0.0:80": "http://localhost:80",
		"[::]:80": "http://localhost:80", "[::1]:80": "http://[::1]:80"} {
		s := settings()
		s.Listen = listen
		if err := s.Complete(); err != nil || s.BaseURL != base {
			t.Errorf("--listen %s: base %s, %v; want %s", listen, s.BaseURL, err, base)
		}
	}
	for name, change := range map[string]func(*Settings){
		"--listen":                        func(s *Settings) { s.Listen = ":99999" },
		"--metrics-listen":                func(s *Settings) { s.MetricsListen = "9090" },
		"--base-url":                      func(s *Settings) { s.BaseURL = "models.example.org" },
		`"https://models.example.org/#a"`: func(s *Settings) { s.BaseURL = "https://models.example.org/#a" },
		`--base-url "https://models.example.org/?": must be`: func(
			s *Settings) {
			s.BaseURL = "https://models.example.org/?"
		},
		"--base-url: must not have a user or a password": func(
			s *Settings) {
			s.BaseURL = "https://ada:secret@models.example.org"
		},
		"--database-connections": func(s *Settings) { s.DatabaseConnections = 3 },
		"--upload-limit":         func(s *Settings) { s.UploadLimit = 0 },
		"--pending-ttl":          func(s *Settings) { s.PendingTTL = time.Second },
		"--oidc-issuer":          func(s *Settings) { s.OIDCIssuer, s.OIDCClientID = "http://id.example.org", "meshyard" },
		"--oidc-client-id":       func(s *Settings) { s.OIDCIssuer = "https://id.example.org" },
		"--oidc-email-claim": func(s *Settings) {
			s.OIDCIssuer, s.OIDCClientID, s.OIDCEmailClaim = "https://id.example.org", "meshyard", "upn"
		},
		"--oidc-allowed-domains": func(s *Settings) {
			s.OIDCIssuer, s.OIDCClientID, s.OIDCAllowedDomains = "https://id.example.org", "meshyard", []string{"*.example.org"}
		},
		`--oidc-allowed-domains "": must be a domain`: func(s *Settings) {
			s.OIDCIssuer, s.OIDCClientID, s.OIDCAllowedDomains = "https://id.example.org", "meshyard",
				[]string{"example.org", " "}
		},
		"--oidc-allowed-groups":                 func(s *Settings) { s.OIDCAllowedGroups = []string{"staff"} },
		"--oidc-moderators":                     func(s *Settings) { s.OIDCModerators = []string{"staff"} },
		"--quota-pending":                       func(s *Settings) { s.QuotaPending = -1 },
		"--quota-things":                        func(s *Settings) { s.QuotaThings = -1 },
		"--quota-makes":                         func(s *Settings) { s.QuotaMakes = -1 },
		"--quota-comments":                      func(s *Settings) { s.QuotaComments = -1 },
		"--quota-collections":                   func(s *Settings) { s.QuotaCollections = -1 },
		"--quota-collected":                     func(s *Settings) { s.QuotaCollected = -1 },
		"--preview-memory":                      func(s *Settings) { s.PreviewMemory = 1 << 20 },
		"--preview-workers":                     func(s *Settings) { s.PreviewWorkers = -1 },
		"--cad-converter: must contain {input}": func(s *Settings) { s.CADConverter = "gmsh -o {output.stl}" },
		"--cad-converter: must contain one of {output.stl}": func(
			s *Settings) {
			s.CADConverter = "gmsh {input} -o {output}"
		},
		"--cad-converter: must begin with a program": func(s *Settings) { s.CADConverter = "{input} {output.stl}" },
		"--smtp-url":   func(s *Settings) { s.SMTPURL, s.SMTPFrom = "https://mail.example.org", "a@example.org" },
		"--smtp-from":  func(s *Settings) { s.SMTPURL, s.SMTPFrom = "smtp://mail.example.org", "" },
		"--rate-limit": func(s *Settings) { s.RateLimit = -1 },
		"--data":       func(s *Settings) { s.Data = "" },
	} {
		s := settings()
		change(&s)
		if err := s.Complete(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a wrong %s: %v, want an error that names it", name, err)
		}
	}
}

// TestSettingsWithoutEffect checks that a setting is rejected if it has no effect because another
// one is missing.
func TestSettingsWithoutEffect(t *testing.T) {
	t.Parallel()
	const needsIssuer = ": requires --oidc-issuer"
	for want, change := range map[string]func(*Settings){
		"--smtp-url: requires --base-url, with which the links in mails begin": func(s *Settings) {
			s.SMTPURL,
				s.SMTPFrom = "smtp://mail.example.org", "a@example.org"
		},
		"--smtp-from: requires --smtp-url":            func(s *Settings) { s.SMTPFrom = "a@example.org" },
		"--oidc-role-claim" + needsIssuer:             func(s *Settings) { s.OIDCRoleClaim = "roles" },
		"--oidc-name-claim" + needsIssuer:             func(s *Settings) { s.OIDCNameClaim = "name" },
		"--oidc-allow-unverified-email" + needsIssuer: func(s *Settings) { s.OIDCAllowUnverifiedEmail = true },
		"--oidc-administrators" + needsIssuer:         func(s *Settings) { s.OIDCAdministrators = []string{"staff"} },
		"--oidc-role-claim: requires --oidc-administrators or --oidc-moderators": func(s *Settings) {
			s.OIDCIssuer, s.OIDCClientID, s.OIDCRoleClaim = "https://id.example.org", "meshyard", "roles"
		},
	} {
		s := settings()
		change(&s)
		if err := s.Complete(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestBucketPublicURL checks that the public URL of a bucket is rejected where it has no effect.
func TestBucketPublicURL(t *testing.T) {
	t.Parallel()
	const s3 = "s3://models?region=eu-central-1"
	for name, c := range map[string]struct {
		public, bucket string
		redirect       bool
		want           string
	}{
		"valid":      {"https://files.example.org", s3, true, ""},
		"not a URL":  {"files.example.org", s3, true, "--bucket-public-url: must be a URL such as"},
		"a folder":   {"https://files.example.org", "file:///srv/models", true, "--bucket-public-url: needs an S3 bucket"},
		"no effect":  {"https://files.example.org", s3, false, "--bucket-public-url: has no effect with"},
		"a password": {"https://a:b@files.example.org", s3, true, "--bucket-public-url: must be a URL such as"},
	} {
		s := settings()
		s.BucketPublicURL, s.BucketURL, s.BucketRedirect = c.public, c.bucket, c.redirect
		if err := s.Complete(); c.want == "" && err != nil || c.want != "" &&
			(err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestUnsupportedURLs checks that unsupported URLs of databases and buckets are rejected as wrong
// settings, and that the errors contain no part of them, such as a password.
func TestUnsupportedURLs(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"host=db password=topsecret", "host=db password = topsecret",
		"mysql://meshyard:topsecret@db/m", "/srv/secret.db", "sqlite://secret.db", "sqlite:", "sqlite::memory:",
		"postgres:secret"} {
		s := settings()
		s.DatabaseURL = value
		if err := s.Complete(); err == nil || !strings.HasPrefix(err.Error(), "--database-url: must be sqlite:PATH") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want an error without the value", value, err)
		}
	}
	for _, value := range []string{"/srv/secret", "gs://secret", "models"} {
		s := settings()
		s.BucketURL = value
		if err := s.Complete(); err == nil || !strings.HasPrefix(err.Error(), "--bucket-url: must be file:///DIR") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want an error without the value", value, err)
		}
	}
	for _, value := range []string{"sqlite:m.db", "sqlite:/srv/m.db", "sqlite:///srv/m.db", "postgres://db/m",
		"postgresql:///m?host=/run/postgresql"} {
		s := settings()
		s.DatabaseURL, s.BucketURL = value, "s3://models?region=eu-central-1"
		if err := s.Complete(); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
}

const wrong = -time.Hour

func TestUnits(t *testing.T) {
	for text, want := range map[string]Size{"250MiB": 250 << 20, "5MB": 5e6, "1024": -1, "250": -1, "0": 0, "0B": 0,
		"1024B": 1024, "1 GiB": 1 << 30, "7B": 7, "": -1, "x": -1, "-1": -1, "1.5GiB": -1, "99999999999TiB": -1} {
		var s Size
		if err := s.UnmarshalText([]byte(text)); (err != nil) != (want < 0) || err == nil && s != want {
			t.Errorf("size %q: %d, %v; want %d", text, s, err, want)
		}
	}
	for text, want := range map[string]time.Duration{"2d": 48 * time.Hour, "1d12h": 36 * time.Hour, "0s": 0, "0": 0,
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "-1s": wrong, "-0.5s": wrong, "d": wrong, "": wrong, "90": wrong,
		"1d-1h": wrong, "-1d": wrong, "1.5d": wrong, "1d1d": wrong, "36501d": wrong, "999999h": wrong} {
		if got, err := ParseDuration(text); (err != nil) != (want == wrong) || err == nil && got != want {
			t.Errorf("duration %q: %s, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]time.Duration{"90d": 90 * 24 * time.Hour, "12h": 12 * time.Hour, "0d": 0, "-1d": 0,
		"x": 0, "": 0, "0h": 0, "999999d": 0} {
		var l Lifetime
		if err := l.UnmarshalText([]byte(text)); (err != nil) != (want == 0) || err == nil && time.Duration(l) != want {
			t.Errorf("lifetime %q: %s, %v; want %s", text, time.Duration(l), err, want)
		}
	}
}

func TestColor(t *testing.T) {
	for text, want := range map[string]string{"#1b6ac9": "#1b6ac9", "#FFFFFF": "#ffffff", "#000000": "#000000", "": "",
		"red": "", "#fff": "", "1b6ac9": "", "#1b6ac9;": "", "#1b6acg": "", "#+1-2+3": ""} {
		var c Color
		if err := c.UnmarshalText([]byte(text)); (err == nil) != (want != "") || c.String() != want ||
			c.IsSet() != (want != "") {
			t.Errorf("color %q: %q, %v; want %q", text, c, err, want)
		}
	}
}
