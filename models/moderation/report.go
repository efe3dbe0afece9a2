package moderation

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/models"
)

// ReportReason is what is wrong with reported content.
type ReportReason string

// The reasons of reports.
const (
	ReportSpam      ReportReason = "spam"
	ReportAbuse     ReportReason = "abuse"
	ReportCopyright ReportReason = "copyright"
	ReportSexual    ReportReason = "sexual"
	ReportDangerous ReportReason = "dangerous"
	ReportOther     ReportReason = "other"
)

// ReportState is the state of a report.
type ReportState string

// The states of reports.
const (
	Open      ReportState = "open"
	Resolved  ReportState = "resolved"
	Dismissed ReportState = "dismissed"
)

// maxOpenReports is the maximum number of open reports of one user.
const maxOpenReports = 100

// Report is a report of content to the moderators.
type Report struct {
	bun.BaseModel `bun:"table:reports,alias:rp"`
	database.Listed

	ID         int64 `bun:",pk,autoincrement" reads:"UserID"`
	ReporterID int64
	TargetType models.TargetType
	TargetID   int64
	UserID     int64 // who created the object, or the reported user
	Reason     ReportReason
	Note       string // by the reporter
	State      ReportState
	DecidedBy  int64 `bun:",nullzero"` // 0: it is open, or another user deleted the object
	DecidedAt  *time.Time
	Decision   string // why
	CreatedAt  time.Time
}

// ReportFields is a set of fields of a report.
type ReportFields = fieldset.Set[Report]

var reports = database.NewTable(func(r *Report) (int64, *database.Listed) { return r.ID, &r.Listed })

// AllReportFields has all fields of a report.
var AllReportFields = reports.All()

// NewReport is the input of ReportContent.
type NewReport struct {
	NodeID string // of a thing, a make, a comment, a collection or a user
	Reason ReportReason
	Note   string
}

// reportable are the types of objects that can be reported, by their names in node IDs.
var reportable = map[string]models.TargetType{"Thing": models.OnThing, "Make": models.OnMake,
	"Comment": models.OnComment, "Collection": models.OnCollection, "User": models.OnUser}

