package social

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/models"
)

// NotificationKind is the type of event that a notification reports.
type NotificationKind string

// The kinds of notifications.
const (
	NotifyComment          NotificationKind = "comment"
	NotifyReply            NotificationKind = "reply"
	NotifyLike             NotificationKind = "like"
	NotifyMake             NotificationKind = "make"
	NotifyFollow           NotificationKind = "follow"
	NotifyRemix            NotificationKind = "remix"
	NotifyModeration       NotificationKind = "moderation"
	NotifyProcessingFailed NotificationKind = "processing_failed"
)

const (
	// maxNotifications is the maximum number of notifications of a user. The garbage collector removes
	// older ones.
	maxNotifications = 1000
	// notificationTTL is how long a notification is kept, read or not.
	notificationTTL = 90 * 24 * time.Hour
)

// Notification reports one event to one user. It is written in the transaction of the event.
type Notification struct {
	bun.BaseModel `bun:"table:notifications,alias:n"`
	database.Listed

	ID         int64 `bun:",pk,autoincrement" reads:"UserID"`
	UserID     int64 // the recipient
	Kind       NotificationKind
	ActorID    int64             `bun:",nullzero"` // who caused it; 0: the server, a moderator
	TargetType models.TargetType // what it is about
	TargetID   int64
	DecisionID int64 `bun:",nullzero"` // the entry of the moderation log; 0: none
	CreatedAt  time.Time
	ReadAt     *time.Time // nil: unread
}

// NotificationFields is a set of fields of a notification.
type NotificationFields = fieldset.Set[Notification]

var notifications = database.NewTable(func(n *Notification) (int64, *database.Listed) { return n.ID, &n.Listed })

// AllNotificationFields has all fields of a notification.
var AllNotificationFields = notifications.All()

// IsRead reports whether the notification was marked as read.
func (n *Notification) IsRead() bool { return n.ReadAt != nil }

// Target returns what the notification is about.
func (n *Notification) Target() models.Target {
	return models.Target{Type: n.TargetType, ID: n.TargetID}
}

// notify writes one notification for each distinct recipient, except for the actor and the ID 0.
func notify(ctx context.Context, tx bun.Tx, kind NotificationKind, actor int64, about models.Target,
	recipients ...int64) error {
	at := models.Now()
	var rows []Notification
	seen := map[int64]bool{0: true, actor: true}
	for _, id := range recipients {
		if !seen[id] {
			seen[id] = true
			rows = append(rows, Notification{UserID: id, Kind: kind, ActorID: actor, TargetType: about.Type, TargetID: about.ID,
				CreatedAt: at})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	_, err := tx.NewInsert().Model(&rows).Exec(ctx)
	return err
}

// notifyOfDecision notifies the user concerned by an entry of the moderation log, except for
// decisions of the user and of the operator, and for actions without notifications.
func notifyOfDecision(ctx context.Context, tx bun.Tx, e *models.ModerationEntry) error {
	n := &Notification{UserID: e.UserID, Kind: NotifyModeration, DecisionID: e.ID, CreatedAt: e.CreatedAt}
	switch e.Action {
	case models.SuspendedUser, models.UnsuspendedUser, models.SetUserRole, models.DeletedThing, models.DeletedMake,
		models.DeletedFile:
		// What was deleted cannot be the target: its notifications are deleted with it.
		n.TargetType, n.TargetID = models.OnUser, e.UserID
	case models.TookDownThing, models.RestoredThing:
		n.TargetType, n.TargetID = models.OnThing, e.ThingID
	case models.RestoredMake:
		n.TargetType, n.TargetID = models.OnMake, e.ObjectID
	case models.RestoredComment, models.DeletedComment:
		n.TargetType, n.TargetID = models.OnComment, e.ObjectID
	default:
		return nil
	}
	if e.ActorID == 0 || e.ActorID == e.UserID {
		return nil
	}
	_, err := tx.NewInsert().Model(n).Exec(ctx)
	return err
}

// notifyWatchers writes a notification for each user who watches a target, except for the actor and
// the users in except. If thingID is not 0, it does nothing while that thing is a draft.
func notifyWatchers(ctx context.Context, tx bun.Tx, kind NotificationKind, actor int64, about, watched models.Target,
	thingID int64, except ...int64) error {
	watchers := tx.NewSelect().Model((*watch)(nil)).
		ColumnExpr("w.user_id, ?, ?, ?, CAST(? AS bigint), ?", kind, actor, about.Type, about.ID, models.Now()).
		Where("w.target_type = ? AND w.target_id = ? AND w.user_id NOT IN (?)", watched.Type, watched.ID,
			bun.List(append(except, actor)))
	if thingID != 0 {
		watchers = watchers.Where("EXISTS (SELECT 1 FROM things AS t WHERE t.id = ? AND t.state <> ?)", thingID, models.Draft)
	}
	_, err := tx.NewRaw("INSERT INTO notifications (user_id, kind, actor_id, target_type, target_id, created_at) ?",
		watchers).Exec(ctx)
	return err
}

// forgetNotification deletes the notification of an event that its actor has undone, so that
// repeating the event does not add a second one.
func forgetNotification(ctx context.Context, tx bun.Tx, kind NotificationKind, actor int64, about models.Target) error {
	_, err := tx.NewDelete().Model((*Notification)(nil)).
		Where("target_type = ? AND target_id = ? AND kind = ? AND actor_id = ?", about.Type, about.ID, kind, actor).Exec(ctx)
	return err
}

// notifyOfFailure notifies the owners of the files of a preview that it failed.
func notifyOfFailure(ctx context.Context, tx bun.Tx, previewID int64) error {
	files := tx.NewSelect().Model((*models.File)(nil)).
		ColumnExpr("f.owner_id, ?, ?, f.id, ?", NotifyProcessingFailed, models.OnFile, models.Now()).
		Where("f.preview_id = ? AND f.preview_id <> 0 AND f.state = ?", previewID, models.Finalized)
	_, err := tx.NewRaw("INSERT INTO notifications (user_id, kind, target_type, target_id, created_at) ?", files).Exec(ctx)
	return err
}

// NotificationFilter selects notifications.
type NotificationFilter struct {
	UnreadOnly bool
	Since      *time.Time // nil: all
}

// Notifications lists the notifications of the caller, the latest first. It returns Forbidden if
// userID is another user, and BadInput if Since is before the year 1 or after the year 9999.
func (s *Store) Notifications(caller auth.Caller, userID int64, filter NotificationFilter) (models.List, error) {
	if err := models.RequireSelf(caller, userID, "notifications"); err != nil {
		return models.List{}, err
	}
	if filter.Since != nil {
		if err := models.CheckYear("since", *filter.Since); err != nil {
			return models.List{}, err
		}
	}
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "n.id"},
		Rows: database.RowsFunc(func(b *database.Builder, userID any) *bun.SelectQuery {
			q := b.Select().TableExpr("notifications AS n").Where("n.user_id = ?", userID)
			if filter.UnreadOnly {
				q = q.Where("n.read_at IS NULL")
			}
			if filter.Since != nil {
				q = q.Where("n.created_at >= ?", filter.Since.UTC())
			}
			return q
		})}, nil
}

