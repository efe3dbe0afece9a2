package account

import (
	"context"
	"fmt"

	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/collections"
	"github.com/meshyard/meshyard/models/importer"
)

func (im *importing) collections(ctx context.Context) error {
	return im.each(ctx, "collection", im.path+"/collections", im.collection)
}

// collection imports a collection, with those of its things that were imported.
func (im *importing) collection(ctx context.Context, id int64) error {
	here, err := im.known(ctx, "collections", id)
	if err != nil {
		return err
	}
	var c collection
	if err := im.client.JSON(ctx, fmt.Sprintf("/collections/%d", id), &c); err != nil {
		return err
	}
	isNew := here == 0
	if isNew {
		left, err := im.source.Unrecorded(ctx, "collections", im.caller.UserID, c.Name)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			here = left[0]
		} else {
			created, err := im.store.Collections.CreateCollection(ctx, im.caller, collections.NewCollection{Name: c.Name,
				Description: c.Description})
			if err != nil {
				return err
			}
			here = created.ID
		}
		im.report.Collections++
	} else {
		im.report.There++
	}
	ids, err := im.list(ctx, fmt.Sprintf("/collections/%d/things", id))
	if err != nil {
		return err
	}
	imported, err := im.source.Things(ctx, ids...)
	if err != nil {
		return err
	}
	var things []int64
	for _, id := range ids {
		if thing, ok := imported[id]; ok {
			things = append(things, thing)
		}
	}
	missing := len(ids) - len(things)
	// Things that are already in the collection are not added again, so that the collection is not
	// marked as modified.
	if things, err = im.source.NotCollected(ctx, here, things); err != nil {
		return err
	}
	for _, thing := range things {
		if _, err := im.store.Collections.Collect(ctx, im.caller, here, thing); err != nil {
			return err
		}
	}
	if missing > 0 {
		im.problem("collection %d, %s: %d of its %d things do not exist on this server", id, c.Name, missing, len(ids))
	}
	if c.Count > len(ids) {
		im.problem("collection %d, %s: the service lists %d of its %d things, perhaps without drafts", id, c.Name, len(ids),
			c.Count)
	}
	if !isNew {
		return nil
	}
	return im.source.Record(ctx, "collections", id, here, importer.ImportDates{Created: c.Added.Time,
		Modified: c.Modified.Time})
}

// likes imports the likes of things that were imported.
func (im *importing) likes(ctx context.Context) error {
	ids, err := im.list(ctx, im.path+"/likes")
	if err != nil {
		return err
	}
	imported, err := im.source.Things(ctx, ids...)
	if err != nil {
		return err
	}
	missing := 0
	for _, id := range ids {
		thing, ok := imported[id]
		if !ok {
			missing++
			continue
		}
		switch err := im.store.Social.Like(ctx, im.caller, models.Target{Type: models.OnThing, ID: thing}); {
		case isObjectError(err):
			im.problem("the like of thing %d: %v", id, err)
		case err != nil:
			return err
		default:
			im.report.Likes++
		}
	}
	if missing > 0 {
		im.problem("%d of %d liked things do not exist on this server", missing, len(ids))
	}
	return nil
}
