package webhook

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/webhook"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/moderation"
)

// occurrence describes an event to emit.
type occurrence struct {
	event Event
	// owners are the users whose content it concerns. Their webhooks receive it.
	owners []int64
	// report returns which webhooks may receive the event, and its data. It is called only if a
	// webhook is subscribed to the event.
	report func() (audience, eventData, error)
}

// audience determines which webhooks may receive an event.
type audience struct {
	public bool // global webhooks receive it
	// includes reports whether the webhooks of one of the owners receive it. nil: those of all owners.
	includes func(userID int64) bool
}

// eventData is the part of a message that depends on the type of the event. It contains IDs, names
// and URLs, but no descriptions or comments.
type eventData struct {
	Thing   *objectRef  `json:"thing,omitempty"`
	Make    *objectRef  `json:"make,omitempty"`
	Comment *objectRef  `json:"comment,omitempty"`
	File    *fileRef    `json:"file,omitempty"`
	User    *objectRef  `json:"user,omitempty"`    // the creator of the content, or the user concerned
	Entry   *entryRef   `json:"entry,omitempty"`   // of the moderation log
	Report  *reportRef  `json:"report,omitempty"`  // by a user
	Target  *objectRef  `json:"target,omitempty"`  // what a comment, a file or a report is about
	Webhook *webhookRef `json:"webhook,omitempty"` // of a ping
}

// objectRef refers to an object.
type objectRef struct {
	Type models.TargetType `json:"type,omitempty"` // set if the type is not obvious
	ID   string            `json:"id"`
	Name string            `json:"name,omitempty"`
	URL  string            `json:"url,omitempty"`
}

type fileRef struct {
	ID     string              `json:"id"`
	Name   string              `json:"name"`
	Result models.PreviewState `json:"result"` // done or failed
}

type entryRef struct {
	ID       string        `json:"id"`
	Action   models.Action `json:"action"`
	ThingID  string        `json:"thing_id,omitempty"`
	ObjectID string        `json:"object_id,omitempty"`
	Role     auth.Role     `json:"role,omitempty"`
	Reason   string        `json:"reason,omitempty"` // only for global webhooks
}

type reportRef struct {
	ID     string                  `json:"id"`
	Reason moderation.ReportReason `json:"reason"`
}

type webhookRef struct {
	ID string `json:"id"`
}

func idText(id int64) string { return strconv.FormatInt(id, 10) }

// optionalID is idText, but returns an empty text for 0.
func optionalID(id int64) string {
	if id == 0 {
		return ""
	}
	return idText(id)
}

// emit stores, in tx, a delivery of an event for each webhook that receives it, and a job that
// sends it. If no webhook is subscribed to the event, it costs one statement.
func (s *Store) emit(ctx context.Context, tx bun.Tx, o occurrence) error {
	owned, owners := s.core.DB.InList(2, o.owners)
	var hooks []*Webhook
	// The webhooks are locked, so that none is deleted before the deliveries refer to it. The
	// parameter is only a part of the LIKE pattern: if it were the whole pattern, SQLite would prepare
	// the statement again for each event.
	err := s.core.DB.ForShare(tx.NewSelect().Model(&hooks).Column("wh.id", "wh.owner_id", "wh.is_global").
		Where("wh.disabled_at IS NULL AND ' ' || wh.events || ' ' LIKE '% ' || $1 || ' %'").
		Where("(wh.is_global OR wh.owner_id ?) AND "+sends, owned).Order("wh.id")).
		Conn(database.Bind(tx, string(o.event), owners)).Scan(ctx)
	if err != nil || len(hooks) == 0 {
		return err
	}
	who, data, err := o.report()
	if err != nil {
		return fmt.Errorf("event %s: %w", o.event, err)
	}
	id, at := webhook.NewID(), models.Now()
	for _, w := range hooks {
		concerned := slices.Contains(o.owners, w.OwnerID) && (who.includes == nil || who.includes(w.OwnerID))
		if !concerned && (!w.IsGlobal || !who.public) {
			continue
		}
		if busy, err := w.isBusy(ctx, tx); err != nil {
			return err
		} else if busy {
			continue
		}
		if err := s.enqueueDelivery(ctx, tx, w, &Delivery{MessageID: id, Event: o.event, CreatedAt: at}, data); err != nil {
			return err
		}
	}
	return nil
}

