// Package server assembles the Meshyard server: it opens the database and the bucket and passes
// them to the other packages.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/auth/oidc"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/database/dblock"
	"github.com/meshyard/meshyard/internal/jobs"
	"github.com/meshyard/meshyard/internal/preview/child"
	"github.com/meshyard/meshyard/internal/ratelimit"
	"github.com/meshyard/meshyard/internal/telemetry/metrics"
	"github.com/meshyard/meshyard/internal/telemetry/tracing/otlp"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/maintenance"
)

// CollectAfter is the minimum age of garbage that is collected or reported. It is longer than the
// time between the last byte of an upload and its commit.
const CollectAfter = time.Hour

// flushTraces is the time limit for sending the last traces in Close.
const flushTraces = 5 * time.Second

// Server has the open database and bucket of a catalogue, and the settings to serve it.
type Server struct {
	Settings config.Settings
	Store    *catalogue.Catalogue
	Logger   *slog.Logger

	lock     *dblock.Lock
	held     bool   // the caller of OpenHeld holds and releases the lock
	by       string // the command that holds the lock; empty: one of those that share it
	db       *models.DB
	bucket   *bucket.Bucket
	queue    *jobs.Queue
	opened   time.Time
	provider *oidc.Provider // nil if there is none
	metrics  *metrics.Metrics
	idTokens *ratelimit.Strict // counts the rejected ID tokens of each network
	limiters *ratelimit.Group  // shared with the other servers of the database
	draining chan struct{}     // closed when the server is asked to stop
	stopping chan struct{}     // closed when the server stops
	tracer   *otlp.Tracer      // nil if tracing is disabled

	downloadsFolded, thingsRanked pause
}

// Migrate runs pending migrations on the database of the settings and returns their names.
func Migrate(ctx context.Context, s config.Settings) ([]string, error) {
	lock, err := Use(ctx, s, "meshyard migrate")
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	db, err := openDB(ctx, s)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return migrate(ctx, db)
}

func migrate(ctx context.Context, db *models.DB) ([]string, error) {
	if err := db.CheckWritable(); err != nil {
		return nil, err
	}
	applied, err := db.Migrate(ctx)
	if err != nil {
		return nil, err
	}
	return applied, jobs.Migrate(ctx, db.SQL(), db.Engine)
}

func openDB(ctx context.Context, s config.Settings) (*models.DB, error) {
	if path, ok := database.File(s.DatabaseURL); ok {
		if err := makeFolder(filepath.Dir(path)); err != nil {
			return nil, err
		}
	}
	db, err := models.OpenDB(ctx, s.DatabaseURL)
	if err != nil {
		return nil, startError("--database-url", s.DatabaseURL, err)
	}
	if s.DatabaseConnections != 0 {
		db.LimitConnections(s.DatabaseConnections)
	}
	return db, nil
}

func makeFolder(path string) error {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return fmt.Errorf("%w: create the folder of the database, or check --data and --database-url", err)
	}
	return nil
}

// Open opens the catalogue of the settings. It creates the database and the bucket folder if they
// are missing, and runs pending migrations.
func Open(ctx context.Context, s config.Settings, logger *slog.Logger) (*Server, error) {
	return open(ctx, s, logger, &Server{}, true)
}

// OpenHeld is like Open, for a caller that holds the lock of the database.
func OpenHeld(ctx context.Context, s config.Settings, logger *slog.Logger, lock *dblock.Lock) (*Server, error) {
	return open(ctx, s, logger, &Server{lock: lock, held: true}, true)
}

// OpenExisting opens the catalogue of the settings and creates nothing: it returns an error if
// there is no database or bucket folder, or if migrations are pending.
func OpenExisting(ctx context.Context, s config.Settings, logger *slog.Logger) (*Server, error) {
	if path, ok := database.File(s.DatabaseURL); ok {
		if err := exists("database", path); err != nil {
			return nil, err
		}
	}
	return open(ctx, s, logger, &Server{}, false)
}

