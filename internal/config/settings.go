// Package config defines the settings of the server. The flags, the environment variables and their
// help are derived from one struct.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/preview/cad"
)

// Settings are the settings of every command. Each is a flag and an environment variable
// MESHYARD_…; the flag has precedence. docs/configuration.md is generated from this struct.
type Settings struct {
	Version string `kong:"-"` // of the program; not a setting

	Listen              string        `help:"Address to listen on. Default: ${default}." default:"127.0.0.1:8080" env:"MESHYARD_LISTEN" placeholder:"HOST:PORT"`
	BaseURLIsDefault    bool          `kong:"-"` // Complete has set BaseURL
	BaseURL             string        `help:"URL under which clients reach the server, used in all URLs that it returns. Default: http:// and the listen address; for clients that use an IP address or the name of the machine, that address. Set it if clients use another name or a proxy." env:"MESHYARD_BASE_URL" placeholder:"URL"`
	Data                string        `help:"Folder for the database and the bucket, unless these have a URL of their own. Default: ${default}." default:"./data" env:"MESHYARD_DATA" placeholder:"DIR"`
	DatabaseURL         string        `help:"Database: sqlite:PATH or postgres://…. If it has a password, set it in the environment variable or a file rather than on the command line. Default: meshyard.db in the data folder." env:"MESHYARD_DATABASE_URL" placeholder:"URL"`
	DatabaseConnections int           `help:"Largest number of connections of this server to PostgreSQL, at least 4. The limits of all servers of a database together must be lower than max_connections of PostgreSQL. With SQLite, it has no effect. Default, also with 0: 4 for each processor, but at least 16 and at most 64." env:"MESHYARD_DATABASE_CONNECTIONS" placeholder:"N"`
	DatabaseReplicaURL  string        `name:"database-replica-url" help:"Streaming replica of the PostgreSQL database, postgres://…, that serves reads: those of visitors, and those of users whose own changes it has. While the primary is away, all reads go on. Set it on all servers of a database. Default: none." env:"MESHYARD_DATABASE_REPLICA_URL" placeholder:"URL"`
	BucketURL           string        `help:"Bucket for the files: file:///DIR (on Windows file:///C:/DIR) or s3://BUCKET?region=…. Default: bucket in the data folder." env:"MESHYARD_BUCKET_URL" placeholder:"URL"`
	BucketPublicURL     string        `name:"bucket-public-url" help:"URL under which clients reach the S3 service, if it differs from the endpoint in --bucket-url, such as that of a CDN or of a proxy that passes the Host header on. Downloads are redirected to presigned URLs there. Default: the endpoint." env:"MESHYARD_BUCKET_PUBLIC_URL" placeholder:"URL"`
	BucketRedirect      bool          `help:"Redirect downloads to the S3 service. With --no-bucket-redirect, this server reads the bytes and sends them itself, for clients that cannot reach the service. Without S3, it always does. Default: ${default}." default:"true" negatable:"" env:"MESHYARD_BUCKET_REDIRECT"`
	UploadLimit         Size          `help:"Largest file that can be uploaded. Images are limited to 5 MB. Default: ${default}." default:"2GiB" env:"MESHYARD_UPLOAD_LIMIT" placeholder:"SIZE"`
	PendingTTL          time.Duration `help:"How long an upload stays pending before it is removed. Default: ${default}." default:"24h" env:"MESHYARD_PENDING_TTL" placeholder:"DURATION"`
	KeepDeleted         time.Duration `help:"How long the content of deleted files stays in the bucket, so that a database that is restored to an earlier moment has all of its files. Default: ${default}." default:"30d" env:"MESHYARD_KEEP_DELETED" placeholder:"DURATION"`
	RateLimit           int           `help:"Maximum number of API requests in 5 minutes for each user, or for each client IP address if the request has no token; 0 means unlimited. Pages of the gallery and HEAD requests for downloads have a second limit of the same size, for each user who is signed in, or for each client IP address: visitors behind one address who are not signed in share it. Files, images, previews and the 3D viewer are not counted. Default: ${default}." default:"300" env:"MESHYARD_RATE_LIMIT" placeholder:"N"`
	Roles               Roles         `help:"Work of this server, if several share a database and a bucket: web answers requests, jobs runs background jobs and delivers webhooks, mail sends mails if --smtp-url is set, and previews makes previews. Without web, it answers only probes and metrics. Default: ${default}." default:"web,jobs,mail,previews" enum:"web,jobs,mail,previews" env:"MESHYARD_ROLES" placeholder:"ROLE,..."`
	ShutdownDelay       time.Duration `help:"How long the server goes on serving after SIGTERM while /readyz answers 503, so that load balancers stop sending requests before the listener closes. Set it to more than the interval of their health checks if several servers are behind one. Default: ${default}." default:"0s" env:"MESHYARD_SHUTDOWN_DELAY" placeholder:"DURATION"`
	PreviewWorkers      int           `help:"Previews that this server makes at once, each in a child process on one processor. With two or more, the files of one user never occupy all workers. With 0, this server makes no previews and leaves them to other servers that share its database. Default: ${default}." default:"2" env:"MESHYARD_PREVIEW_WORKERS" placeholder:"N"`
	PreviewMemory       Size          `help:"Memory that one preview may use. A file that needs more gets no preview; 600MiB is enough for 3.6 million triangles. With less memory, textures are less sharp. Default: ${default}." default:"600MiB" env:"MESHYARD_PREVIEW_MEMORY" placeholder:"SIZE"`
	CADConverter        string        `name:"cad-converter" help:"Command that makes a mesh of a STEP, IGES or BREP file, such as gmsh {input} -2 -clcurv 30 -format stl -bin -o {output.stl}. {input} is replaced by the path of the file, and {output.stl}, or .glb, .obj, .ply or .3mf, by that of the mesh. The command is not run by a shell. It runs on Linux only, confined, with the limits of a preview. Default: none; CAD files have no previews." env:"MESHYARD_CAD_CONVERTER" placeholder:"COMMAND"`
	Sunset              Day           `help:"Date to announce as the end of deprecated operations, such as 2027-06-30. Their responses have it in the header Sunset; the server does not disable them. Default: none is announced." env:"MESHYARD_SUNSET" placeholder:"DATE"`
	AnonymousRead       bool          `help:"Allow GraphQL queries without a token to read what is published, and everyone to download published files. REST requests need a token, except those for a public image of a thing. With --no-anonymous-read, pages redirect to the sign-in page. Files, previews and the 3D viewer then need an access token, a browser that is signed in, or a signed URL. API responses contain signed URLs, which work for an hour. Default: ${default}." default:"true" negatable:"" env:"MESHYARD_ANONYMOUS_READ"`
	Hardened            bool          `help:"Run only registered GraphQL documents, and turn off GraphiQL, introspection, the schema download and GraphQL by GET. Default: off." env:"MESHYARD_HARDENED"`
	OpenIn              Programs      `help:"Programs on the computers of visitors that files can be opened in, besides those that the server knows, each as NAME=TEMPLATE. The template is a URL in which {url} is replaced by the percent-encoded URL of the file, such as FlashPrint=flashprint://open?file={url}. The name of a known program replaces its link; without a template, it removes it: Cura=. Default: none." env:"MESHYARD_OPEN_IN" placeholder:"NAME=TEMPLATE,..."`
	Documents           string        `help:"Folder of .graphql files to register, each one document. Clients can run a registered document by its SHA-256, and a server with --hardened runs no others. Default: none; only the built-in documents are registered." env:"MESHYARD_DOCUMENTS" placeholder:"DIR"`

	Library         []Library     `help:"Library: a folder whose files become files of things and are served from where they lie. Nothing is ever written to it. Repeat the flag for several libraries; in the variable, separate them by semicolons. Default: none." sep:";" env:"MESHYARD_LIBRARY" placeholder:"NAME=DIR"`
	LibraryOwner    string        `help:"Username of the owner of the things that scans of libraries create. Default: the first administrator." env:"MESHYARD_LIBRARY_OWNER" placeholder:"NAME"`
	LibraryPublish  bool          `help:"Publish new things of libraries that have a model and a known license. Default: off; they are drafts." env:"MESHYARD_LIBRARY_PUBLISH"`
	LibraryInterval time.Duration `help:"How often the server scans libraries for changes; 0 means that only meshyard library scan does. Default: ${default}." default:"1h" env:"MESHYARD_LIBRARY_INTERVAL" placeholder:"DURATION"`

	LinkLimit        Size `help:"Largest size of all files of an import from a URL together; 0 turns such imports off. Default: ${default}." default:"1GiB" env:"MESHYARD_LINK_LIMIT" placeholder:"SIZE"`
	LinkAllowPrivate bool `help:"Import from URLs of private addresses, too, for services in the network of the server. Every user can then read from that network. Default: off; only addresses of the public internet." env:"MESHYARD_LINK_ALLOW_PRIVATE"`

	SiteName   string `help:"Name of the site, in titles and at the top of pages. Default: ${default}." default:"Meshyard" env:"MESHYARD_SITE_NAME" placeholder:"NAME"`
	SiteLogo   string `help:"Logo at the top of pages: an SVG, PNG, JPEG or WebP file. Default: none." env:"MESHYARD_SITE_LOGO" placeholder:"FILE"`
	SiteColor  Color  `help:"Color of buttons and links, such as #1b6ac9. Default: that of the style sheet." env:"MESHYARD_SITE_COLOR" placeholder:"#RRGGBB"`
	SiteFolder string `help:"Folder of Markdown files. welcome.md is shown at the top of the home page; each other file, such as imprint.md, terms.md or privacy.md, is a page at /legal/NAME that all pages link to. Files such as welcome.de.md are for visitors with that language. Default: none." env:"MESHYARD_SITE_FOLDER" placeholder:"DIR"`

	Registration bool   `help:"Let visitors create accounts. With --smtp-url, an account needs an e-mail address that the visitor has confirmed. Default: off; accounts need an invitation." env:"MESHYARD_REGISTRATION"`
	SMTPURL      string `name:"smtp-url" help:"Mail server for invitations, confirmations of e-mail addresses and password resets: smtp://USER:PASSWORD@HOST:587 with STARTTLS, or smtps://HOST:465. Append ?starttls=optional for a server on your own network without TLS. It requires --base-url, with which the links in mails begin. If it has a password, set it in the environment variable or a file rather than on the command line. Default: none; no mail is sent." env:"MESHYARD_SMTP_URL" placeholder:"URL"`
	SMTPFrom     string `name:"smtp-from" help:"Sender of mails, such as Meshyard <no-reply@example.org>. Required with --smtp-url." env:"MESHYARD_SMTP_FROM" placeholder:"ADDRESS"`

	ThingFiles int `help:"Files that one thing may have, from 1 to 100000. Default: ${default}." default:"10000" env:"MESHYARD_THING_FILES" placeholder:"N"`

	QuotaBytes   Size `help:"Bytes of files that one user may store, including pending uploads; 0 means unlimited. Moderators and administrators have no quotas. Default: ${default}." default:"0" env:"MESHYARD_QUOTA_BYTES" placeholder:"SIZE"`
	QuotaPending int  `help:"Pending uploads that one user may have at a time; 0 means unlimited. Default: ${default}." default:"1000" env:"MESHYARD_QUOTA_PENDING" placeholder:"N"`
	QuotaThings  int  `help:"Things that one user may create in 24 hours; 0 means unlimited. Default: ${default}." default:"1000" env:"MESHYARD_QUOTA_THINGS" placeholder:"N"`

	QuotaMakes       int `help:"Makes that one user may create in 24 hours; 0 means unlimited. Default: ${default}." default:"1000" env:"MESHYARD_QUOTA_MAKES" placeholder:"N"`
	QuotaComments    int `help:"Comments that one user may write in 24 hours; 0 means unlimited. Default: ${default}." default:"1000" env:"MESHYARD_QUOTA_COMMENTS" placeholder:"N"`
	QuotaCollections int `help:"Collections that one user may have; 0 means unlimited. Default: ${default}." default:"1000" env:"MESHYARD_QUOTA_COLLECTIONS" placeholder:"N"`
	QuotaCollected   int `help:"Things that all collections of one user together may contain; 0 means unlimited. Default: ${default}." default:"100000" env:"MESHYARD_QUOTA_COLLECTED" placeholder:"N"`

	PrinterNetworks     Networks      `help:"Networks in which the printers of users may be, such as 192.168.1.0/24,10.0.0.7/32, to which users can then send files and requests. Default: none; the server connects to no printer." env:"MESHYARD_PRINTER_NETWORKS" placeholder:"CIDR,..."`
	WebhookAllowPrivate bool          `help:"Deliver webhooks to private addresses, too, and over plain HTTP, for receivers in the network of the server. Every user can then send requests into that network. Default: off; only HTTPS, and only addresses of the public internet." env:"MESHYARD_WEBHOOK_ALLOW_PRIVATE"`
	WebhookTimeout      time.Duration `help:"How long the receiver of a webhook may take to answer. Default: ${default}." default:"10s" env:"MESHYARD_WEBHOOK_TIMEOUT" placeholder:"DURATION"`

	LogLevel  slog.Level `help:"Log lines of this level and above: debug, info, warn or error. Requests are logged at info. Default: ${default}." default:"info" env:"MESHYARD_LOG_LEVEL" placeholder:"LEVEL"`
	LogFormat string     `help:"Format of log lines: json or text. Default: text on a terminal, json elsewhere." env:"MESHYARD_LOG_FORMAT" placeholder:"FORMAT"`

	MetricsListen string `help:"Address to serve /metrics on, for Prometheus, such as 127.0.0.1:9090. It needs no token, so keep it private. Default: none." env:"MESHYARD_METRICS_LISTEN" placeholder:"HOST:PORT"`
	MetricsToken  string `help:"Also serve /metrics on the main address, to clients that send this bearer token. Set it in the environment variable or a file rather than on the command line. Default: none; /metrics is not on the main address." env:"MESHYARD_METRICS_TOKEN" placeholder:"TOKEN"`

	OTLPEndpoint string  `name:"otlp-endpoint" help:"URL of an OpenTelemetry collector to send traces to by OTLP over HTTP, such as http://127.0.0.1:4318. Default: that in the environment variable OTEL_EXPORTER_OTLP_ENDPOINT, else none; nothing is traced." env:"MESHYARD_OTLP_ENDPOINT" placeholder:"URL"`
	TraceRatio   float64 `help:"Part of the requests to trace, from 0 to 1. The header traceparent of a request takes precedence. Default: ${default}." default:"1" env:"MESHYARD_TRACE_RATIO" placeholder:"RATIO"`

	TrustedProxies clientip.Proxies `help:"Networks of the reverse proxies, such as 10.0.0.0/8,fd00::/8. X-Forwarded-For is trusted from these only, for limits and logs. Default: none." env:"MESHYARD_TRUSTED_PROXIES" placeholder:"CIDR,..."`
	CORSOrigins    Origins          `name:"cors-origins" help:"Origins whose pages may call from a browser, such as https://app.example.org,http://localhost:3000. The value none allows only the pages of this server. Default: ${default}, all." default:"*" env:"MESHYARD_CORS_ORIGINS" placeholder:"ORIGIN,..."`

	OIDCIssuer       string `name:"oidc-issuer" help:"OpenID Connect: URL of the provider through which people sign in, and whose ID tokens are accepted as bearer tokens. Default: none." env:"MESHYARD_OIDC_ISSUER" placeholder:"URL"`
	OIDCClientID     string `name:"oidc-client-id" help:"Client ID of this server at the provider. The redirect URI is BASE-URL/login/oidc/callback." env:"MESHYARD_OIDC_CLIENT_ID" placeholder:"ID"`
	OIDCClientSecret string `name:"oidc-client-secret" help:"Client secret at the provider; safer in the environment variable or a file than on the command line." env:"MESHYARD_OIDC_CLIENT_SECRET" placeholder:"SECRET"`

	OIDCScopes               []string `name:"oidc-scopes" help:"Scopes to ask the provider for besides openid. Some providers need another one, such as groups, to send groups. Default: ${default}." default:"profile,email" env:"MESHYARD_OIDC_SCOPES" placeholder:"SCOPE"`
	OIDCUsernameClaim        string   `name:"oidc-username-claim" help:"Claim with the username. A claim within another is written with dots, such as realm_access.roles. Default: ${default}." default:"preferred_username" env:"MESHYARD_OIDC_USERNAME_CLAIM" placeholder:"CLAIM"`
	OIDCNameClaim            string   `name:"oidc-name-claim" help:"Claim with the display name, which is split at its last space. Default: given_name and family_name, or else name." env:"MESHYARD_OIDC_NAME_CLAIM" placeholder:"CLAIM"`
	OIDCEmailClaim           string   `name:"oidc-email-claim" help:"Claim with the e-mail address. Any claim other than email requires --oidc-allow-unverified-email, because email_verified is about that claim. Default: ${default}." default:"email" env:"MESHYARD_OIDC_EMAIL_CLAIM" placeholder:"CLAIM"`
	OIDCAllowUnverifiedEmail bool     `name:"oidc-allow-unverified-email" help:"Trust e-mail addresses from the provider even if the claim email_verified is not true. Set it only if users cannot change their e-mail address at the provider. Default: off." env:"MESHYARD_OIDC_ALLOW_UNVERIFIED_EMAIL"`
	OIDCGroupsClaim          string   `name:"oidc-groups-claim" help:"Claim with the groups of the user. Default: ${default}." default:"groups" env:"MESHYARD_OIDC_GROUPS_CLAIM" placeholder:"CLAIM"`
	OIDCAllowedGroups        []string `name:"oidc-allowed-groups" help:"Admit only users of the provider who are in one of these groups. A comma in a name is written \\,. Default: all." env:"MESHYARD_OIDC_ALLOWED_GROUPS" placeholder:"GROUP"`
	OIDCAllowedDomains       []string `name:"oidc-allowed-domains" help:"Admit only users of the provider who have a verified e-mail address of one of these domains; a subdomain is another domain. Default: all." env:"MESHYARD_OIDC_ALLOWED_DOMAINS" placeholder:"DOMAIN"`
	OIDCRoleClaim            string   `name:"oidc-role-claim" help:"Claim that gives roles. Default: that of --oidc-groups-claim." env:"MESHYARD_OIDC_ROLE_CLAIM" placeholder:"CLAIM"`
	OIDCAdministrators       []string `name:"oidc-administrators" help:"Values of the role claim that make a user an administrator. If set, each sign-in through the provider grants or revokes that role. Default: none; roles are managed in Meshyard only." env:"MESHYARD_OIDC_ADMINISTRATORS" placeholder:"VALUE"`
	OIDCModerators           []string `name:"oidc-moderators" help:"Values of the role claim that make a user a moderator. If set, each sign-in through the provider grants or revokes that role. Default: none; roles are managed in Meshyard only." env:"MESHYARD_OIDC_MODERATORS" placeholder:"VALUE"`
}

