package printer

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/printer"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/activity"
)

const (
	// maxWait is how long a print waits for a printer that cannot be reached.
	maxWait = 24 * time.Hour
	// maxPrint is how long a print is followed.
	maxPrint = 14 * 24 * time.Hour
)

// Drive looks at a printer once, if that is due: it sends the next print of its queue or asks how
// far the print is. It schedules the next look, until no print is left.
//
// A file is sent at most once. The state Sending is committed before the first byte is sent. If the
// process dies, nothing renews the lease of the printer, and the next look finds the print in this
// state. It asks the printer whether it has the whole file, under a name that is used once. If so,
// the file was sent. Otherwise the print becomes Unknown, and only its user can start it again.
func (s *Store) Drive(ctx context.Context, id int64) error {
	p := new(Printer)
	at := models.Now()
	err := s.core.DB.Write.NewUpdate().Model(p).Set("next_at = ?", at.Add(s.options.Lease)).
		Where("id = ? AND next_at <= ?", id, at).Returning("*").Scan(ctx)
	if err != nil {
		return models.IgnoreNoRows(err) // it is not due, or was deleted
	}
	err = s.look(ctx, p)
	return errors.Join(err, s.core.DB.InTx(context.WithoutCancel(ctx),
		func(ctx context.Context, tx bun.Tx) error { return s.reschedule(ctx, tx, id) }))
}

// reschedule schedules the next look at a printer, if it has prints to look at.
func (s *Store) reschedule(ctx context.Context, tx bun.Tx, id int64) error {
	p := new(Printer)
	if err := s.core.DB.ForUpdate(tx.NewSelect().Model(p).Where("pr.id = ?", id)).Scan(ctx); err != nil {
		return models.IgnoreNoRows(err)
	}
	open, err := tx.NewSelect().Model((*Job)(nil)).Where("pj.printer_id = ? AND pj.state IN (?)", id,
		bun.List([]State{Queued, Sending, Printing})).Exists(ctx)
	if err != nil {
		return err
	}
	if !open {
		_, err := tx.NewUpdate().Model((*Printer)(nil)).Set("next_at = NULL").Where("id = ?", id).Exec(ctx)
		return err
	}
	next := models.Now().Add(s.options.Poll)
	if _, err := tx.NewUpdate().Model((*Printer)(nil)).Set("next_at = ?", next).Where("id = ?", id).Exec(ctx); err != nil {
		return err
	}
	return s.core.Enqueue(ctx, tx, models.Work{DrivePrinter: id, At: next})
}

// DriveOverdue schedules jobs for printers whose jobs were lost when a server died.
func (s *Store) DriveOverdue(ctx context.Context) error {
	var ids []int64
	at := models.Now()
	err := s.core.DB.Read.NewSelect().Model((*Printer)(nil)).Column("pr.id").Where("pr.next_at <= ?", at).Scan(ctx, &ids)
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		for _, id := range ids {
			if err := s.core.Enqueue(ctx, tx, models.Work{DrivePrinter: id}); err != nil {
				return err
			}
		}
		return nil
	})
}

// look looks at the current print of a printer, or else at the next one.
func (s *Store) look(ctx context.Context, p *Printer) error {
	var open []*Job
	err := s.core.DB.Write.NewSelect().Model(&open).Where("pj.printer_id = ? AND pj.state IN (?)", p.ID,
		bun.List([]State{Queued, Sending, Printing})).
		Order("pj.id").Scan(ctx)
	if err != nil || len(open) == 0 {
		return err
	}
	j := open[0]
	for _, o := range open {
		if o.State != Queued {
			j = o
			break
		}
	}
	client, err := s.client(ctx, p)
	switch reason := theirs(err); {
	case err != nil && reason == "":
		return err
	case err != nil && j.State == Queued:
		return s.record(ctx, j, Queued, func() { j.end(Failed, reason) })
	case err != nil:
		return s.record(ctx, j, j.State, func() { j.doubt(reason) })
	}
	switch j.State {
	case Sending:
		return s.recover(ctx, client, j, "the server stopped while it sent the file")
	case Printing:
		return s.follow(ctx, client, j)
	}
	return s.begin(ctx, p, client, j)
}