func exists(what, path string) error {
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s at %s: check --data, --database-url and --bucket-url, or create one with meshyard serve", what, path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w for the user with the ID %d: run meshyard as the user of the server", err, os.Getuid())
	}
	return err
}

// checkMounted returns an error if the database refers to files and the bucket folder is missing or
// was never used as a bucket. Otherwise a server whose disk is not mounted would store uploads in
// the mount point, and fail to serve all other files.
func (a *Server) checkMounted(ctx context.Context, folder string) error {
	files := filepath.Join(folder, bucket.ContentPrefix)
	if _, err := os.Stat(files); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening the bucket reports other errors
	}
	if hasFiles, err := maintenance.HasFiles(ctx, a.db); err != nil || !hasFiles {
		return err
	}
	return fmt.Errorf("the bucket folder %s has no files, but the database refers to some: mount the disk of the folder, or check --data and --bucket-url; "+
		"if the files are lost, create the folder %s to start without them", folder, files)
}

// open opens the catalogue of the settings in a, which has the lock of the database if it is held.
func open(ctx context.Context, s config.Settings, logger *slog.Logger, a *Server, create bool) (*Server, error) {
	a.Settings, a.Logger, a.opened, a.provider, a.metrics = s, logger, time.Now(), newProvider(s), metrics.New(s.Version)
	a.idTokens, a.draining, a.stopping = ratelimit.NewStrict(maxRefusedIDTokens), make(chan struct{}), make(chan struct{})
	if err := a.open(ctx, create); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *Server) open(ctx context.Context, create bool) (err error) {
	if !a.held {
		if a.lock, err = Use(ctx, a.Settings, cmp.Or(a.by, "a command of meshyard")); err != nil {
			return err
		}
	}
	if a.db, err = openDB(ctx, a.Settings); err != nil {
		return err
	}
	if err := a.prepare(ctx, create); err != nil {
		return err
	}
	if folder, ok := bucket.Directory(a.Settings.BucketURL); ok {
		if err := a.checkMounted(ctx, folder); err != nil {
			return err
		}
		if err := exists("bucket folder", folder); err != nil && !create {
			return err
		}
	}
	if a.bucket, err = bucket.Open(ctx, a.Settings.BucketURL); err != nil {
		return startError("--bucket-url", a.Settings.BucketURL, err)
	}
	if err := a.bucket.Deliver(ctx, bucket.Delivery{Stream: !a.Settings.BucketRedirect,
		PublicURL: a.Settings.BucketPublicURL}); err != nil {
		return startError("--bucket-public-url", a.Settings.BucketPublicURL, err)
	}
	a.bucket.ServeLibraries(libraryFolders(a.Settings))
	a.queue, err = jobs.New(a.db.SQL(), a.db.Engine, jobs.Handlers{
		ExpireUpload:   func(ctx context.Context, id int64) error { return a.Store.Uploads.ExpireUpload(ctx, id) },
		PurgeAccount:   func(ctx context.Context, id int64) error { return a.Store.Account.PurgeAccount(ctx, id) },
		FinishUpdate:   func(ctx context.Context, id int64) error { return a.Store.Bulk.Finish(ctx, id) },
		SendMail:       a.mailHandler(),
		FoldCounts:     func(ctx context.Context) error { return a.fold(ctx) },
		DeliverWebhook: func(ctx context.Context, id int64) error { return a.deliverWebhook(ctx, id) },
		DeliverOverdue: func(ctx context.Context) error { return a.Store.Webhook.DeliverOverdue(ctx) },
		DrivePrinter:   func(ctx context.Context, id int64) error { return a.Store.Printer.Drive(ctx, id) },
		DriveOverdue:   func(ctx context.Context) error { return a.Store.Printer.DriveOverdue(ctx) },
		CollectGarbage: func(ctx context.Context) error {
			return errors.Join(a.Store.Maintenance.RefreshStatistics(ctx), a.CollectGarbage(ctx))
		},
		Backfill: func(ctx context.Context) error { return a.backfill(ctx) },
	}, a.queues(), quiet(a.Logger))
	if err != nil {
		return err
	}
	converter, err := cadConverter(a.Settings.CADConverter)
	if err != nil {
		return err
	}
	a.Store = catalogue.New(a.db, a.bucket, catalogue.Options{Options: models.Options{
		UploadLimit: int64(a.Settings.UploadLimit), ImageLimit: config.ImageLimit, PendingTTL: a.Settings.PendingTTL,
		KeepDeleted: a.Settings.KeepDeleted, ThingFiles: a.Settings.ThingFiles,
		Quotas: models.Quotas{
			Bytes: int64(a.Settings.QuotaBytes), Pending: int64(a.Settings.QuotaPending), Things: int64(a.Settings.QuotaThings),
			Makes: int64(a.Settings.QuotaMakes), Comments: int64(a.Settings.QuotaComments),
			Collections: int64(a.Settings.QuotaCollections), Collected: int64(a.Settings.QuotaCollected),
		},
		Previews:       child.Runner{Memory: int64(a.Settings.PreviewMemory), Converter: converter},
		PreviewWorkers: a.Settings.PreviewWorkers,
		Reserved:       isReserved,
		SendsMail:      a.Settings.SMTPURL != "", OpenRegistration: a.opensRegistration(),
		Events: models.Events{
			Uploaded: a.metrics.Upload, Downloaded: a.metrics.Download, Previewed: a.metrics.Preview,
		},
	}, Libraries: libraryOptions(a.Settings), Links: linkOptions(a.Settings), Printers: a.printers(),
		Webhooks: a.webhooks()}, a.enqueue)
	if url := a.Settings.DatabaseReplicaURL; url != "" {
		if err := a.db.OpenReplica(ctx, url, a.Store.Cluster.Positions()); err != nil {
			return startError("--database-replica-url", url, err)
		}
	}
	a.limiters = ratelimit.NewGroup(a.Store.Cluster.Limits())
	if a.Settings.OTLPEndpoint != "" {
		if a.tracer, err = otlp.New(ctx, a.Settings.OTLPEndpoint, a.Settings.Version, a.Settings.TraceRatio); err != nil {
			return err
		}
	}
	a.connectMetrics()
	return nil
}

