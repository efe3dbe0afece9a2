package models

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// Event is a change that areas react to: one of the types in this file, or a type of the area in
// which the change happens. Events are how the core causes something in an area without importing
// it.
type Event any

// The events. Each is raised in the transaction of the change, after its rows were written.
type (
	// ThingPublished is raised when a thing becomes visible to everyone.
	ThingPublished struct{ Thing *Thing }
	// ThingUnpublished is raised when a published thing is hidden, taken down or deleted.
	ThingUnpublished struct{ Thing *Thing }
	// ThingRemixed is raised when a published thing names things that it was made from for the first
	// time.
	ThingRemixed struct {
		Thing       *Thing
		AncestorIDs []int64 // those that are new
	}
	// MakePublished is raised when a make becomes visible to everyone.
	MakePublished struct {
		Make       *Make
		ThingOwner int64 // the creator of the thing; 0: the thing was deleted
	}
	// CommentCreated is raised for a new comment.
	CommentCreated struct {
		Comment   *Comment
		Owner     int64 // of the target
		RepliedTo int64 // the author of the comment that is answered; 0: none
	}
	// FilesProcessed is raised when the preview of files already exists, or will not be generated.
	FilesProcessed struct {
		Files  []*File
		Result PreviewState
	}
	// PreviewEnded is raised when a preview was generated or has failed.
	PreviewEnded struct {
		PreviewID int64
		Result    PreviewState
	}
	// ObjectDeleted is raised when a thing, a make, a collection, a comment or an account is deleted.
	ObjectDeleted struct {
		Target Target
		Owner  int64       // who created it; for an account, its user
		By     auth.Caller // the zero Caller: the operator
		Reason string      // of a moderator; empty: the creator or the owner of the target deletes it
	}
	// DecisionRecorded is raised for each new entry of the moderation log.
	DecisionRecorded struct{ Entry *ModerationEntry }
	// AccessRevoked is raised when a suspended user loses all access.
	AccessRevoked struct{ UserID int64 }
)

// Reactions are what the areas do at events and in garbage collections, in the order in which the
// areas were created.
type Reactions struct {
	events  []func(ctx context.Context, tx bun.Tx, e Event) error
	garbage []garbage
}

// garbage is a kind of rows that expire.
type garbage struct {
	what   string
	remove func(context.Context) error
}

// React makes every later event call react in the transaction of the change. An error undoes the
// change. It must be called before the store is used.
func (r *Reactions) React(react func(ctx context.Context, tx bun.Tx, e Event) error) {
	r.events = append(r.events, react)
}

// Expire makes every garbage collection call remove, which deletes expired rows. what names them in
// errors. It must be called before the store is used.
func (r *Reactions) Expire(what string, remove func(context.Context) error) {
	r.garbage = append(r.garbage, garbage{what, remove})
}

// Raise calls the areas for an event, in tx. The first error ends it.
func (r *Reactions) Raise(ctx context.Context, tx bun.Tx, e Event) error {
	for _, react := range r.events {
		if err := react(ctx, tx, e); err != nil {
			return err
		}
	}
	return nil
}

// RemoveExpired deletes the expired rows of all areas.
func (r *Reactions) RemoveExpired(ctx context.Context) error {
	for _, g := range r.garbage {
		if err := g.remove(ctx); err != nil {
			return fmt.Errorf("collect %s: %w", g.what, err)
		}
	}
	return nil
}
