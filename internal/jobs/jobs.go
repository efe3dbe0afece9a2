// Package jobs runs background work with River. A job is stored in the transaction of the change
// that causes it, is repeated if it fails or if the process dies, and calls a handler.
package jobs

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

// Handlers do the work of the jobs. Each must be idempotent, because a job may run more than once.
type Handlers struct {
	ExpireUpload   func(ctx context.Context, fileID int64) error
	PurgeAccount   func(ctx context.Context, userID int64) error
	SendMail       func(ctx context.Context, m Mail) error
	FoldCounts     func(ctx context.Context) error
	CollectGarbage func(ctx context.Context) error
	// DeliverWebhook sends the messages of a webhook that are due, within about half a minute.
	DeliverWebhook func(ctx context.Context, webhookID int64) error
	// DeliverOverdue schedules DeliverWebhook where the job for it was lost.
	DeliverOverdue func(ctx context.Context) error
	// Backfill computes stored values that this version of the program stores and earlier versions
	// did not.
	Backfill func(ctx context.Context) error
}

// Queue stores jobs and runs them.
type Queue struct {
	client *river.Client[*sql.Tx]
	db     *sql.DB
	engine string
}

// State returns the number of jobs that are due and of those that run, and how long the oldest job
// that is due has been so. Jobs for webhooks do not count: they wait for receivers.
func (q *Queue) State(ctx context.Context) (due, running int, oldest time.Duration, err error) {
	age := "EXTRACT(EPOCH FROM now() - min(scheduled_at))"
	if q.engine == "sqlite" {
		age = "(julianday('now') - julianday(min(scheduled_at))) * 86400"
	}
	var seconds sql.NullFloat64
	const dueJobs = "FROM river_job WHERE queue = 'default' AND state = 'available'"
	err = q.db.QueryRowContext(ctx, "SELECT count(*), CAST("+age+" AS double precision) "+dueJobs).Scan(&due, &seconds)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("jobs: %w", err)
	}
	err = q.db.QueryRowContext(ctx, "SELECT count(*) FROM river_job WHERE queue = 'default' AND state = 'running'").Scan(&running)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("jobs: %w", err)
	}
	return due, running, max(0, time.Duration(seconds.Float64*float64(time.Second))), nil
}

const (
	// Readers add the changes that are not folded yet to the counts of each row, so there should be
	// few.
	foldEvery     = 2 * time.Second
	collectEvery  = time.Hour
	backfillEvery = time.Minute
	overdueEvery  = time.Minute
	jobTimeout    = 10 * time.Minute

	// webhookQueue is a queue of its own, so that slow receivers hold up no other jobs.
	webhookQueue = "webhooks"
	// webhookWorkers is how many webhooks get messages at once. Each is a goroutine that waits for its
	// receiver.
	webhookWorkers = 64
)

func driver(db *sql.DB, engine string) riverdriver.Driver[*sql.Tx] {
	if engine == "sqlite" {
		return riversqlite.New(db)
	}
	return riverdatabasesql.New(db)
}

// Migrate creates or updates the tables of River. Two processes may call it at once: each version
// is applied in a transaction, and the second process checks again.
func Migrate(ctx context.Context, db *sql.DB, engine string) error {
	migrator, err := rivermigrate.New(driver(db, engine), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("migrate jobs: %w", err)
	}
	for attempt := 1; ; attempt++ {
		_, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
		if err == nil {
			return nil
		}
		if attempt == 5 {
			return fmt.Errorf("migrate jobs: %w", err)
		}
		time.Sleep(time.Duration(attempt) * 100 * time.Millisecond)
	}
}

// New returns a queue on a migrated database. Jobs can be added immediately; none runs before
// Start.
func New(db *sql.DB, engine string, h Handlers, logger *slog.Logger) (*Queue, error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[expireUpload]) error {
		return h.ExpireUpload(ctx, job.Args.FileID)
	}))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[purgeAccount]) error {
		return h.PurgeAccount(ctx, job.Args.UserID)
	}))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[sendMail]) error {
		return h.SendMail(ctx, job.Args.Mail)
	}))
	river.AddWorker(workers, river.WorkFunc(periodic[foldCounts](h.FoldCounts)))
	river.AddWorker(workers, river.WorkFunc(periodic[collectGarbage](h.CollectGarbage)))
	river.AddWorker(workers, river.WorkFunc(periodic[backfill](h.Backfill)))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[deliverWebhook]) error {
		return h.DeliverWebhook(ctx, job.Args.WebhookID)
	}))
	river.AddWorker(workers, river.WorkFunc(periodic[deliverOverdue](h.DeliverOverdue)))
	client, err := river.NewClient(driver(db, engine), &river.Config{
		ReindexerSchedule: reindexerSchedule(engine),
		Logger:            logger,
		Workers:           workers,
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 4}, webhookQueue: {MaxWorkers: webhookWorkers}},
		JobTimeout:        jobTimeout,
		FetchPollInterval: time.Second,
		PeriodicJobs: []*river.PeriodicJob{
			every(foldEvery, foldCounts{}), every(collectEvery, collectGarbage{}), every(backfillEvery, backfill{}),
			every(overdueEvery, deliverOverdue{}),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return &Queue{client: client, db: db, engine: engine}, nil
}