// ReportContent reports an object of another user that the caller can see. If the caller has an
// open report of the object, it returns that report. It returns BadInput for the caller's own
// objects, and Conflict if the caller has too many open reports. It opens a transaction.
func (s *Store) ReportContent(ctx context.Context, caller auth.Caller, n NewReport) (*Report, error) {
	if err := models.CheckText("note", n.Note, models.MaxReason); err != nil {
		return nil, err
	}
	ref := models.ParseNodeID(n.NodeID)
	target := models.Target{Type: reportable[ref.Type], ID: ref.ID}
	if target.Type == "" {
		return nil, models.Invalid("nodeId",
			"nodeId: %.60q is not the id of a thing, a make, a comment, a collection or a user", n.NodeID)
	}
	var id int64
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		owner, err := s.lockVisibleReportable(ctx, tx, caller, target)
		if err != nil {
			return err
		}
		if owner == caller.UserID {
			return models.Invalid("nodeId", "nodeId: must not be yourself or your own content")
		}
		if id, err = s.insertReport(ctx, tx, caller, target, owner, n.Reason, n.Note); err != nil {
			return err
		}
		if target.Type == models.OnComment && n.Reason == ReportSpam {
			_, err = tx.NewUpdate().Model((*models.Comment)(nil)).Set("reported_at = coalesce(reported_at, ?)", models.Now()).
				Where("id = ? AND deleted_at IS NULL", target.ID).Exec(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.report(ctx, id)
}

// lockVisibleReportable checks that an object exists and that the caller can see it, prevents its
// deletion until tx ends, and returns the user who created it. For a user, it returns that user.
func (s *Store) lockVisibleReportable(ctx context.Context, tx bun.Tx, caller auth.Caller,
	target models.Target) (owner int64, err error) {
	switch target.Type {
	case models.OnUser:
		u, err := s.core.LockAccount(ctx, tx, target.ID)
		return u.ID, err
	case models.OnComment:
		// The target is locked before the comment, as in deletions.
		c := new(models.Comment)
		comment := func() *bun.SelectQuery {
			return tx.NewSelect().Model(c).Where("cm.id = ? AND cm.deleted_at IS NULL", target.ID)
		}
		if err := comment().Scan(ctx); err != nil {
			return 0, models.NoSuchIfNoRows(err, "comment", target.ID)
		}
		if _, err := s.core.LockVisibleTarget(ctx, tx, caller,
			models.Target{Type: c.TargetType, ID: c.TargetID}); err != nil {
			return 0, models.OfHiddenComment(err, c.ID)
		}
		err := s.core.DB.ForShare(comment()).Scan(ctx)
		return c.OwnerID, models.NoSuchIfNoRows(err, "comment", target.ID)
	}
	return s.core.LockVisibleLikeable(ctx, tx, caller, target)
}

// insertReport inserts a report of the caller, unless the caller has an open report of the target,
// and returns the ID of the open report. It returns Conflict if the caller has too many open
// reports.
func (s *Store) insertReport(ctx context.Context, tx bun.Tx, caller auth.Caller, target models.Target, owner int64,
	reason ReportReason, note string) (id int64, err error) {
	// The reporter is locked, so that concurrent calls cannot exceed the limit.
	if _, err := s.core.LockAccount(ctx, tx, caller.UserID); err != nil {
		return 0, err
	}
	err = tx.NewSelect().Model((*Report)(nil)).Column("rp.id").
		Where("rp.reporter_id = ? AND rp.target_type = ? AND rp.target_id = ? AND rp.state = ?", caller.UserID, target.Type,
			target.ID, Open).Scan(ctx, &id)
	if err := models.IgnoreNoRows(err); err != nil || id != 0 {
		return id, err
	}
	open, err := tx.NewSelect().Model((*Report)(nil)).Where("rp.reporter_id = ? AND rp.state = ?", caller.UserID, Open).
		Count(ctx)
	if err != nil {
		return 0, err
	}
	if open >= maxOpenReports {
		e := models.Fail(models.Conflict, "you have %d open reports, and at most %d are allowed", open, maxOpenReports)
		e.Limit = maxOpenReports
		return 0, e
	}
	r := &Report{ReporterID: caller.UserID, TargetType: target.Type, TargetID: target.ID, UserID: owner, Reason: reason,
		Note: note, State: Open, CreatedAt: models.Now()}
	if _, err := tx.NewInsert().Model(r).Exec(ctx); err != nil {
		return 0, err
	}
	return r.ID, s.core.Raise(ctx, tx, Reported{r})
}

// DecidedReport is the result of [Store.DecideReport].
type DecidedReport struct {
	Report *Report
	Closed []int64 // the IDs of all reports that were closed, the latest first
}

// DecideReport resolves or dismisses a report, and all other open reports of the same object. It
// requires a moderator or an administrator, and a reason. If the report was decided in the same way
// before, nothing changes; if it was decided differently, it returns Conflict. It returns NotFound
// for a report that the caller does not see, see [Store.Reports]. It opens a transaction.
func (s *Store) DecideReport(ctx context.Context, caller auth.Caller, id int64, as ReportState,
	reason string) (*DecidedReport, error) {
	if err := checkDecision(caller, reason); err != nil {
		return nil, err
	}
	var closed []int64
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		closed = nil // a repeated transaction may find the report decided
		r := new(Report)
		if err := s.core.DB.ForUpdate(tx.NewSelect().Model(r).Where("rp.id = ?", id)).Scan(ctx); err != nil {
			return models.NoSuchIfNoRows(err, "report", id)
		}
		if r.UserID == caller.UserID && !caller.Administers() {
			return models.NoSuch("report", id)
		}
		switch r.State {
		case as:
			return nil
		case Open:
		default:
			return models.Fail(models.Conflict, "report %d was %s before", id, r.State)
		}
		target := models.Target{Type: r.TargetType, ID: r.TargetID}
		var err error
		if closed, err = decideReports(ctx, tx, caller, target, as, reason); err != nil {
			return err
		}
		if target.Type == models.OnComment {
			if _, err := tx.NewUpdate().Model((*models.Comment)(nil)).Set("reported_at = NULL").Where("id = ?", target.ID).
				Exec(ctx); err != nil {
				return err
			}
		}
		e := models.ModerationEntry{Action: models.ResolvedReport, UserID: r.UserID, ObjectID: id, Reason: reason}
		if as == Dismissed {
			e.Action = models.DismissedReport
		}
		if target.Type == models.OnThing {
			e.ThingID = target.ID
		}
		return s.core.Record(ctx, tx, caller, e)
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(closed)
	slices.Reverse(closed)
	r, err := s.report(ctx, id)
	return &DecidedReport{Report: r, Closed: closed}, err
}

// decideReports closes the open reports of an object by a decision of the caller, and returns their
// IDs.
func decideReports(ctx context.Context, tx bun.Tx, caller auth.Caller, target models.Target, as ReportState,
	reason string) (closed []int64, err error) {
	err = tx.NewUpdate().Model((*Report)(nil)).Set("state = ?, decided_by = ?, decided_at = ?, decision = ?", as,
		caller.UserID, models.Now(), reason).
		Where("target_type = ? AND target_id = ? AND state = ?", target.Type, target.ID, Open).Returning("id").
		Scan(ctx, &closed)
	return closed, models.IgnoreNoRows(err)
}

// closeReports resolves the open reports of an object that is deleted.
func closeReports(ctx context.Context, tx bun.Tx, target models.Target) error {
	_, err := tx.NewUpdate().Model((*Report)(nil)).Set("state = ?", Resolved).
		Where("target_type = ? AND target_id = ? AND state = ?", target.Type, target.ID, Open).Exec(ctx)
	return err
}

type allReports struct {
	state  ReportState // empty: all
	others bool        // without reports about the caller
}

func (l allReports) Select(b *database.Builder, _ any) *bun.SelectQuery {
	q := b.Select().TableExpr("reports AS rp")
	if l.state != "" {
		q = q.Where("rp.state = ?", l.state)
	}
	if l.others {
		q = q.Where("rp.user_id <> ?", b.Arg(database.CallerArg))
	}
	return q
}

// Reports lists the reports in a state, or all if the state is empty, the latest first. It requires
// a moderator or an administrator. Moderators do not see reports about themselves, which would
// reveal the reporters to them.
func (s *Store) Reports(caller auth.Caller, state ReportState) (models.List, error) {
	if err := models.RequireModerator(caller); err != nil {
		return models.List{}, err
	}
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "rp.id"}, Rows: allReports{state, !caller.Administers()},
		Caller: caller.UserID}, nil
}