// isBusy reports whether the webhook got maxHourly messages within an hour. A global webhook is
// never busy: the events of many users concern it.
func (w *Webhook) isBusy(ctx context.Context, tx bun.Tx) (bool, error) {
	if w.IsGlobal {
		return false, nil
	}
	var at time.Time
	err := tx.NewSelect().Model((*Delivery)(nil)).Column("wd.created_at").Where("wd.webhook_id = ?", w.ID).
		Order("wd.id DESC").Offset(maxHourly-1).Limit(1).Scan(ctx, &at)
	return err == nil && models.Now().Sub(at) < time.Hour, models.IgnoreNoRows(err)
}

// enqueueDelivery stores a delivery and its job.
func (s *Store) enqueueDelivery(ctx context.Context, tx bun.Tx, w *Webhook, d *Delivery, data eventData) error {
	if data.Entry != nil && !w.IsGlobal {
		entry := *data.Entry
		entry.Reason, data.Entry = "", &entry
	}
	payload, err := json.Marshal(struct {
		Type      Event     `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      eventData `json:"data"`
	}{d.Event, d.CreatedAt, data})
	if err != nil {
		return err
	}
	d.WebhookID, d.Payload, d.State, d.NextAttemptAt = w.ID, string(payload), DeliveryWaiting, &d.CreatedAt
	if _, err := tx.NewInsert().Model(d).Exec(ctx); err != nil {
		return err
	}
	return s.core.Enqueue(ctx, tx, models.Work{DeliverWebhook: w.ID})
}

// pageURL returns the URL of the page of an object.
func (s *Store) pageURL(on models.TargetType, id int64) string {
	return s.options.BaseURL + "/" + string(on) + ":" + idText(id)
}

func (s *Store) thingRef(t *models.Thing) *objectRef {
	if t == nil {
		return nil
	}
	return &objectRef{ID: idText(t.ID), Name: t.Name, URL: s.pageURL(models.OnThing, t.ID)}
}

func (s *Store) makeRef(m *models.Make) *objectRef {
	if m == nil {
		return nil
	}
	return &objectRef{ID: idText(m.ID), Name: m.Name, URL: s.pageURL(models.OnMake, m.ID)}
}

// userRef returns a reference to a user.
func (s *Store) userRef(ctx context.Context, tx bun.Tx, id int64) (*objectRef, error) {
	u := new(models.User)
	if err := tx.NewSelect().Model(u).Column("u.username").Where("u.id = ?", id).Scan(ctx); err != nil {
		return nil, err
	}
	return &objectRef{ID: idText(id), Name: u.Username, URL: s.options.BaseURL + "/" + u.Username}, nil
}

// place is the thing and the make that an object belongs to. Each is nil if there is none or if it
// was deleted.
type place struct {
	thing *models.Thing
	make  *models.Make
}

// placeOf reads the place of a thing, a make, or a comment on one of them.
func (s *Store) placeOf(ctx context.Context, tx bun.Tx, target models.Target) (p place, err error) {
	thingID := target.ID
	switch target.Type {
	case models.OnComment:
		c := new(models.Comment)
		if err := tx.NewSelect().Model(c).Column("cm.target_type", "cm.target_id").Where("cm.id = ?", target.ID).
			Scan(ctx); err != nil {
			return p, err
		}
		return s.placeOf(ctx, tx, models.Target{Type: c.TargetType, ID: c.TargetID})
	case models.OnMake:
		p.make = new(models.Make)
		if err := tx.NewSelect().Model(p.make).Column("m.id", "m.owner_id", "m.thing_id", "m.name", "m.state").
			Where("m.id = ?", target.ID).Scan(ctx); err != nil {
			return p, err
		}
		thingID = p.make.ThingID
	}
	if thingID == 0 {
		return p, nil
	}
	p.thing = new(models.Thing)
	err = tx.NewSelect().Model(p.thing).Column("t.id", "t.owner_id", "t.name", "t.state").Where("t.id = ?", thingID).
		Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		p.thing, err = nil, nil
	}
	return p, err
}

// audience returns the audience of an event on an object at the place. If the thing or the make is
// a draft, only its owner receives the event. Global webhooks do not receive events on unlisted
// things, because only users who have the key of such a thing can see it.
func (p place) audience() audience {
	return audience{
		public: (p.thing == nil || p.thing.State == models.Published) && (p.make == nil || p.make.State == models.Published),
		includes: func(userID int64) bool {
			return (p.thing == nil || p.thing.State != models.Draft || p.thing.OwnerID == userID) &&
				(p.make == nil || p.make.State != models.Draft || p.make.OwnerID == userID)
		},
	}
}

// emitThing emits an event for a thing that was published or unpublished.
func (s *Store) emitThing(ctx context.Context, tx bun.Tx, event Event, t *models.Thing) error {
	return s.emit(ctx, tx, occurrence{event, []int64{t.OwnerID}, func() (audience, eventData, error) {
		owner, err := s.userRef(ctx, tx, t.OwnerID)
		thing := s.thingRef(t)
		if event == ThingUnpublishedEvent {
			thing.URL = "" // the page is not public any more
		}
		return audience{public: true}, eventData{Thing: thing, User: owner}, err
	}})
}

// emitMake emits an event for a make that was published.
func (s *Store) emitMake(ctx context.Context, tx bun.Tx, m *models.Make, thingOwner int64) error {
	return s.emit(ctx, tx, occurrence{MakeCreatedEvent, []int64{m.OwnerID, thingOwner},
		func() (audience, eventData, error) {
			p, err := s.placeOf(ctx, tx, models.Target{Type: models.OnMake, ID: m.ID})
			if err != nil {
				return audience{}, eventData{}, err
			}
			user, err := s.userRef(ctx, tx, m.OwnerID)
			return p.audience(), eventData{Make: s.makeRef(p.make), Thing: s.thingRef(p.thing), User: user}, err
		}})
}

// emitComment emits an event for a new comment. It concerns the author, the creator of the target,
// and the author of the comment that it replies to, if any.
func (s *Store) emitComment(ctx context.Context, tx bun.Tx, c *models.Comment, owner, repliedTo int64) error {
	return s.emit(ctx, tx, occurrence{CommentCreatedEvent, []int64{c.OwnerID, owner, repliedTo},
		func() (audience, eventData, error) {
			p, err := s.placeOf(ctx, tx, models.Target{Type: c.TargetType, ID: c.TargetID})
			if err != nil {
				return audience{}, eventData{}, err
			}
			target := &objectRef{Type: c.TargetType, ID: idText(c.TargetID), URL: s.pageURL(c.TargetType, c.TargetID)}
			switch {
			case p.make != nil:
				target.Name = p.make.Name
			case p.thing != nil:
				target.Name = p.thing.Name
			}
			author, err := s.userRef(ctx, tx, c.OwnerID)
			return p.audience(), eventData{Comment: &objectRef{ID: idText(c.ID)}, User: author, Target: target}, err
		}})
}

// emitProcessed emits an event for each file whose preview was generated or failed. Images of user
// profiles cause no event.
func (s *Store) emitProcessed(ctx context.Context, tx bun.Tx, result models.PreviewState, files ...*models.File) error {
	for _, f := range files {
		if f.TargetType != models.OnThing && f.TargetType != models.OnMake && f.TargetType != models.OnComment {
			continue
		}
		err := s.emit(ctx, tx, occurrence{FileProcessedEvent, []int64{f.OwnerID}, func() (audience, eventData, error) {
			p, err := s.placeOf(ctx, tx, models.Target{Type: f.TargetType, ID: f.TargetID})
			who := p.audience()
			who.includes = nil // owners see their files, wherever they are
			return who, eventData{File: &fileRef{idText(f.ID), f.Name, result}, Target: &objectRef{Type: f.TargetType,
				ID: idText(f.TargetID)}}, err
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// emitPreview calls emitProcessed for the files of a preview.
func (s *Store) emitPreview(ctx context.Context, tx bun.Tx, previewID int64, result models.PreviewState) error {
	var files []*models.File
	err := tx.NewSelect().Model(&files).Column("f.id", "f.owner_id", "f.name", "f.target_type", "f.target_id").
		Where("f.preview_id = ? AND f.preview_id <> 0 AND f.state = ?", previewID, models.Finalized).Order("f.id").Scan(ctx)
	if err != nil {
		return err
	}
	return s.emitProcessed(ctx, tx, result, files...)
}

// disclosedActions are the actions whose events the user concerned receives. Decisions on reports
// are excluded, so that users do not learn that others have reported them.
var disclosedActions = []models.Action{
	models.SuspendedUser, models.UnsuspendedUser, models.SetUserRole, models.TookDownThing, models.RestoredThing,
	models.FeaturedThing, models.UnfeaturedThing, models.RestoredMake, models.RestoredComment,
	models.DeletedThing, models.DeletedMake, models.DeletedComment, models.DeletedFile,
}

// emitDecision emits an event for an entry of the moderation log.
func (s *Store) emitDecision(ctx context.Context, tx bun.Tx, e *models.ModerationEntry) error {
	var owners []int64
	if slices.Contains(disclosedActions, e.Action) {
		owners = []int64{e.UserID}
	}
	return s.emit(ctx, tx, occurrence{ModerationDecidedEvent, owners, func() (audience, eventData, error) {
		user, err := s.userRef(ctx, tx, e.UserID)
		action := e.Action
		if action == models.UnsuspendedUser {
			action = "unsuspend_user" // as the API calls it; the log has an older name
		}
		entry := &entryRef{ID: idText(e.ID), Action: action, ThingID: optionalID(e.ThingID), ObjectID: optionalID(e.ObjectID),
			Role: e.Role, Reason: e.Reason}
		return audience{public: true}, eventData{Entry: entry, User: user}, err
	}})
}

// emitReport emits an event for a new report, to global webhooks only.
func (s *Store) emitReport(ctx context.Context, tx bun.Tx, r *moderation.Report) error {
	return s.emit(ctx, tx, occurrence{ModerationReportedEvent, nil, func() (audience, eventData, error) {
		user, err := s.userRef(ctx, tx, r.UserID)
		return audience{public: true}, eventData{
			Report: &reportRef{idText(r.ID), r.Reason}, Target: &objectRef{Type: r.TargetType, ID: idText(r.TargetID)},
			User: user,
		}, err
	}})
}

// react emits the events of webhooks for an event of the core.
func (s *Store) react(ctx context.Context, tx bun.Tx, e models.Event) error {
	switch e := e.(type) {
	case models.ThingPublished:
		return s.emitThing(ctx, tx, ThingPublishedEvent, e.Thing)
	case models.ThingUnpublished:
		return s.emitThing(ctx, tx, ThingUnpublishedEvent, e.Thing)
	case models.MakePublished:
		return s.emitMake(ctx, tx, e.Make, e.ThingOwner)
	case models.CommentCreated:
		return s.emitComment(ctx, tx, e.Comment, e.Owner, e.RepliedTo)
	case models.FilesProcessed:
		return s.emitProcessed(ctx, tx, e.Result, e.Files...)
	case models.PreviewEnded:
		return s.emitPreview(ctx, tx, e.PreviewID, e.Result)
	case models.DecisionRecorded:
		return s.emitDecision(ctx, tx, e.Entry)
	case moderation.Reported:
		return s.emitReport(ctx, tx, e.Report)
	case models.AccessRevoked:
		return s.disableWebhooksOf(ctx, tx, e.UserID, disabledWithOwner)
	}
	return nil
}