// Notification returns a notification of the caller. It returns NotFound for one of another user.
func (s *Store) Notification(ctx context.Context, caller auth.Caller, fields NotificationFields,
	id int64) (*Notification, error) {
	n, err := models.One(s.core, ctx, caller, notifications, fields, "notification", id)
	if err != nil {
		return nil, err
	}
	return n, n.Allows(caller)
}

// Allows returns nil if the notification is for the caller, else NotFound.
func (n *Notification) Allows(caller auth.Caller) error {
	if n.UserID != caller.UserID {
		return models.NoSuch("notification", n.ID)
	}
	return nil
}

// UnreadNotifications returns the number of unread notifications of the caller.
func (s *Store) UnreadNotifications(ctx context.Context, caller auth.Caller) (int64, error) {
	return s.core.DB.Write.NewSelect().Model((*Notification)(nil)).Where("n.user_id = ? AND n.read_at IS NULL",
		caller.UserID).Count(ctx)
}

// ReadNotifications is the result of [Store.MarkNotificationsRead].
type ReadNotifications struct {
	UnreadCount int32   // how many are still unread
	IDs         []int64 // of those that were unread before, the latest first
}

// MarkNotificationsRead marks notifications of the caller as read, or all of them if ids is nil. It
// ignores those that do not exist, belong to another user, or are read already.
func (s *Store) MarkNotificationsRead(ctx context.Context, caller auth.Caller,
	ids []int64) (*ReadNotifications, error) {
	if len(ids) > maxNotifications {
		return nil, models.TooMany("ids", len(ids), maxNotifications)
	}
	q := s.core.DB.Write.NewUpdate().Model((*Notification)(nil)).Set("read_at = ?", models.Now()).
		Where("user_id = ? AND read_at IS NULL", caller.UserID)
	if ids != nil {
		q = q.Where("id IN (?)", bun.List(ids))
	}
	q = q.Returning("id")
	var marked []int64
	err := database.RetryConflicts(func() error {
		marked = nil
		return models.IgnoreNoRows(q.Scan(ctx, &marked))
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(marked)
	slices.Reverse(marked)
	unread, err := s.UnreadNotifications(ctx, caller)
	return &ReadNotifications{UnreadCount: int32(unread), IDs: marked}, err
}

// DeleteNotification deletes a notification of the caller. It returns NotFound for one of another
// user.
func (s *Store) DeleteNotification(ctx context.Context, caller auth.Caller, id int64) error {
	done, err := s.core.DB.Write.NewDelete().Model((*Notification)(nil)).
		Where("id = ? AND user_id = ?", id, caller.UserID).Exec(ctx)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); n > 0 || err != nil {
		return err
	}
	return models.NoSuch("notification", id)
}

// expireNotifications deletes notifications older than notificationTTL, and the oldest ones of
// users who have more than maxNotifications.
func (s *Store) expireNotifications(ctx context.Context) error {
	if _, err := s.core.DB.ExecAgain(ctx, s.core.DB.Write.NewDelete().Model((*Notification)(nil)).
		Where("created_at < ?", models.Now().Add(-notificationTTL))); err != nil {
		return err
	}
	_, err := s.core.DB.ExecAgain(ctx, s.core.DB.Write.NewRaw("DELETE FROM notifications WHERE id IN (SELECT id FROM "+
		"(SELECT id, row_number() OVER (PARTITION BY user_id ORDER BY id DESC) AS place FROM notifications "+
		"WHERE user_id IN (SELECT user_id FROM notifications GROUP BY user_id HAVING count(*) > ?0)) AS n WHERE place > ?0)",
		maxNotifications))
	return err
}

// notifyOfComment sends notifications about a new comment to the author of the parent comment, the
// owner of the target, and the users who watch the target. Each user gets at most one.
func notifyOfComment(ctx context.Context, tx bun.Tx, c *models.Comment, owner, repliedTo int64) error {
	about, on := models.Target{Type: models.OnComment, ID: c.ID}, models.Target{Type: c.TargetType, ID: c.TargetID}
	if err := notify(ctx, tx, NotifyReply, c.OwnerID, about, repliedTo); err != nil {
		return err
	}
	if owner != repliedTo {
		if err := notify(ctx, tx, NotifyComment, c.OwnerID, about, owner); err != nil {
			return err
		}
	}
	return notifyWatchers(ctx, tx, NotifyComment, c.OwnerID, about, on, c.ThingID, owner, repliedTo)
}

// notifyOfMake notifies the creator and the watchers of the thing of a published make.
func notifyOfMake(ctx context.Context, tx bun.Tx, m *models.Make, owner int64) error {
	if m.ThingID == 0 {
		return nil
	}
	about := models.Target{Type: models.OnMake, ID: m.ID}
	return errors.Join(notify(ctx, tx, NotifyMake, m.OwnerID, about, owner),
		notifyWatchers(ctx, tx, NotifyMake, m.OwnerID, about, models.Target{Type: models.OnThing, ID: m.ThingID}, m.ThingID,
			owner))
}

// notifyRemix notifies the creators and watchers of the ancestors of a published thing.
func notifyRemix(ctx context.Context, tx bun.Tx, t *models.Thing, ancestorIDs []int64) error {
	about := models.Target{Type: models.OnThing, ID: t.ID}
	for _, id := range ancestorIDs {
		var owner int64
		err := tx.NewSelect().Model((*models.Thing)(nil)).Column("t.owner_id").Where("t.id = ?", id).Scan(ctx, &owner)
		if errors.Is(err, sql.ErrNoRows) {
			continue // deleted since the ancestors were read
		}
		if err != nil {
			return err
		}
		err = errors.Join(notify(ctx, tx, NotifyRemix, t.OwnerID, about, owner),
			notifyWatchers(ctx, tx, NotifyRemix, t.OwnerID, about, models.Target{Type: models.OnThing, ID: id}, id, owner))
		if err != nil {
			return err
		}
	}
	return nil
}

// NodeID returns the node ID of the notification.
func (n *Notification) NodeID() string {
	return models.NodeRef{Type: "Notification", ID: n.ID}.NodeID()
}

// react notifies users of an event.
func (s *Store) react(ctx context.Context, tx bun.Tx, e models.Event) error {
	switch e := e.(type) {
	case models.CommentCreated:
		return notifyOfComment(ctx, tx, e.Comment, e.Owner, e.RepliedTo)
	case models.MakePublished:
		return notifyOfMake(ctx, tx, e.Make, e.ThingOwner)
	case models.ThingRemixed:
		return notifyRemix(ctx, tx, e.Thing, e.AncestorIDs)
	case models.DecisionRecorded:
		return notifyOfDecision(ctx, tx, e.Entry)
	case models.PreviewEnded:
		if e.Result == models.PreviewFailed {
			return notifyOfFailure(ctx, tx, e.PreviewID)
		}
	case models.FilesProcessed:
		if e.Result != models.PreviewFailed {
			return nil
		}
		for _, f := range e.Files {
			if err := notify(ctx, tx, NotifyProcessingFailed, 0, models.Target{Type: models.OnFile, ID: f.ID},
				f.OwnerID); err != nil {
				return err
			}
		}
	case models.ObjectDeleted:
		if e.Target.Type == models.OnComment {
			_, err := tx.NewDelete().Model((*Notification)(nil)).Where("target_type = ? AND target_id = ?", models.OnComment,
				e.Target.ID).Exec(ctx)
			return err
		}
		return deleteLikes(ctx, tx, e.Target)
	}
	return nil
}