// Allows returns nil if the caller may read the report, as [Store.Reports] lists it, else
// Forbidden.
func (r *Report) Allows(caller auth.Caller) error {
	if !caller.Moderates() || r.UserID == caller.UserID && !caller.Administers() {
		return models.Fail(models.Forbidden, "report %d is visible to other moderators and to administrators", r.ID)
	}
	return nil
}

// report returns a report by its ID.
func (s *Store) report(ctx context.Context, id int64) (*Report, error) {
	return models.One(s.core, ctx, auth.Caller{}, reports, AllReportFields, "report", id)
}

// NodeID returns the node ID of the report.
func (r *Report) NodeID() string { return models.NodeRef{Type: "Report", ID: r.ID}.NodeID() }

// Reported is the event of a new report.
type Reported struct{ Report *Report }

// react closes the reports about what is deleted. If a moderator deletes it, that decides
// them.
func (s *Store) react(ctx context.Context, tx bun.Tx, e models.Event) error {
	d, deleted := e.(models.ObjectDeleted)
	if !deleted {
		return nil
	}
	if d.Reason != "" && d.By.UserID != 0 && d.By.UserID != d.Owner {
		if err := models.CheckReason(d.Reason); err != nil {
			return err
		}
		if _, err := decideReports(ctx, tx, d.By, d.Target, Resolved, d.Reason); err != nil {
			return err
		}
	}
	if d.Target.Type == models.OnComment || d.Target.Type == models.OnUser {
		return closeReports(ctx, tx, d.Target)
	}
	return nil
}
