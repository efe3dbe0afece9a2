package graph

import (
	"context"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/internal/graphql/breadthfirst"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/activity"
	"github.com/meshyard/meshyard/models/moderation"
	"github.com/meshyard/meshyard/models/printer"
	"github.com/meshyard/meshyard/models/social"
	"github.com/meshyard/meshyard/models/webhook"
)

// The executor calls a batch resolver once for all objects of a level for which an operation
// selects the same, so a field costs one statement, however many objects there are. The functions
// in this file read the rows that such a field refers to.

// selected returns the fields of T that the operation selects on the values of the field that is
// being resolved, or all if it is not known.
func selected[T any](ctx context.Context, all fieldset.Set[T]) fieldset.Set[T] {
	if set, ok := breadthfirst.Selected[T](ctx); ok {
		return set
	}
	return all
}

// rows describes how the rows of one type are read.
type rows[T any] struct {
	all  fieldset.Set[T]
	byID func(ctx context.Context, s *models.Store, caller auth.Caller, fields fieldset.Set[T],
		ids []int64) (map[int64]*T, error)
	// ofID returns a row of which only the ID is known. It is nil if a reference to a row does not
	// imply that the row exists and is visible.
	ofID func(id int64) *T
}

func rowsOf[T any]() rows[T] { return rows[T]{all: models.AllFields[T](), byID: models.ByIDs[T]} }

var (
	thingRows           = rowsOf[models.Thing]()
	makeRows            = rowsOf[models.Make]()
	collectionRows      = rowsOf[models.Collection]()
	tagRows             = rowsOf[models.Tag]()
	downloadRows        = rowsOf[activity.Download]()
	tokenRows           = rows[account.Token]{all: account.AllTokenFields, byID: models.ByIDs[account.Token]}
	applicationRows     = rowsOf[account.Application]()
	reportRows          = rowsOf[moderation.Report]()
	notificationRows    = rowsOf[social.Notification]()
	moderationEntryRows = rowsOf[models.ModerationEntry]()
	webhookRows         = rows[webhook.Webhook]{all: webhook.AllFields, byID: models.ByIDs[webhook.Webhook]}
	deliveryRows        = rowsOf[webhook.Delivery]()
	printerRows         = rows[printer.Printer]{all: printer.AllFields, byID: models.ByIDs[printer.Printer]}
	printJobRows        = rowsOf[printer.Job]()
	fileRows            = rows[models.File]{
		all: models.AllFileFields,
		byID: func(ctx context.Context, s *models.Store, _ auth.Caller, fields models.FileFields,
			ids []int64) (map[int64]*models.File, error) {
			return s.FilesByID(ctx, fields, ids)
		},
	}
	commentRows = rows[models.Comment]{
		all: models.AllCommentFields, byID: models.ByIDs[models.Comment],
		ofID: func(id int64) *models.Comment { return &models.Comment{ID: id} },
	}
	userRows = rows[models.User]{
		all: models.AllUserFields, byID: models.ByIDs[models.User],
		ofID: func(id int64) *models.User { return &models.User{ID: id} },
	}
)

// read returns the rows with the given IDs, with the fields that the operation selects on the
// values of the field that is being resolved, and those in extra.
func (of rows[T]) read(ctx context.Context, r *Resolver, ids []int64, extra fieldset.Set[T]) (map[int64]*T, error) {
	fields := selected(ctx, of.all).With(extra)
	if of.ofID == nil || !fieldset.Of[T]("ID").Has(fields) {
		return of.byID(ctx, r.Store.Store, caller(ctx), fields, ids)
	}
	found := make(map[int64]*T, len(ids))
	for _, id := range ids {
		found[id] = of.ofID(id)
	}
	return found, nil
}

// load returns, for each object, the row with the ID that id returns, or nil if there is none.
func load[O, T any](ctx context.Context, r *Resolver, objs []O, of rows[T], id func(O) int64) ([]*T, error) {
	return loadValues(objs, id, func(ids []int64) (map[int64]*T, error) { return of.read(ctx, r, ids, fieldset.Set[T]{}) })
}

// loadValues returns, for each object, the value for the ID that id returns, or the zero value if
// there is none. It calls read once, with all IDs but 0.
func loadValues[O, V any](objs []O, id func(O) int64, read func(ids []int64) (map[int64]V, error)) ([]V, error) {
	values := make([]V, len(objs))
	ids := idsOf(objs, id)
	if len(ids) == 0 {
		return values, nil
	}
	found, err := read(ids)
	if err != nil {
		return nil, err
	}
	for i, o := range objs {
		values[i] = found[id(o)]
	}
	return values, nil
}

// withOne returns the value that was read with the only object, if there is only one and it has
// one. Otherwise it returns the values that load loads.
func withOne[O, V any](objs []O, read func(O) (V, bool, error), load func() ([]V, error)) ([]V, error) {
	if len(objs) == 1 {
		if value, ok, err := read(objs[0]); ok || err != nil {
			return []V{value}, err
		}
	}
	return load()
}

// idsOf returns the IDs that id returns for objects, each once and without 0.
func idsOf[O any](objs []O, id func(O) int64) []int64 {
	ids := make([]int64, 0, len(objs))
	seen := make(map[int64]bool, len(objs))
	for _, o := range objs {
		if id := id(o); id != 0 && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// convert converts each value.
func convert[V, N any](values []V, err error, as func(V) N) ([]N, error) {
	if err != nil {
		return nil, err
	}
	converted := make([]N, len(values))
	for i, v := range values {
		converted[i] = as(v)
	}
	return converted, nil
}

// each returns the value of each object.
func each[O, V any](objs []O, value func(O) V) ([]V, error) {
	values := make([]V, len(objs))
	for i, o := range objs {
		values[i] = value(o)
	}
	return values, nil
}

// html returns the HTML of a text of each object, which was read with it.
func html[O any](ctx context.Context, r *Resolver, objs []O, text func(O) (text string, stale bool)) ([]string, error) {
	all := make([]string, len(objs))
	for i, o := range objs {
		text, stale := text(o)
		var err error
		if all[i], err = r.Store.HTML(ctx, text, stale); err != nil {
			return nil, err
		}
	}
	return all, nil
}
