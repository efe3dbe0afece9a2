package jobs

import (
	"context"
	"database/sql"
	"time"

	"github.com/riverqueue/river"
)

// ExpireUpload inserts in tx the job that expires a pending upload at the given time.
func (q *Queue) ExpireUpload(ctx context.Context, tx *sql.Tx, fileID int64, at time.Time) error {
	_, err := q.client.InsertTx(ctx, tx, expireUpload{fileID}, &river.InsertOpts{ScheduledAt: at})
	return err
}

// PurgeAccount inserts in tx the job that deletes the objects of a deleted user at the given time,
// or now if the time is zero.
func (q *Queue) PurgeAccount(ctx context.Context, tx *sql.Tx, userID int64, at time.Time) error {
	_, err := q.client.InsertTx(ctx, tx, purgeAccount{userID}, &river.InsertOpts{ScheduledAt: at})
	return err
}

// FinishUpdate inserts in tx the job that ends a bulk update at the given time.
func (q *Queue) FinishUpdate(ctx context.Context, tx *sql.Tx, updateID int64, at time.Time) error {
	_, err := q.client.InsertTx(ctx, tx, finishUpdate{updateID}, &river.InsertOpts{ScheduledAt: at})
	return err
}

// DeliverWebhook inserts in tx the job that sends the messages of a webhook at the given time, or
// now if the time is zero. If the job fails three times, the next DeliverOverdue inserts a new one.
func (q *Queue) DeliverWebhook(ctx context.Context, tx *sql.Tx, webhookID int64, at time.Time) error {
	_, err := q.client.InsertTx(ctx, tx, deliverWebhook{webhookID},
		&river.InsertOpts{Queue: Webhooks, MaxAttempts: 3, ScheduledAt: at})
	return err
}

// DrivePrinter inserts in tx the job that looks at a printer at the given time, or now if the time
// is zero. It is not retried: the next DriveOverdue inserts a new one.
func (q *Queue) DrivePrinter(ctx context.Context, tx *sql.Tx, printerID int64, at time.Time) error {
	_, err := q.client.InsertTx(ctx, tx, drivePrinter{printerID},
		&river.InsertOpts{Queue: Printers, MaxAttempts: 1, ScheduledAt: at})
	return err
}

// mailAttempts is the maximum number of attempts to send a mail. With the backoff of River they
// take about an hour.
const mailAttempts = 7

// SendMail inserts in tx the job that writes and sends a mail.
func (q *Queue) SendMail(ctx context.Context, tx *sql.Tx, m Mail) error {
	_, err := q.client.InsertTx(ctx, tx, sendMail{m}, &river.InsertOpts{Queue: Mails, MaxAttempts: mailAttempts})
	return err
}