// ServeSettings are the settings of meshyard serve only.
type ServeSettings struct {
	Wait  time.Duration `help:"How long to wait at the start for a database or bucket that is unavailable. Default: ${default}, fail at once." default:"0s" env:"MESHYARD_WAIT" placeholder:"DURATION"`
	Drain time.Duration `help:"How long requests in progress may take to finish after the first SIGTERM or interrupt; a second signal ends them at once. Default: ${default}." default:"10m" env:"MESHYARD_DRAIN" placeholder:"DURATION"`
}

// The limits of PreviewMemory. Less memory is not enough for the program and an image.
const (
	minPreviewMemory = 250 << 20
	maxPreviewMemory = 64 << 30
)

// ImageLimit is the largest image that can be uploaded, in bytes.
const ImageLimit = 5_000_000

// InvalidError is an error about a setting that is found after Complete, such as an invalid file
// that the setting names. Commands exit with status 2.
type InvalidError struct{ Err error }

func (e *InvalidError) Error() string { return e.Err.Error() }
func (e *InvalidError) Unwrap() error { return e.Err }

// LiftQuotas removes all quotas, for commands of the operator that act as a user.
func (s *Settings) LiftQuotas() {
	s.QuotaBytes, s.QuotaPending, s.QuotaThings = 0, 0, 0
	s.QuotaMakes, s.QuotaComments, s.QuotaCollections, s.QuotaCollected = 0, 0, 0, 0
}

