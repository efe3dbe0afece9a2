package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/meshyard/meshyard/internal/legacyclient"
)

// images uploads the images of a thing and returns their IDs. It skips renderings of the thing's
// models, which this server generates itself.
func (im *importing) images(ctx context.Context, t *legacyclient.Thing,
	files []legacyclient.File) (ids []int64, err error) {
	var images []image
	if err := im.client.JSON(ctx, fmt.Sprintf("/things/%d/images", t.ID), &images); err != nil {
		return nil, err
	}
	originals := originals(t, images)
	for i, m := range images {
		if slices.ContainsFunc(files, func(f legacyclient.File) bool {
			return f.DefaultImage != nil &&
				f.DefaultImage.ID == m.ID
		}) {
			continue
		}
		if originals[i] == "" {
			im.problem("thing %d, image %d, %s: the original is not available, a scaled image was imported", t.ID, m.ID, m.Name)
		}
		id, err := im.upload(ctx, m.Name, -1, "", originals[i], m.large())
		if isObjectError(err) {
			im.problem("thing %d, image %d, %s: %v", t.ID, m.ID, m.Name, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		im.report.Images++
		ids = append(ids, id)
	}
	return ids, nil
}

// originals returns the URL of the original of each image, or "" if there is none. The description
// of the thing's ZIP archive contains these URLs. Images are matched by name, and images with the
// same name in order.
func originals(t *legacyclient.Thing, images []image) []string {
	urls, taken := make([]string, len(images)), make([]bool, len(t.ZipData.Images))
	for i, m := range images {
		for j, z := range t.ZipData.Images {
			if z.Name == m.Name && !taken[j] {
				urls[i], taken[j] = z.URL, true
				break
			}
		}
	}
	return urls
}

// original uploads the original of a make's image if the service has it as a file, and otherwise a
// scaled image of the size "large".
func (im *importing) original(ctx context.Context, makeID int64, m *image) (int64, error) {
	var f legacyclient.File
	err := im.client.JSON(ctx, fmt.Sprintf("/files/%d", m.ID), &f)
	var status *legacyclient.StatusError
	switch {
	// Files and images may have separate IDs, so the name is compared too.
	case err == nil && f.ID == m.ID && f.Name == m.Name:
		return im.file(ctx, &f, true)
	case err != nil && (!errors.As(err, &status) || status.Status == http.StatusUnauthorized):
		return 0, err
	}
	im.problem("make %d, image %d, %s: the original is not available, a scaled image was imported", makeID, m.ID, m.Name)
	return im.upload(ctx, m.Name, -1, "", m.large())
}
