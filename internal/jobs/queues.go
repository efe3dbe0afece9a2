package jobs

import (
	"context"
	"fmt"

	"github.com/riverqueue/river"
)

// The queues. A job is in the queue of the servers that can run it, so no server takes a job that
// it would have to leave undone.
const (
	Default  = river.QueueDefault
	Mails    = "mail"     // run by servers that have a mail server
	Webhooks = "webhooks" // apart from the others, so that slow receivers do not delay them
	Printers = "printers" // apart from the others, because uploads to printers take minutes
)

// workers are the numbers of jobs of each queue that a server runs concurrently. Each job for a
// webhook or a printer takes a goroutine that waits for it.
var workers = map[string]int{Default: 4, Mails: 4, Webhooks: 64, Printers: 32}

// configure returns the configuration of the queues whose jobs this server runs.
func (q *Queue) configure(queues []string) map[string]river.QueueConfig {
	q.works = len(queues) > 0
	configured := make(map[string]river.QueueConfig)
	for _, queue := range queues {
		configured[queue] = river.QueueConfig{MaxWorkers: workers[queue]}
	}
	return configured
}

// leaveMail leaves a mail that an earlier version of the program has queued among other jobs to a
// server that sends mails.
func (q *Queue) leaveMail(ctx context.Context, id int64) error {
	if _, err := q.db.ExecContext(ctx, "UPDATE river_job SET queue = '"+Mails+"' WHERE id = $1", id); err != nil {
		return fmt.Errorf("leave mail to another server: %w", err)
	}
	return river.JobSnooze(0)
}