// Complete sets the settings whose defaults depend on other settings. It returns an error that
// names the first invalid setting.
func (s *Settings) Complete() error {
	if s.SiteName = strings.TrimSpace(s.SiteName); s.SiteName == "" {
		s.SiteName = "Meshyard"
	}
	for _, part := range []func() error{s.completeStorage, s.completeAddresses, s.checkOIDC, s.checkMail, s.checkLogs,
		s.checkLimits, s.checkRoles, s.checkLibraries} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// completeStorage sets and checks the URLs of the database and the bucket.
func (s *Settings) completeStorage() error {
	if s.Data == "" { // as from a variable of a shell that is not set
		return errors.New("--data: must not be empty")
	}
	data, err := filepath.Abs(s.Data)
	if err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	if s.DatabaseURL == "" {
		s.DatabaseURL = "sqlite:" + filepath.Join(data, "meshyard.db")
	}
	if s.BucketURL == "" {
		s.BucketURL = bucket.DirectoryURL(filepath.Join(data, "bucket"))
	}
	// The messages do not contain the URLs, because these may contain passwords in any place.
	if path, ok := strings.CutPrefix(s.DatabaseURL, "sqlite:"); ok {
		if strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "///") {
			return errors.New("--database-url: must be sqlite:PATH, such as sqlite:/srv/meshyard.db, not sqlite://PATH")
		}
		if path == "" || path == ":memory:" { // SQLite would lose the data at the end
			return errors.New("--database-url: must be sqlite:PATH with the path of a file, such as sqlite:/srv/meshyard.db")
		}
	} else if !strings.HasPrefix(s.DatabaseURL, "postgres://") && !strings.HasPrefix(s.DatabaseURL, "postgresql://") {
		return errors.New("--database-url: must be sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE")
	}
	if !strings.HasPrefix(s.BucketURL, "file://") && !strings.HasPrefix(s.BucketURL, "s3://") {
		return errors.New("--bucket-url: must be file:///DIR, with an absolute path, or s3://BUCKET?region=…")
	}
	if public, err := url.Parse(s.BucketPublicURL); s.BucketPublicURL != "" {
		switch {
		case err != nil || public.Scheme != "http" && public.Scheme != "https" || public.Host == "" ||
			public.RawQuery != "" || public.User != nil:
			return errors.New("--bucket-public-url: must be a URL such as https://files.example.org")
		case !strings.HasPrefix(s.BucketURL, "s3://"):
			return errors.New("--bucket-public-url: needs an S3 bucket in --bucket-url")
		case !s.BucketRedirect:
			return errors.New("--bucket-public-url: has no effect with --no-bucket-redirect")
		}
	}
	return nil
}

