package wire

import (
	"slices"

	"github.com/meshyard/meshyard/internal/urls"
)

// EventSchema is a notification. REST calls notifications events.
type EventSchema struct {
	ID           ID            `json:"id"`
	Type         int           `json:"type"` // see eventTypes
	Message      string        `json:"message"`
	Time         Time          `json:"time"`
	Targets      []EventObject `json:"targets"`
	Sources      []EventObject `json:"sources"`
	Subscription any           `json:"subscription"` // null: the server has no subscriptions

	// Input only: cleared by Complete.
	Kind   string       `json:"kind,omitempty"`
	Actor  *UserSummary `json:"actor,omitempty"`
	Target *eventTarget `json:"target,omitempty"`
}

// eventTypes are the kinds of notifications. The number of a kind in REST is its position, starting
// at 1. The published interface does not define the numbers. New kinds are added at the end; 0 is a
// kind without a number.
var eventTypes = []string{"COMMENT", "REPLY", "LIKE", "MAKE", "FOLLOW", "REMIX", "MODERATION", "PROCESSING_FAILED"}

// EventObject is the subject of a notification, or the user who caused it.
type EventObject struct {
	Thumbnail    string        `json:"thumbnail"`
	ThingsURL    string        `json:"things_url"`
	DefaultImage *ImageSummary `json:"default_image,omitzero"`
}

type eventTarget struct {
	Type  string      `json:"__typename"`
	ID    ID          `json:"id"`
	Image *MediaImage `json:"image"`
}

// Complete implements [Completer].
func (e *EventSchema) Complete(a urls.Builder) {
	e.Type = 1 + slices.Index(eventTypes, e.Kind)
	e.Targets, e.Sources = []EventObject{}, []EventObject{}
	if t := e.Target; t != nil && t.ID != 0 {
		noun := map[string]string{"Thing": "/things/", "Make": "/copies/"}[t.Type]
		object := EventObject{Thumbnail: t.Image.thumbnail(a, "THING"), ThingsURL: a.Base + noun + t.ID.String()}
		if t.Image != nil {
			object.DefaultImage = t.Image.Summary()
		}
		e.Targets = append(e.Targets, object)
	}
	if e.Actor != nil {
		e.Actor.Complete(a)
		e.Sources = append(e.Sources, EventObject{Thumbnail: e.Actor.Thumbnail, ThingsURL: e.Actor.URL + "/things"})
	}
	e.Kind, e.Actor, e.Target = "", nil, nil
}

// CountSchema is a number of notifications.
type CountSchema struct {
	Count int `json:"count"`
}

// IDsSchema has the IDs of the things that an operation affected or lists.
type IDsSchema struct {
	IDs []ID `json:"ids"`
}

// CollectedSchema has the IDs of the things in the collections of a user, under the documented key
// and under that of other lists of IDs.
type CollectedSchema struct {
	IDs             []ID `json:"ids"`
	CollectedThings []ID `json:"collected_things"`
}

// Complete implements [Completer].
func (c *CollectedSchema) Complete(urls.Builder) { c.CollectedThings = c.IDs }

// WatchedSchema is the response to an operation that changes a watch.
type WatchedSchema struct {
	Watching bool `json:"watching"`
}

// LikedSchema is the response to an operation that changes a like.
type LikedSchema struct {
	Liking bool `json:"liking"`
}

// StatsSchema has the statistics of one day. This server does not count views.
type StatsSchema struct {
	Day         string `json:"day"`
	UserID      ID     `json:"user_id"`
	ThingID     *ID    `json:"thing_id,omitzero"` // only in statistics by thing
	Views       int    `json:"views"`
	Downloads   int    `json:"downloads"`
	Likes       int    `json:"likes"`
	Collects    int    `json:"collects"`
	Watches     int    `json:"watches"`
	Comments    int    `json:"comments"`
	Makes       int    `json:"makes"`
	Derivatives int    `json:"derivatives"`
}

// ProgramsSchema is the list of slicing programs, which is always empty.
type ProgramsSchema struct {
	Count    int   `json:"count"`
	Programs []any `json:"programs"`
}
