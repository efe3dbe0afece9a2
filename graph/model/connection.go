package model

import (
	"context"
	"math"

	"github.com/meshyard/meshyard/internal/tokenize"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/activity"
	"github.com/meshyard/meshyard/models/moderation"
	"github.com/meshyard/meshyard/models/printer"
	"github.com/meshyard/meshyard/models/problem"
	"github.com/meshyard/meshyard/models/search"
	"github.com/meshyard/meshyard/models/social"
	"github.com/meshyard/meshyard/models/webhook"
)

// Edge is an entry of a connection.
type Edge[N any] struct {
	Cursor string
	Node   N
}

// EdgeOf constrains the edge types of the schema, which differ only in their names.
type EdgeOf[N any] interface {
	~struct {
		Cursor string
		Node   N
	}
}

// Connection is one page of a list, as defined by the Relay cursor connections specification.
type Connection[N any, E EdgeOf[N]] struct {
	Edges    []*E
	Nodes    []N
	PageInfo *PageInfo

	// Count returns the length of the whole list.
	Count func(context.Context) (int64, error)
}

// TotalCount returns the length of the whole list.
func (c *Connection[N, E]) TotalCount(ctx context.Context) (int32, error) {
	n, err := c.Count(ctx)
	return int32(min(n, math.MaxInt32)), err
}

// The edge types of the schema.
type (
	ThingEdge           Edge[*models.Thing]
	MakeEdge            Edge[*models.Make]
	CommentEdge         Edge[*models.Comment]
	UserEdge            Edge[*models.User]
	CollectionEdge      Edge[*models.Collection]
	TagEdge             Edge[*models.Tag]
	DownloadEdge        Edge[*activity.Download]
	FileEdge            Edge[*models.File]
	AccessTokenEdge     Edge[*account.Token]
	ModerationEntryEdge Edge[*models.ModerationEntry]
	ReportEdge          Edge[*moderation.Report]
	NotificationEdge    Edge[*social.Notification]
	WebhookEdge         Edge[*webhook.Webhook]
	ProblemEdge         Edge[*problem.Problem]
	WebhookDeliveryEdge Edge[*webhook.Delivery]
	PrinterEdge         Edge[*printer.Printer]
	PrintJobEdge        Edge[*printer.Job]
	HitEdge             Edge[SearchHit]
	FeedEdge            Edge[FeedItem]
)

// The connection types of the schema.
type (
	ThingConnection struct {
		*Connection[*models.Thing, ThingEdge]
	}
	MakeConnection struct {
		*Connection[*models.Make, MakeEdge]
	}
	CommentConnection struct {
		*Connection[*models.Comment, CommentEdge]
	}
	UserConnection struct {
		*Connection[*models.User, UserEdge]
	}
	CollectionConnection struct {
		*Connection[*models.Collection, CollectionEdge]
	}
	TagConnection struct {
		*Connection[*models.Tag, TagEdge]
	}
	DownloadConnection struct {
		*Connection[*activity.Download, DownloadEdge]
	}
	FileConnection struct {
		*Connection[*models.File, FileEdge]
	}
	AccessTokenConnection struct {
		*Connection[*account.Token, AccessTokenEdge]
	}
	ModerationEntryConnection struct {
		*Connection[*models.ModerationEntry, ModerationEntryEdge]
	}
	ReportConnection struct {
		*Connection[*moderation.Report, ReportEdge]
	}
	NotificationConnection struct {
		*Connection[*social.Notification, NotificationEdge]
	}
	ProblemConnection struct {
		*Connection[*problem.Problem, ProblemEdge]
	}
	WebhookConnection struct {
		*Connection[*webhook.Webhook, WebhookEdge]
	}
	WebhookDeliveryConnection struct {
		*Connection[*webhook.Delivery, WebhookDeliveryEdge]
	}
	PrinterConnection struct {
		*Connection[*printer.Printer, PrinterEdge]
	}
	PrintJobConnection struct {
		*Connection[*printer.Job, PrintJobEdge]
	}
	FeedConnection struct {
		*Connection[FeedItem, FeedEdge]
	}
	SearchConnection struct {
		*Connection[SearchHit, HitEdge]
		Edges []*SearchEdge
		Found *search.SearchResult
	}
)

// SearchEdge is a result of a search for words.
type SearchEdge struct {
	HitEdge
	Words []tokenize.Word
}