// completeAddresses sets and checks the addresses to listen on and the base URL.
func (s *Settings) completeAddresses() error {
	host, port, err := splitAddress("--listen", s.Listen)
	if err != nil {
		return err
	}
	if s.MetricsListen != "" {
		if _, _, err := splitAddress("--metrics-listen", s.MetricsListen); err != nil {
			return err
		}
	}
	if s.BaseURL == "" {
		s.BaseURLIsDefault = true
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			host = "localhost"
		}
		s.BaseURL = "http://" + net.JoinHostPort(host, port)
	}
	base, err := url.Parse(s.BaseURL)
	if err == nil && base.User != nil {
		return errors.New("--base-url: must not have a user or a password: it is in all URLs that the server returns")
	}
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" ||
		strings.ContainsAny(s.BaseURL, "?#") {
		return fmt.Errorf("--base-url %q: must be http://HOST or https://HOST, perhaps with a path", s.BaseURL)
	}
	s.BaseURL = strings.TrimRight(s.BaseURL, "/")
	return nil
}

// checkLogs checks the settings of logs and traces.
func (s *Settings) checkLogs() error {
	if s.LogFormat != "" && s.LogFormat != "json" && s.LogFormat != "text" {
		return fmt.Errorf("--log-format: must be json or text (got %q)", s.LogFormat)
	}
	if u, err := url.Parse(s.OTLPEndpoint); s.OTLPEndpoint != "" && (err != nil || u.Scheme != "http" &&
		u.Scheme != "https" || u.Host == "") {
		return fmt.Errorf("--otlp-endpoint %q: must be a URL such as http://127.0.0.1:4318", s.OTLPEndpoint)
	}
	if s.TraceRatio < 0 || s.TraceRatio > 1 {
		return fmt.Errorf("--trace-ratio %v: must be from 0 to 1", s.TraceRatio)
	}
	return nil
}