// end sets the final state of a print.
func (j *Job) end(state State, message string) {
	at := models.Now()
	j.State, j.Message, j.EndedAt, j.RemainingSeconds = state, message, &at, nil
}

// doubt makes a print unknown.
func (j *Job) doubt(message string) {
	j.State, j.Message, j.RemainingSeconds = Unknown, message, nil
}

// record changes a print and stores it, unless it is no longer in a state. Prints that wait for the
// same printer have waited then: what was printed may still be on the bed.
func (s *Store) record(ctx context.Context, j *Job, from State, change func()) error {
	ctx = context.WithoutCancel(ctx)
	change()
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := j.update(tx).WherePK().Where("state = ?", from).Exec(ctx); err != nil {
			return err
		}
		if j.State == Queued || j.State == Held || j.SentAt == nil && j.State == Failed {
			return nil
		}
		_, err := tx.NewUpdate().Model((*Job)(nil)).Set("has_waited = ?", true).
			Where("printer_id = ? AND state = ? AND id <> ?", j.PrinterID, Queued, j.ID).Exec(ctx)
		return err
	})
}

// begin sends a queued print if the printer is idle.
func (s *Store) begin(ctx context.Context, p *Printer, client printer.Printer, j *Job) error {
	status, err := client.Status(ctx, "")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case err != nil && printer.IsUnreachable(err) && models.Now().Sub(j.CreatedAt) < maxWait:
		return s.record(ctx, j, Queued, func() { j.Message = err.Error() })
	case err != nil:
		return s.record(ctx, j, Queued, func() { j.end(Failed, err.Error()) })
	case status.Phase == printer.Offline:
		return s.record(ctx, j, Queued, func() { j.Message = "the printer is not ready" })
	case status.Phase != printer.Idle:
		return s.record(ctx, j, Queued, func() { j.HasWaited, j.Message = true, "the printer is busy" })
	case j.HasWaited:
		return s.record(ctx, j, Queued, func() { j.State, j.Message = Held, "the last print may still be on the bed" })
	}
	return s.send(ctx, p, client, j)
}

// send sends a queued print.
func (s *Store) send(ctx context.Context, p *Printer, client printer.Printer, j *Job) error {
	f, key, err := s.core.Blob(ctx, j.FileID, models.Signed, nil)
	if code := models.CodeOf(err); code == models.NotFound || code == models.Forbidden {
		return s.record(ctx, j, Queued, func() { j.end(Failed, err.Error()) })
	} else if err != nil {
		return err
	}
	content, _, err := s.core.Bucket.Reader(ctx, key)
	if err != nil {
		if models.Now().Sub(j.CreatedAt) < maxWait {
			return errors.Join(err, s.record(ctx, j, Queued, func() { j.Message = "the file cannot be read now" }))
		}
		return errors.Join(err, s.record(ctx, j, Queued, func() { j.end(Failed, "the file cannot be read") }))
	}
	defer content.Close()
	j.RemoteName = printer.RemoteName(f.Name, strings.ToLower(rand.Text()[:10]))
	claimed := false
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		claimed = false
		j.State, j.Message, j.Size = Sending, "", f.Size
		result, err := tx.NewUpdate().Model(j).Column("state", "message", "remote_name", "size").WherePK().
			Where("state = ?", Queued).Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return err
		}
		claimed = true
		if f.ThingID != 0 {
			if err := s.activity.InsertDownload(ctx, tx, &activity.Download{UserID: j.OwnerID, FileID: f.ID, ThingID: f.ThingID,
				CreatedAt: models.Now()}); err != nil {
				return err
			}
		}
		// If this process dies, this job notices.
		return s.core.Enqueue(ctx, tx, models.Work{DrivePrinter: p.ID, At: models.Now().Add(s.options.Lease + time.Second)})
	})
	if database.IsForeignKey(err) {
		j.State = Queued
		return s.record(ctx, j, Queued, func() { j.end(Failed, "the file was deleted") })
	}
	if err != nil || !claimed {
		return err
	}
	defer s.renew(ctx, p.ID)()
	err = client.Send(ctx, printer.File{Name: j.RemoteName, Size: f.Size, SHA256: f.SHA256, Content: content})
	switch {
	case err == nil:
		return s.record(ctx, j, Sending, j.sent)
	case printer.IsUncertain(err):
		if ctx.Err() != nil {
			return s.record(ctx, j, Sending, func() { j.doubt("the server stopped while it sent the file") })
		}
		return s.recover(ctx, client, j, err.Error())
	}
	return s.record(ctx, j, Sending, func() { j.end(Failed, err.Error()) })
}

