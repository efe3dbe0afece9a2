package printer

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/models"
)

// State is the state of a print.
type State string

// The states of a print.
const (
	Queued   State = "queued"  // waits for the printer
	Held     State = "held"    // waits for the user to confirm that the bed is empty
	Sending  State = "sending" // stored before the first byte is sent
	Printing State = "printing"
	// Unknown means that the file may have been sent, or that the printer does not report how the
	// print ended. Only the user can decide whether it is sent again.
	Unknown   State = "unknown"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// maxQueue is the maximum number of prints that wait for a printer.
const maxQueue = 20

// Job is a print: a file that a user has sent to a printer.
type Job struct {
	bun.BaseModel `bun:"table:print_jobs,alias:pj"`
	database.Listed

	ID               int64 `bun:",pk,autoincrement" reads:"OwnerID"`
	PrinterID        int64
	OwnerID          int64
	FileID           int64 `bun:",nullzero"` // 0: the file was deleted
	FileName         string
	RemoteName       string // on the printer; empty: it was never sent
	Size             int64
	State            State
	HasWaited        bool    // for another print, which may still be on the bed
	HasStarted       bool    // the printer has reported that it prints
	IsOnPrinter      *bool   // what the printer said about an unknown print; nil: nothing
	Progress         float64 // from 0 to 1
	RemainingSeconds *int32
	Message          string // what the user should know; may be empty
	SentAt           *time.Time
	CanceledAt       *time.Time // when the user has asked for it
	EndedAt          *time.Time
	MakeID           int64 `bun:",nullzero"` // the post about the print; 0: none
	CreatedAt        time.Time
}

// JobFields is a set of fields of a print.
type JobFields = fieldset.Set[Job]

var jobs = database.NewTable(func(j *Job) (int64, *database.Listed) { return j.ID, &j.Listed })

// AllJobFields has all fields of a print.
var AllJobFields = jobs.All()

// picture is the picture of the camera when a print was done.
type picture struct {
	bun.BaseModel `bun:"table:print_pictures"`

	JobID   int64 `bun:",pk"`
	Content []byte
}

// NodeID returns the node ID of the print.
func (j *Job) NodeID() string { return models.NodeRef{Type: "PrintJob", ID: j.ID}.NodeID() }

// Allows returns nil if the print belongs to the caller, else NotFound. It returns Forbidden to
// applications.
func (j *Job) Allows(caller auth.Caller) error {
	if err := manages(caller); err != nil {
		return err
	}
	if j.OwnerID != caller.UserID {
		return models.NoSuch("print", j.ID)
	}
	return nil
}

type jobsOf struct{}

func (jobsOf) Select(b *database.Builder, printerID any) *bun.SelectQuery {
	return b.Select().TableExpr("print_jobs AS pj").Where("pj.printer_id = ?", printerID)
}

// JobsOf lists the prints of a printer, the latest first. It does not check permissions: the caller
// must own the printer.
func (s *Store) JobsOf() models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "pj.id"}, Rows: jobsOf{}}
}

// Send is the input of SendToPrinter.
type Send struct {
	PrinterID int64
	FileID    int64
}

// SendToPrinter adds a file that the caller can see to the queue of a printer of the caller. It
// returns Conflict if the same file waits already or may have been sent, and if the queue is full.
// It opens a transaction.
func (s *Store) SendToPrinter(ctx context.Context, caller auth.Caller, n Send) (*Job, error) {
	if err := manages(caller); err != nil {
		return nil, err
	}
	f, err := s.core.File(ctx, caller, models.ContentFields, n.FileID)
	if err != nil {
		return nil, models.About("fileId", err)
	}
	switch {
	case f.State != models.Finalized:
		return nil, models.Fail(models.Conflict, "file %d is a pending upload", f.ID)
	case f.TakenDown():
		return nil, f.Down()
	case !f.IsAvailable():
		return nil, f.Unavailable()
	}
	j := &Job{OwnerID: caller.UserID, FileID: f.ID, FileName: f.Name, Size: f.Size, State: Queued, CreatedAt: models.Now()}
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		p := new(Printer)
		if err := s.lock(ctx, tx, p, n.PrinterID, caller); err != nil {
			return models.About("printerId", err)
		}
		if err := p.Kind.Takes(f.Name); err != nil {
			return models.Invalid("fileId", "fileId: %s", err)
		}
		var waiting []*Job
		err := tx.NewSelect().Model(&waiting).Where("pj.printer_id = ? AND pj.state IN (?)", p.ID,
			bun.List([]State{Queued, Held, Sending, Unknown})).
			Order("pj.id").Scan(ctx)
		if err != nil {
			return err
		}
		for _, w := range waiting {
			switch {
			case w.FileID == f.ID && w.State == Unknown:
				return models.Fail(models.Conflict, "print %d of the same file may have been printed: start it again, or cancel it",
					w.ID)
			case w.FileID == f.ID:
				return models.Fail(models.Conflict, "print %d of the same file is already waiting", w.ID)
			}
		}
		if len(waiting) >= maxQueue {
			e := models.Fail(models.Conflict, "%d prints wait for the printer, and at most %d are allowed", len(waiting),
				maxQueue)
			e.Limit = maxQueue
			return e
		}
		j.PrinterID = p.ID
		if _, err := tx.NewInsert().Model(j).Exec(ctx); err != nil {
			return err
		}
		return s.wake(ctx, tx, p)
	})
	return j, err
}

