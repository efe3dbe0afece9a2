package models

import (
	"cmp"
	"context"
	"slices"

	"github.com/uptrace/bun"
)

// An image is either an image file, whose ID is that of the file, or the rendering of a model,
// which has its own ID (File.RenderingID) from the same sequence. A model gets the ID of its
// rendering when it is finalized, and keeps it when the rendering is generated again. Removing the
// rendering sets the ID to 0, so that generating it again does not restore it, and does not change
// the model.

// ImageID returns the ID of the file as an image, or 0 if it is not an image.
func (f *File) ImageID() int64 {
	if f.Kind == Image {
		return f.ID
	}
	return f.RenderingID
}

// ImageRank returns the rank of the file among the images of its target. It is nil for a rendering
// without a rank: those follow all others, in the order of their models.
func (f *File) ImageRank() *int32 {
	if f.Kind == Image {
		return &f.Rank
	}
	return f.RenderingRank
}

// imageOrder sorts the files that are images. It must agree with CompareImages.
const imageOrder = "CASE WHEN files.kind <> 'image' AND files.rendering_rank IS NULL THEN 1 ELSE 0 END, " +
	"CASE WHEN files.kind <> 'image' THEN coalesce(files.rendering_rank, files.rank) ELSE files.rank END, files.id"

// CompareImages orders two files that are images: by rank, then by ID, and renderings without a
// rank last.
func CompareImages(a, b *File) int {
	ra, rb := a.ImageRank(), b.ImageRank()
	switch {
	case ra == nil && rb != nil:
		return 1
	case ra != nil && rb == nil:
		return -1
	case ra == nil:
		ra, rb = &a.Rank, &b.Rank
	}
	return cmp.Or(cmp.Compare(*ra, *rb), cmp.Compare(a.ID, b.ID))
}

// AssignRenderingIDs assigns IDs to the renderings of the models among files.
func (s *Store) AssignRenderingIDs(ctx context.Context, tx bun.Tx, files []*File) error {
	models := slices.DeleteFunc(slices.Clone(files), func(f *File) bool { return f.Kind != Model })
	ids, err := s.DB.TakeIDs(ctx, tx, "files", len(models))
	for i, id := range ids {
		models[i].RenderingID = id
	}
	return err
}
