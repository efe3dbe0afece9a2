// Package config holds what an operator sets: one struct gives the flags, the environment and the help.
package config

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/clientip"
)

// Settings of every command. Each is a flag and a variable MESHYARD_…; the flag wins.
type Settings struct {
	Listen         string        `help:"Address to listen on, host:port. Default: ${default}." default:"127.0.0.1:8080" env:"MESHYARD_LISTEN" placeholder:"HOST:PORT"`
	BaseURL        string        `help:"Address under which clients reach the server; answers hold addresses below it. Default: http:// and the listening address." env:"MESHYARD_BASE_URL" placeholder:"URL"`
	Data           string        `help:"Folder for the database and the bucket where these have no address of their own. Default: ${default}." default:"./data" env:"MESHYARD_DATA" placeholder:"DIR"`
	DatabaseURL    string        `help:"Database: sqlite:PATH or postgres://…. Default: sqlite:DATA/meshyard.db." env:"MESHYARD_DATABASE_URL" placeholder:"URL"`
	BucketURL      string        `help:"Bucket for the files: file:///DIR or s3://BUCKET?region=…. Default: DATA/bucket." env:"MESHYARD_BUCKET_URL" placeholder:"URL"`
	UploadLimit    Size          `help:"Largest file that is taken. Pictures are limited to 5 MB besides. Default: ${default}." default:"250MiB" env:"MESHYARD_UPLOAD_LIMIT" placeholder:"SIZE"`
	PendingTTL     time.Duration `help:"How long an upload waits to be finalized before it is removed. Default: ${default}." default:"24h" env:"MESHYARD_PENDING_TTL" placeholder:"DURATION"`
	RateLimit      int           `help:"Requests to the API that one token, or one address without a token, may make in 5 minutes; 0 is no limit. Default: ${default}." default:"300" env:"MESHYARD_RATE_LIMIT" placeholder:"N"`
	PreviewWorkers int           `help:"How many previews this server makes at once, each on one processor and in some hundred MiB; 0: it leaves them to others. Default: ${default}." default:"1" env:"MESHYARD_PREVIEW_WORKERS" placeholder:"N"`
	Sunset         Day           `help:"Day on which deprecated operations end, 2027-06-30: their answers announce it. Default: none is announced." env:"MESHYARD_SUNSET" placeholder:"DATE"`
	Hardened       bool          `help:"Run registered GraphQL documents only, and close what helps explorers: GraphiQL, introspection, the schema and GraphQL by GET." env:"MESHYARD_HARDENED"`
	Documents      string        `help:"Folder of .graphql files, each one document, which are registered: clients may ask for them by their SHA-256, and --hardened runs them. Default: the server's own alone." env:"MESHYARD_DOCUMENTS" placeholder:"DIR"`

	QuotaBytes   Size `help:"Bytes of files that one user may store, pending ones among them; 0 is no limit. The staff has no quotas. Default: ${default}." default:"0" env:"MESHYARD_QUOTA_BYTES" placeholder:"SIZE"`
	QuotaPending int  `help:"Uploads of one user that may be pending at a time; 0 is no limit. Default: ${default}." default:"1000" env:"MESHYARD_QUOTA_PENDING" placeholder:"N"`
	QuotaThings  int  `help:"Things that one user may make in 24 hours; 0 is no limit. Default: ${default}." default:"1000" env:"MESHYARD_QUOTA_THINGS" placeholder:"N"`

	TrustedProxies clientip.Proxies `help:"Networks of the proxies in front, 10.0.0.0/8,fd00::/8: from these alone X-Forwarded-For is believed, for limits and logs. Default: none." env:"MESHYARD_TRUSTED_PROXIES" placeholder:"CIDR,..."`
	CORSOrigins    Origins          `name:"cors-origins" help:"Origins whose pages may call from a browser, https://app.example.org,http://localhost:3000; none: no other than this server's own. Default: ${default}, all." default:"*" env:"MESHYARD_CORS_ORIGINS" placeholder:"ORIGIN,..."`

	OIDCIssuer       string `name:"oidc-issuer" help:"OpenID Connect: address of the provider through which people sign in, and whose ID tokens are taken as bearer tokens. Default: none." env:"MESHYARD_OIDC_ISSUER" placeholder:"URL"`
	OIDCClientID     string `name:"oidc-client-id" help:"What this server is called there. It answers at BASE-URL/login/oidc/callback." env:"MESHYARD_OIDC_CLIENT_ID" placeholder:"ID"`
	OIDCClientSecret string `name:"oidc-client-secret" help:"Its secret there; better in the variable than on the command line." env:"MESHYARD_OIDC_CLIENT_SECRET" placeholder:"SECRET"`
}

// PictureLimit is the largest picture that is taken, in bytes.
const PictureLimit = 5_000_000

// Complete fills in what follows from other settings, and says what is wrong with the rest.
func (s *Settings) Complete() error {
	data, err := filepath.Abs(s.Data)
	if err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	if s.DatabaseURL == "" {
		s.DatabaseURL = "sqlite:" + filepath.Join(data, "meshyard.db")
	}
	if s.BucketURL == "" {
		s.BucketURL = (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(data, "bucket"))}).String()
	}
	host, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return fmt.Errorf("--listen: want HOST:PORT: %w", err)
	}
	if s.BaseURL == "" {
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			host = "localhost"
		}
		s.BaseURL = "http://" + net.JoinHostPort(host, port)
	}
	base, err := url.Parse(s.BaseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" {
		return fmt.Errorf("--base-url %q: want http://HOST or https://HOST, perhaps with a path", s.BaseURL)
	}
	s.BaseURL = strings.TrimRight(s.BaseURL, "/")
	if (s.OIDCIssuer == "") != (s.OIDCClientID == "") || s.OIDCIssuer == "" && s.OIDCClientSecret != "" {
		return fmt.Errorf("--oidc-issuer and --oidc-client-id: want both or neither")
	}
	if s.OIDCIssuer != "" {
		issuer, err := url.Parse(s.OIDCIssuer)
		if err != nil || issuer.Host == "" || issuer.Scheme != "https" && (issuer.Scheme != "http" || !net.ParseIP(issuer.Hostname()).IsLoopback() && issuer.Hostname() != "localhost") {
			return fmt.Errorf("--oidc-issuer %q: want https://HOST, perhaps with a path", s.OIDCIssuer)
		}
	}
	if s.UploadLimit <= 0 {
		return fmt.Errorf("--upload-limit: must be more than 0")
	}
	if s.PendingTTL < time.Minute {
		return fmt.Errorf("--pending-ttl %s: must be a minute or more", s.PendingTTL)
	}
	if s.RateLimit < 0 {
		return fmt.Errorf("--rate-limit %d: must be 0 or more", s.RateLimit)
	}
	if s.QuotaPending < 0 || s.QuotaThings < 0 {
		return fmt.Errorf("--quota-pending %d, --quota-things %d: must be 0 or more", s.QuotaPending, s.QuotaThings)
	}
	if s.PreviewWorkers < 0 || s.PreviewWorkers > 64 {
		return fmt.Errorf("--preview-workers %d: must be 0 to 64", s.PreviewWorkers)
	}
	return nil
}