// prepare runs pending migrations or, if migrations is false, returns an error if there are any.
func (a *Server) prepare(ctx context.Context, migrations bool) error {
	pending, err := a.db.Pending(ctx)
	if err != nil {
		return err
	}
	if !migrations {
		if len(pending) > 0 {
			err = fmt.Errorf("the database is not up to date: migrations %s are missing: run meshyard migrate",
				strings.Join(pending, ", "))
		}
		return err
	}
	if len(pending) > 0 { // it can take minutes
		a.Logger.Info("migrating the database", "migrations", len(pending), "to", pending[len(pending)-1])
	}
	applied, err := migrate(ctx, a.db)
	if err == nil && len(applied) > 0 {
		a.Logger.Info("migrated the database", "migrations", len(applied))
	}
	return err
}

// CollectGarbage removes garbage, as the server does every hour.
func (a *Server) CollectGarbage(ctx context.Context) error {
	// All files in the bucket of another database would be garbage.
	if err := a.Store.Maintenance.CheckBucket(ctx); err != nil {
		return fmt.Errorf("garbage is not collected: %w", err)
	}
	// The database may be a copy that was made a moment ago. The original sets a new mark until the
	// next run, if it is in use.
	var idle time.Duration
	if time.Since(a.opened) < jobs.CollectEvery {
		idle = 2 * jobs.CollectEvery
	}
	claimed, err := a.Store.Maintenance.ClaimBucket(ctx, idle)
	if errors.Is(err, maintenance.ErrOtherCollector) {
		return fmt.Errorf("garbage is not collected: %w: if the bucket belongs to this database alone, run meshyard gc --take-over", err)
	}
	if err != nil || !claimed {
		return err
	}
	sweep, err := a.Store.Maintenance.CollectDue(ctx, CollectAfter)
	if sweep == nil {
		return err
	}
	if n := sweep.Removed; n > 0 || sweep.ExpiredUploads > 0 {
		a.Logger.Info("collected garbage", "expired_uploads", sweep.ExpiredUploads, "objects", n, "bytes", sweep.Bytes)
	}
	return err
}