// checkLimits checks sizes, durations and numbers.
func (s *Settings) checkLimits() error {
	if s.UploadLimit <= 0 {
		return fmt.Errorf("--upload-limit: must be more than 0")
	}
	if s.DatabaseConnections != 0 && s.DatabaseConnections < 4 {
		return fmt.Errorf("--database-connections %d: must be at least 4", s.DatabaseConnections)
	}
	if s.DatabaseReplicaURL != "" {
		if strings.HasPrefix(s.DatabaseURL, "sqlite:") {
			return fmt.Errorf("--database-replica-url: needs a --database-url of PostgreSQL")
		}
		if !strings.HasPrefix(s.DatabaseReplicaURL, "postgres://") && !strings.HasPrefix(s.DatabaseReplicaURL,
			"postgresql://") {
			return fmt.Errorf("--database-replica-url: must be postgres://…")
		}
	}
	if s.PendingTTL < time.Minute {
		return fmt.Errorf("--pending-ttl %s: must be at least a minute", s.PendingTTL)
	}
	if s.KeepDeleted < 0 {
		return fmt.Errorf("--keep-deleted %s: must be at least 0", s.KeepDeleted)
	}
	if s.ShutdownDelay > 10*time.Minute {
		return fmt.Errorf("--shutdown-delay %s: must be at most 10 minutes", s.ShutdownDelay)
	}
	if s.WebhookTimeout < time.Second || s.WebhookTimeout > time.Minute {
		return fmt.Errorf("--webhook-timeout %s: must be from 1 second to 1 minute", s.WebhookTimeout)
	}
	if s.RateLimit < 0 {
		return fmt.Errorf("--rate-limit %d: must be at least 0", s.RateLimit)
	}
	for _, quota := range []struct {
		flag  string
		value int
	}{
		{"--quota-pending", s.QuotaPending}, {"--quota-things", s.QuotaThings}, {"--quota-makes", s.QuotaMakes},
		{"--quota-comments", s.QuotaComments}, {"--quota-collections", s.QuotaCollections},
		{"--quota-collected", s.QuotaCollected},
	} {
		if quota.value < 0 {
			return fmt.Errorf("%s %d: must be at least 0", quota.flag, quota.value)
		}
	}
	if s.ThingFiles < 0 || s.ThingFiles > 100_000 { // 0: the default
		return fmt.Errorf("--thing-files %d: must be from 1 to 100000", s.ThingFiles)
	}
	if s.PreviewMemory != 0 && s.PreviewMemory < minPreviewMemory || s.PreviewMemory > maxPreviewMemory {
		return fmt.Errorf("--preview-memory: must be from %d MiB to %d GiB (got %d bytes)", minPreviewMemory>>20,
			maxPreviewMemory>>30, s.PreviewMemory)
	}
	if s.CADConverter != "" {
		if _, err := cad.Parse(s.CADConverter); err != nil {
			return fmt.Errorf("--cad-converter: %w (got %q)", err, s.CADConverter)
		}
	}
	if s.PreviewWorkers < 0 || s.PreviewWorkers > 64 {
		return fmt.Errorf("--preview-workers %d: must be from 0 to 64", s.PreviewWorkers)
	}
	return nil
}

// splitAddress splits the address to listen on of a setting.
func splitAddress(flag, address string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(address)
	if err == nil && port == "" {
		err = errors.New("missing port in address")
	}
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return "", "", fmt.Errorf("%s %q: must be HOST:PORT, such as 127.0.0.1:8080: %w", flag, address, err)
	}
	return host, port, nil
}
