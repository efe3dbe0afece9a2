package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// Failed is a job whose last attempt failed.
type Failed struct {
	ID        int64
	Kind      string
	Arguments string // JSON
	Attempts  int
	Next      *time.Time // the next attempt; nil if there is none
	Error     string     // of the last attempt
}

// ErrNotFailed means that no job with an ID waits for another attempt or has had its last one.
var ErrNotFailed = errors.New("is not a failed job")

// retried are the kinds of the jobs of queue default that are not periodic.
var retried = []string{expireUpload{}.Kind(), purgeAccount{}.Kind(), sendMail{}.Kind()}

// EachFailed calls fn with each job that waits for another attempt, or has had its last one in the
// last 7 days, after which River deletes it, from the oldest to the newest. Periodic jobs and jobs
// for webhooks are left out: a new job replaces one that has failed.
func (q *Queue) EachFailed(ctx context.Context, fn func(Failed) error) error {
	list := river.NewJobListParams().Kinds(retried...).States(rivertype.JobStateRetryable, rivertype.JobStateDiscarded).
		OrderBy(river.JobListOrderByID, river.SortOrderAsc)
	for {
		page, err := q.client.JobList(ctx, list)
		if err != nil {
			return fmt.Errorf("jobs: %w", err)
		}
		if len(page.Jobs) == 0 {
			return nil
		}
		for _, job := range page.Jobs {
			f := Failed{ID: job.ID, Kind: job.Kind, Arguments: string(job.EncodedArgs), Attempts: job.Attempt}
			if job.State == rivertype.JobStateRetryable {
				f.Next = &job.ScheduledAt
			}
			if n := len(job.Errors); n > 0 {
				f.Error = job.Errors[n-1].Error
			}
			if err := fn(f); err != nil {
				return err
			}
		}
		list = list.After(page.LastCursor)
	}
}

// Retry makes a failed job run now on a running server, once more if it has had its last attempt.
// It returns ErrNotFailed for other jobs. It opens a transaction.
func (q *Queue) Retry(ctx context.Context, id int64) error {
	tx, err := q.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("retry job %d: %w", id, err)
	}
	defer func() { _ = tx.Rollback() }() // without effect after Commit
	// River also retries jobs that have completed, so this statement locks the row in its state.
	locked, err := tx.ExecContext(ctx,
		"UPDATE river_job SET state = state WHERE id = $1 AND state IN ('retryable', 'discarded') AND kind IN ($2, $3, $4)",
		id, retried[0], retried[1], retried[2])
	n := int64(0)
	if err == nil {
		n, err = locked.RowsAffected()
	}
	if err == nil && n == 0 {
		return fmt.Errorf("%d %w", id, ErrNotFailed)
	}
	if err == nil {
		_, err = q.client.JobRetryTx(ctx, tx, id)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return fmt.Errorf("retry job %d: %w", id, err)
	}
	return nil
}