// periodic returns the work of a periodic job. It skips a run while the one before still works on
// this server: the second would do the same or wait for its rows.
func periodic[A river.JobArgs](do func(context.Context) error) func(context.Context, *river.Job[A]) error {
	var working sync.Mutex
	return func(ctx context.Context, _ *river.Job[A]) error {
		if !working.TryLock() {
			return nil
		}
		defer working.Unlock()
		return do(ctx)
	}
}

// reindexerSchedule returns when River rebuilds its indexes: daily on PostgreSQL, where nil means
// the default of River, and never on SQLite, which lacks the indexes that River names.
func reindexerSchedule(engine string) river.PeriodicSchedule {
	if engine == "sqlite" {
		return river.NeverSchedule()
	}
	return nil
}

// every runs a job at an interval and once at the start. It skips a run while a job of that kind is
// waiting.
func every(interval time.Duration, args river.JobArgs) *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(interval), func() (river.JobArgs, *river.InsertOpts) {
		return args, &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByPeriod: interval}, MaxAttempts: 1}
	}, &river.PeriodicJobOpts{RunOnStart: true})
}

// Start runs jobs until Stop is called.
func (q *Queue) Start(ctx context.Context) error { return q.client.Start(ctx) }

// Stop waits for running jobs, and cancels them when ctx is done.
func (q *Queue) Stop(ctx context.Context) error {
	if err := q.client.Stop(ctx); err != nil {
		return q.client.StopAndCancel(context.WithoutCancel(ctx))
	}
	return nil
}

type expireUpload struct {
	FileID int64 `json:"file_id"`
}

func (expireUpload) Kind() string { return "expire_upload" }

type purgeAccount struct {
	UserID int64 `json:"user_id"`
}

func (purgeAccount) Kind() string { return "purge_account" }

type deliverWebhook struct {
	WebhookID int64 `json:"webhook_id"`
}

func (deliverWebhook) Kind() string { return "deliver_webhook" }

type deliverOverdue struct{}

func (deliverOverdue) Kind() string { return "deliver_overdue" }

// Mail is a mail to write and send. It has no secret, because jobs are kept for a while after they
// ran.
type Mail struct {
	Purpose      string `json:"purpose"`
	Name         string `json:"name,omitempty"`
	Email        string `json:"email,omitempty"`
	UserID       int64  `json:"user_id,omitempty"`
	InvitationID int64  `json:"invitation_id,omitempty"`
}

type sendMail struct{ Mail }

func (sendMail) Kind() string { return "send_mail" }

type foldCounts struct{}

func (foldCounts) Kind() string { return "fold_counts" }

type backfill struct{}

func (backfill) Kind() string { return "backfill" }

type collectGarbage struct{}

func (collectGarbage) Kind() string { return "collect_garbage" }

// ExpireUpload schedules in tx that a pending upload expires at the given time.
func (q *Queue) ExpireUpload(ctx context.Context, tx *sql.Tx, fileID int64, at time.Time) error {
	_, err := q.client.InsertTx(ctx, tx, expireUpload{fileID}, &river.InsertOpts{ScheduledAt: at})
	return err
}

// PurgeAccount keeps in tx that the objects of a deleted user are deleted soon.
func (q *Queue) PurgeAccount(ctx context.Context, tx *sql.Tx, userID int64) error {
	_, err := q.client.InsertTx(ctx, tx, purgeAccount{userID}, nil)
	return err
}

// DeliverWebhook schedules in tx that the messages of a webhook are sent at the given time, or now
// if it is zero. If the job fails repeatedly, the next DeliverOverdue schedules it again.
func (q *Queue) DeliverWebhook(ctx context.Context, tx *sql.Tx, webhookID int64, at time.Time) error {
	_, err := q.client.InsertTx(ctx, tx, deliverWebhook{webhookID}, &river.InsertOpts{Queue: webhookQueue, MaxAttempts: 3, ScheduledAt: at})
	return err
}

// mailAttempts is how often a mail is tried: over about an hour.
const mailAttempts = 7

// SendMail keeps in tx that a mail is to be sent.
func (q *Queue) SendMail(ctx context.Context, tx *sql.Tx, m Mail) error {
	_, err := q.client.InsertTx(ctx, tx, sendMail{m}, &river.InsertOpts{MaxAttempts: mailAttempts})
	return err
}
