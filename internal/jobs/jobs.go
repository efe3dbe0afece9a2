// Package jobs runs background work with River, a job queue in the database. A job is inserted in
// the transaction of the change that requires it, and calls a handler. It is retried if it fails or
// if the process dies, so handlers must be idempotent.
//
// The package contains no work of its own: [Handlers] holds the functions, which
// cmd/meshyard/server passes. Previews do not use it, because they are scheduled fairly among
// users; see models.
package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/meshyard/meshyard/internal/database"
)

// Handlers are the functions that jobs call. Each must be idempotent, because a job may run more
// than once.
type Handlers struct {
	ExpireUpload func(ctx context.Context, fileID int64) error
	PurgeAccount func(ctx context.Context, userID int64) error
	// FinishUpdate deletes the things that a bulk update has hidden, or finishes undoing it.
	FinishUpdate func(ctx context.Context, updateID int64) error
	// SendMail is nil if this server cannot send mails. Another server sends them then.
	SendMail       func(ctx context.Context, m Mail) error
	FoldCounts     func(ctx context.Context) error
	CollectGarbage func(ctx context.Context) error
	// DeliverWebhook sends the messages of a webhook that are due. It works for at most about half a
	// minute.
	DeliverWebhook func(ctx context.Context, webhookID int64) error
	// DeliverOverdue schedules DeliverWebhook for webhooks whose job was lost.
	DeliverOverdue func(ctx context.Context) error
	// DrivePrinter looks at a printer that has prints.
	DrivePrinter func(ctx context.Context, printerID int64) error
	// DriveOverdue schedules DrivePrinter for printers whose job was lost.
	DriveOverdue func(ctx context.Context) error
	// Backfill computes stored values that earlier versions of the program did not store.
	Backfill func(ctx context.Context) error
}

// Queue stores jobs in the database and runs them.
type Queue struct {
	client *river.Client[*sql.Tx]
	works  bool // it runs jobs
	db     *sql.DB
	engine *engine
}

// State returns the number of due jobs of a queue, the number of running jobs, and for how long the
// oldest due job has been due.
func (q *Queue) State(ctx context.Context, queue string) (due, running int, oldest time.Duration, err error) {
	var seconds sql.NullFloat64
	const dueJobs = "FROM river_job WHERE queue = $1 AND state = 'available'"
	err = q.db.QueryRowContext(ctx, "SELECT count(*), CAST("+q.engine.age+" AS double precision) "+dueJobs, queue).
		Scan(&due, &seconds)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("jobs: %w", err)
	}
	err = q.db.QueryRowContext(ctx, "SELECT count(*) FROM river_job WHERE queue = $1 AND state = 'running'", queue).
		Scan(&running)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("jobs: %w", err)
	}
	return due, running, max(0, time.Duration(seconds.Float64*float64(time.Second))), nil
}

// Failing are the jobs of a kind that fail.
type Failing struct {
	Kind  string
	Jobs  int64
	Error string // of the last attempt of the newest of the jobs
}

// periodicKinds are the kinds of the periodic jobs.
var periodicKinds = []string{foldCounts{}.Kind(), collectGarbage{}.Kind(), backfill{}.Kind(), deliverOverdue{}.Kind(),
	driveOverdue{}.Kind()}

