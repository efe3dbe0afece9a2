package account

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/importer"
	"github.com/meshyard/meshyard/models/makes"
)

func (im *importing) makes(ctx context.Context) error {
	return im.each(ctx, "make", im.path+"/copies", im.make)
}

// make imports a make, and its images that are not imported yet.
func (im *importing) make(ctx context.Context, id int64) error {
	here, err := im.known(ctx, "makes", id)
	if err != nil {
		return err
	}
	if here == 0 {
		if here, err = im.createMake(ctx, id); err != nil {
			return err
		}
		im.report.Makes++
	} else {
		im.report.There++
	}
	var images []image
	if err := im.client.JSON(ctx, fmt.Sprintf("/copies/%d/images", id), &images); err != nil {
		return err
	}
	left, recorded, err := im.imagesOf(ctx, here, images)
	if err != nil {
		return err
	}
	for i, m := range images {
		if recorded[m.ID] != 0 {
			continue
		}
		file, attached := left[m.Name]
		delete(left, m.Name)
		if !attached {
			if file, err = im.attach(ctx, id, here, &m, int32(i)); isObjectError(err) {
				im.problem("make %d, image %d, %s: %v", id, m.ID, m.Name, err)
				continue
			}
			if err != nil {
				return err
			}
		}
		im.report.Images++
		if err := im.source.Record(ctx, "images", m.ID, file, importer.ImportDates{Created: m.Added.Time}); err != nil {
			return err
		}
	}
	return nil
}

// attach uploads an image of a make, attaches it to the local make with the ID here, and returns
// the ID of the file. id is the ID of the make in the other service.
func (im *importing) attach(ctx context.Context, id, here int64, m *image, rank int32) (int64, error) {
	file, err := im.original(ctx, id, m)
	if err != nil {
		return 0, err
	}
	_, err = im.store.Finalize(ctx, im.caller, []models.FinalizeFile{{ID: file, Rank: &rank}},
		models.Target{Type: models.OnMake, ID: here})
	return file, err
}

// imagesOf returns the images of a make that this server has. left contains those that an
// interrupted run attached but did not record: their file IDs by name. recorded contains the file
// IDs of recorded images by the image ID in the other service.
func (im *importing) imagesOf(ctx context.Context, makeID int64,
	images []image) (left map[string]int64, recorded map[int64]int64, err error) {
	var ids []int64
	for _, m := range images {
		ids = append(ids, m.ID)
	}
	if recorded, err = im.source.IDs(ctx, "images", ids...); err != nil {
		return nil, nil, err
	}
	found, err := im.store.FilesOn(ctx, models.AllFileFields, models.OnMake, []int64{makeID})
	left = map[string]int64{}
	for _, f := range found[makeID] {
		if !slices.Contains(slices.Collect(maps.Values(recorded)), f.ID) {
			left[f.Name] = f.ID
		}
	}
	return left, recorded, err
}

func (im *importing) createMake(ctx context.Context, id int64) (int64, error) {
	var m made
	if err := im.client.JSON(ctx, fmt.Sprintf("/copies/%d", id), &m); err != nil {
		return 0, err
	}
	name := strings.TrimSpace(m.Name)
	if name == "" {
		name = m.Thing.Name
	}
	left, err := im.source.Unrecorded(ctx, "makes", im.caller.UserID, name)
	if err != nil {
		return 0, err
	}
	thing, err := im.thingHere(ctx, m.Thing.ID)
	if err != nil {
		return 0, err
	}
	here := int64(0)
	switch {
	case len(left) > 0:
		here = left[0]
	case thing != 0:
		made, _, err := im.store.Makes.CreateMake(ctx, im.caller, makes.NewMake{ThingID: thing, Name: name,
			Description: m.Description})
		if err != nil {
			return 0, err
		}
		here = made.ID
	default:
		if m.Thing.ID != 0 {
			im.problem("make %d: its thing %d, %s, does not exist on this server", id, m.Thing.ID, m.Thing.Name)
		}
		made, err := im.store.Importer.Admin().CreateMakeWithoutThing(ctx, im.caller, name, m.Description)
		if err != nil {
			return 0, err
		}
		here = made.ID
	}
	return here, im.source.Record(ctx, "makes", id, here, importer.ImportDates{Created: m.Added.Time})
}