// failedFor is how long a job that is not repeated any more counts as failing.
const failedFor = 24 * time.Hour

func (a *Server) failingJobs(ctx context.Context) ([]jobs.Failing, error) {
	return a.queue.Failing(ctx, time.Now().Add(-failedFor))
}

// Diagnose returns problems of the database, as [maintenance.Store.Diagnose] does, and background
// jobs that fail.
func (a *Server) Diagnose(ctx context.Context) ([]string, error) {
	findings, err := a.Store.Maintenance.Diagnose(ctx)
	if err != nil {
		return nil, err
	}
	late, err := a.lateWork(ctx)
	if err != nil {
		return nil, err
	}
	findings = append(findings, late...)
	failing, err := a.failingJobs(ctx)
	for _, f := range failing {
		cause := strings.Join(strings.Fields(f.Error), " ")
		findings = append(findings, fmt.Sprintf("background jobs fail: %s (%d), the newest with: %.300s", f.Kind, f.Jobs,
			cause))
	}
	return findings, err
}

// EachFailedJob calls fn with each failed job. See [jobs.Queue.EachFailed].
func (a *Server) EachFailedJob(ctx context.Context, fn func(jobs.Failed) error) error {
	return a.queue.EachFailed(ctx, fn)
}

// RetryJob makes a failed job run now. See [jobs.Queue.Retry].
func (a *Server) RetryJob(ctx context.Context, id int64) error { return a.queue.Retry(ctx, id) }

// backfill stores values that rows written by earlier versions lack.
func (a *Server) backfill(ctx context.Context) error {
	rendered, err := a.Store.Maintenance.RenderStale(ctx)
	if rendered > 0 {
		a.Logger.Info("rendered stored HTML again", "rows", rendered)
	}
	_, err2 := a.Store.Previews.AssignShapes(ctx)
	indexed, err3 := a.Store.DB.IndexFiles(ctx)
	if indexed > 0 {
		a.Logger.Info("added the paths of files to the search index", "things", indexed)
	}
	return errors.Join(err, err2, err3)
}

// Statements returns the number of statements that were sent to the database.
func (a *Server) Statements() int64 { return a.db.Statements() }

// OnStatement calls observe after each statement, in its goroutine, instead of counting it in the
// metrics.
func (a *Server) OnStatement(observe func(verb string, took time.Duration, err error)) {
	a.db.OnStatement(observe)
}

// RequestStatements returns the number of statements that requests caused, without those of jobs
// and of looking up access tokens.
func (a *Server) RequestStatements() int64 { return a.db.RequestStatements() }

// RequestRows returns the number of rows that the statements of requests returned or changed.
func (a *Server) RequestRows() int64 { return a.db.RequestRows() }

// MostConcurrency returns the maximum number of concurrent database operations of any one caller.
func (a *Server) MostConcurrency() database.Concurrency { return a.db.MostConcurrency() }

// Close sends the last traces, closes the database and the bucket, and releases the lock.
func (a *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushTraces)
	defer cancel()
	errs := []error{a.tracer.Close(ctx)}
	if a.bucket != nil {
		errs = append(errs, a.bucket.Close())
	}
	if a.db != nil {
		errs = append(errs, a.db.Close())
	}
	if !a.held {
		errs = append(errs, a.lock.Close())
	}
	return errors.Join(errs...)
}