// sent marks a print as received by the printer.
func (j *Job) sent() {
	at := models.Now()
	j.State, j.SentAt, j.Message = Printing, &at, ""
}

// renew renews the lease of a printer until the returned function is called.
func (s *Store) renew(ctx context.Context, id int64) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(s.options.Lease / 4)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				// An error is ignored: the next tick tries again.
				_, _ = s.core.DB.Write.NewUpdate().Model((*Printer)(nil)).Set("next_at = ?", models.Now().Add(s.options.Lease)).
					Where("id = ?", id).Exec(ctx)
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// recover decides about a print whose file may have been sent: it asks the printer.
func (s *Store) recover(ctx context.Context, client printer.Printer, j *Job, reason string) error {
	has, err := client.Has(ctx, j.RemoteName, j.Size)
	if err == nil && has {
		return s.record(ctx, j, Sending, j.sent)
	}
	return s.record(ctx, j, Sending, func() {
		j.doubt(reason)
		if err == nil {
			j.IsOnPrinter = &has
		}
	})
}

// follow asks a printer how far a print is.
func (s *Store) follow(ctx context.Context, client printer.Printer, j *Job) error {
	status, err := client.Status(ctx, j.RemoteName)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var since time.Duration
	if j.SentAt != nil {
		since = models.Now().Sub(*j.SentAt)
	}
	return s.record(ctx, j, Printing, func() {
		switch {
		case since > maxPrint:
			j.doubt("the printer has not reported the end of the print for two weeks")
		case err != nil:
			j.Message = err.Error()
		default:
			j.advance(status, since > s.options.Grace)
		}
	})
}

// advance applies what the printer reports. late is set if the printer had enough time to begin.
func (j *Job) advance(status printer.Status, late bool) {
	last := j.Progress
	switch status.Phase {
	case printer.Printing, printer.Paused:
		j.HasStarted, j.Progress, j.Message, j.RemainingSeconds = true, status.Progress, "", nil
		if status.Phase == printer.Paused {
			j.Message = "the printer is paused"
		} else if j.CanceledAt != nil {
			j.Message = "the printer was asked to cancel the print"
		}
		if status.Remaining > 0 {
			j.RemainingSeconds = new(int32(status.Remaining / time.Second))
		}
	case printer.Done:
		j.Progress = 1
		j.end(Done, "")
	case printer.Failed:
		j.end(Failed, "the printer reports an error")
	case printer.Offline:
		j.Message = "the printer is not ready"
	default: // it does not print the file any more, or not yet
		switch {
		case j.CanceledAt != nil, status.Phase == printer.Cancelled && j.HasStarted:
			j.end(Cancelled, "")
		case !j.HasStarted && !late:
		case status.Phase == printer.Cancelled:
			j.end(Failed, "the printer has the file, but has not printed it")
		case last >= 0.99:
			j.Progress = 1
			j.end(Done, "")
		default:
			j.doubt("the printer does not report how the print ended")
		}
	}
}