// wake schedules a job for a locked printer, unless one is scheduled.
func (s *Store) wake(ctx context.Context, tx bun.Tx, p *Printer) error {
	if p.NextAt != nil {
		return nil
	}
	at := models.Now()
	if _, err := tx.NewUpdate().Model((*Printer)(nil)).Set("next_at = ?", at).Where("id = ?", p.ID).Exec(ctx); err != nil {
		return err
	}
	return s.core.Enqueue(ctx, tx, models.Work{DrivePrinter: p.ID})
}

// withJob locks the printer of a print of the caller and the print, and calls fn in the same
// transaction.
func (s *Store) withJob(ctx context.Context, caller auth.Caller, id int64, fn func(ctx context.Context, tx bun.Tx,
	p *Printer, j *Job) error) (*Job, error) {
	if err := manages(caller); err != nil {
		return nil, err
	}
	j := new(Job)
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := tx.NewSelect().Model(j).Where("pj.id = ? AND pj.owner_id = ?", id, caller.UserID).Scan(ctx); err != nil {
			return models.NoSuchIfNoRows(err, "print", id)
		}
		p := new(Printer)
		if err := s.lock(ctx, tx, p, j.PrinterID, caller); err != nil {
			return err
		}
		if err := s.core.DB.ForUpdate(tx.NewSelect().Model(j).Where("pj.id = ?", id)).Scan(ctx); err != nil {
			return models.NoSuchIfNoRows(err, "print", id)
		}
		return fn(ctx, tx, p, j)
	})
	return j, err
}

// StartPrint queues a print of the caller that is held or unknown. It is the answer to the question
// whether the bed is empty and whether the file is to be sent, perhaps again. It returns Conflict
// for prints in other states. It opens a transaction.
func (s *Store) StartPrint(ctx context.Context, caller auth.Caller, id int64) (*Job, error) {
	return s.withJob(ctx, caller, id, func(ctx context.Context, tx bun.Tx, p *Printer, j *Job) error {
		if j.State != Held && j.State != Unknown {
			return models.Fail(models.Conflict, "print %d is %s: only a held or unknown print can be started", j.ID, j.State)
		}
		if j.FileID == 0 {
			return models.Fail(models.Conflict, "the file of print %d was deleted", j.ID)
		}
		j.State, j.Message, j.HasWaited, j.HasStarted, j.IsOnPrinter, j.Progress, j.RemainingSeconds, j.SentAt,
			j.CanceledAt = Queued, "", false, false, nil, 0, nil, nil, nil
		if _, err := j.update(tx).WherePK().Exec(ctx); err != nil {
			return err
		}
		return s.wake(ctx, tx, p)
	})
}

// CancelPrint removes a print of the caller from the queue, closes an unknown one, or asks the
// printer to cancel it. It returns Conflict while the file is being sent, if the print has ended,
// and if the printer cannot be asked. It opens a transaction.
func (s *Store) CancelPrint(ctx context.Context, caller auth.Caller, id int64) (*Job, error) {
	var p *Printer
	j, err := s.withJob(ctx, caller, id, func(ctx context.Context, tx bun.Tx, of *Printer, j *Job) error {
		p = nil
		switch j.State {
		case Queued, Held, Unknown:
			at := models.Now()
			j.State, j.EndedAt, j.CanceledAt = Cancelled, &at, &at
			_, err := j.update(tx).WherePK().Exec(ctx)
			return err
		case Sending:
			return models.Fail(models.Conflict, "print %d is being sent: wait until the printer has the file", j.ID)
		case Printing:
			p = of
			return nil
		}
		return models.Fail(models.Conflict, "print %d has ended", j.ID)
	})
	if err != nil || p == nil {
		return j, err
	}
	client, err := s.client(ctx, p)
	if err == nil {
		err = client.Cancel(ctx, j.RemoteName)
	}
	if err != nil {
		if reason := theirs(err); reason != "" && ctx.Err() == nil {
			return nil, models.Fail(models.Conflict, "print %d cannot be canceled: %s", j.ID, reason)
		}
		return nil, err
	}
	at := models.Now()
	j.CanceledAt, j.Message = &at, "the printer was asked to cancel the print"
	_, err = s.core.DB.Write.NewUpdate().Model(j).Column("canceled_at", "message").WherePK().Where("state = ?", Printing).
		Exec(ctx)
	return j, err
}

// update returns the statement that stores what changes after a print was created.
func (j *Job) update(db bun.IDB) *bun.UpdateQuery {
	return db.NewUpdate().Model(j).Column("remote_name", "state", "has_waited", "has_started", "is_on_printer", "progress",
		"remaining_seconds", "message",
		"sent_at", "canceled_at", "ended_at")
}