// Failing returns the jobs that fail, by kind: those that wait for another attempt or have had
// their last one since the given time, and periodic jobs whose last run failed. Jobs for webhooks
// are left out: a new job replaces one that has failed.
func (q *Queue) Failing(ctx context.Context, since time.Time) (failing []Failing, err error) {
	var newest []int64 // a job of each kind
	rows, err := q.db.QueryContext(ctx,
		"SELECT kind, count(*), max(id) FROM river_job WHERE queue IN ('"+Default+"', '"+Mails+"') AND "+
			"(state = 'retryable' OR state = 'discarded' AND max_attempts > 1 AND finalized_at > $1) GROUP BY kind ORDER BY kind", q.engine.time(since))
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var f Failing
		var id int64
		if err := rows.Scan(&f.Kind, &f.Jobs, &id); err != nil {
			return nil, fmt.Errorf("jobs: %w", err)
		}
		failing, newest = append(failing, f), append(newest, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	for _, kind := range periodicKinds {
		var id int64
		var state string
		err := q.db.QueryRowContext(ctx,
			"SELECT id, state FROM river_job WHERE kind = $1 AND state IN ('completed', 'discarded') ORDER BY id DESC LIMIT 1",
			kind).Scan(&id, &state)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("jobs: %w", err)
		}
		if state == "discarded" {
			failing, newest = append(failing, Failing{Kind: kind, Jobs: 1}), append(newest, id)
		}
	}
	for i, id := range newest {
		job, err := q.client.JobGet(ctx, id)
		if err != nil && !errors.Is(err, river.ErrNotFound) {
			return nil, fmt.Errorf("jobs: %w", err)
		}
		if err == nil && len(job.Errors) > 0 {
			failing[i].Error = job.Errors[len(job.Errors)-1].Error
		}
	}
	return failing, nil
}

// CollectEvery is the time between two runs of CollectGarbage.
const CollectEvery = time.Hour

const (
	// Readers add the changes that are not folded yet to the counts of each row, so there should be
	// few such changes.
	foldEvery     = 2 * time.Second
	backfillEvery = time.Minute
	overdueEvery  = time.Minute
	jobTimeout    = 10 * time.Minute
)

// Migrate creates or updates the tables of River, and deletes jobs that earlier source has left and
// no worker knows: previews and counts do not need them any more. Several processes may call it
// concurrently: each version is applied in a transaction, and a process that fails tries again, up
// to five times.
func Migrate(ctx context.Context, db *sql.DB, engine database.Engine) error {
	migrator, err := rivermigrate.New(engines[engine].driver(db),
		&rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("migrate jobs: %w", err)
	}
	for attempt := 1; ; attempt++ {
		_, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
		if err == nil {
			_, err = db.ExecContext(ctx,
				"DELETE FROM river_job WHERE kind IN ('fold_downloads', 'make_preview', 'resume_previews')")
		}
		if err == nil {
			return nil
		}
		if attempt == 5 {
			return fmt.Errorf("migrate jobs: %w", err)
		}
		time.Sleep(time.Duration(attempt) * 100 * time.Millisecond)
	}
}

