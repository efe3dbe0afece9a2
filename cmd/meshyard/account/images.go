package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/meshyard/meshyard/internal/legacyclient"
)

// images uploads the images of a thing, without renderings of its models, which are made here
// again.
func (im *importing) images(ctx context.Context, t *thing, files []file) (ids []int64, err error) {
	var images []image
	if err := im.client.JSON(ctx, fmt.Sprintf("/things/%d/images", t.ID), &images); err != nil {
		return nil, err
	}
	originals := originals(t, images)
	for i, m := range images {
		if slices.ContainsFunc(files, func(f file) bool { return f.DefaultImage != nil && f.DefaultImage.ID == m.ID }) {
			continue
		}
		if originals[i] == "" {
			im.problem("thing %d, image %d, %s: only a scaled image could be had", t.ID, m.ID, m.Name)
		}
		id, err := im.upload(ctx, m.Name, -1, "", originals[i], m.large())
		if excusable(err) {
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

// originals returns the URLs of the images as they were uploaded, which are where the ZIP archive
// of a thing is described. They are found by name, and those of the same name by their order.
func originals(t *thing, images []image) []string {
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

// original uploads an image of a make as it was uploaded if the service has it as a file, and
// otherwise the largest size of it.
func (im *importing) original(ctx context.Context, makeID int64, m *image) (int64, error) {
	var f file
	err := im.client.JSON(ctx, fmt.Sprintf("/files/%d", m.ID), &f)
	var status *legacyclient.StatusError
	switch {
	case err == nil && f.ID == m.ID && f.Name == m.Name: // files and images may have ids of their own
		return im.file(ctx, &f, true)
	case err != nil && (!errors.As(err, &status) || status.Status == http.StatusUnauthorized):
		return 0, err
	}
	im.problem("make %d, image %d, %s: only a scaled image could be had", makeID, m.ID, m.Name)
	return im.upload(ctx, m.Name, -1, "", m.large())
}