// New returns a queue on a migrated database. Jobs can be inserted immediately. After Start, those
// of the given queues run.
func New(db *sql.DB, engine database.Engine, h Handlers, queues []string, logger *slog.Logger) (*Queue, error) {
	q, workers := &Queue{db: db, engine: engines[engine]}, river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[expireUpload]) error {
		return h.ExpireUpload(ctx, job.Args.FileID)
	}))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[purgeAccount]) error {
		return h.PurgeAccount(ctx, job.Args.UserID)
	}))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[finishUpdate]) error {
		return h.FinishUpdate(ctx, job.Args.UpdateID)
	}))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[sendMail]) error {
		if h.SendMail == nil {
			return q.leaveMail(ctx, job.ID)
		}
		return h.SendMail(ctx, job.Args.Mail)
	}))
	river.AddWorker(workers, river.WorkFunc(periodic[foldCounts](h.FoldCounts)))
	river.AddWorker(workers, newCollector(h.CollectGarbage))
	river.AddWorker(workers, river.WorkFunc(periodic[backfill](h.Backfill)))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[deliverWebhook]) error {
		return h.DeliverWebhook(ctx, job.Args.WebhookID)
	}))
	river.AddWorker(workers, river.WorkFunc(periodic[deliverOverdue](func(ctx context.Context) error {
		return errors.Join(q.endWaits(ctx), h.DeliverOverdue(ctx))
	})))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[drivePrinter]) error {
		return h.DrivePrinter(ctx, job.Args.PrinterID)
	}))
	river.AddWorker(workers, river.WorkFunc(periodic[driveOverdue](h.DriveOverdue)))
	var err error
	q.client, err = river.NewClient(q.engine.driver(db), &river.Config{
		ReindexerSchedule: q.engine.reindex,
		Logger:            logger,
		Workers:           workers,
		Queues:            q.configure(queues),
		JobTimeout:        jobTimeout,
		// The default is 70 minutes, which is too long for a mail that a killed server was sending.
		RescueStuckJobsAfter: jobTimeout + time.Minute,
		FetchPollInterval:    time.Second,
		PeriodicJobs: []*river.PeriodicJob{
			every(foldEvery, foldCounts{}), every(CollectEvery, collectGarbage{}), every(backfillEvery, backfill{}),
			every(overdueEvery, deliverOverdue{}), every(overdueEvery, driveOverdue{}),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return q, nil
}

// endWaits makes jobs due that would wait longer than any job does, because they were inserted or
// failed while the clock was ahead. Pending uploads expire when their rows say so.
func (q *Queue) endWaits(ctx context.Context) error {
	_, err := q.db.ExecContext(ctx, "UPDATE river_job SET scheduled_at = CURRENT_TIMESTAMP "+
		"WHERE state IN ('available', 'scheduled', 'retryable') AND kind <> '"+expireUpload{}.Kind()+"' AND scheduled_at > "+q.engine.later("7 days"))
	return err
}

// periodic returns the work function of a periodic job. It skips a run while the previous one is
// still running on this server: a concurrent run would do the same work or wait for the same rows.
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

// collector runs collectGarbage. A run may take until the next one: listing millions of objects in
// S3 takes long, and a run that is canceled would start again from the first object.
type collector struct {
	river.WorkerDefaults[collectGarbage]
	work func(context.Context, *river.Job[collectGarbage]) error
}

func newCollector(do func(context.Context) error) *collector {
	return &collector{work: periodic[collectGarbage](do)}
}

// Work implements [river.Worker].
func (c *collector) Work(ctx context.Context, job *river.Job[collectGarbage]) error {
	return c.work(ctx, job)
}

// Timeout implements [river.Worker].
func (c *collector) Timeout(*river.Job[collectGarbage]) time.Duration { return CollectEvery }

// every returns a periodic job that runs at an interval and once at the start. The job is unique
// within each interval, so several servers insert it only once. It is not retried.
func every(interval time.Duration, args river.JobArgs) *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(interval), func() (river.JobArgs, *river.InsertOpts) {
		return args, &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByPeriod: interval}, MaxAttempts: 1}
	}, &river.PeriodicJobOpts{RunOnStart: true})
}

// Start runs jobs in the background until Stop is called. Without queues, it does nothing.
func (q *Queue) Start(ctx context.Context) error {
	if !q.works {
		return nil
	}
	// The leader inserts the periodic jobs, and its term ends after some seconds. If it was killed
	// while the clock was ahead, the term would end when that time comes.
	if _, err := q.db.ExecContext(ctx, "DELETE FROM river_leader WHERE expires_at > "+q.engine.later("1 minute")); err != nil {
		return fmt.Errorf("start jobs: %w", err)
	}
	return q.client.Start(ctx)
}

// Stop starts no more jobs and waits for running jobs. When ctx is done, it cancels them.
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

type drivePrinter struct {
	PrinterID int64 `json:"printer_id"`
}

func (drivePrinter) Kind() string { return "drive_printer" }

type driveOverdue struct{}

func (driveOverdue) Kind() string { return "drive_overdue" }

// Mail describes a mail that a job writes and sends. It contains no secret, because completed jobs
// are kept for some time.
type Mail struct {
	Purpose      string `json:"purpose"`
	Name         string `json:"name,omitempty"`
	Email        string `json:"email,omitempty"`
	UserID       int64  `json:"user_id,omitempty"`
	InvitationID int64  `json:"invitation_id,omitempty"`
	// Language is the code of the language of the mail. Empty: English.
	Language string `json:"language,omitempty"`
}

type finishUpdate struct {
	UpdateID int64 `json:"update_id"`
}

func (finishUpdate) Kind() string { return "finish_update" }

type sendMail struct{ Mail }

func (sendMail) Kind() string { return "send_mail" }

type foldCounts struct{}

func (foldCounts) Kind() string { return "fold_counts" }

type backfill struct{}

func (backfill) Kind() string { return "backfill" }

type collectGarbage struct{}

func (collectGarbage) Kind() string { return "collect_garbage" }
