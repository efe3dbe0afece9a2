package preview

import (
	"context"
	"io"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Source is the bytes of a content.
type Source struct {
	io.ReaderAt
	Size int64
}

// Derive makes what there is to make of a content that is taken for a subject, and hands each part to put, which calls write at most once. It tells progress, from 0 to 1, of
// each stage. What is wrong with the bytes is a *mesh.Error; other errors come of put, of the source, or of ctx.
func Derive(ctx context.Context, src Source, subject Subject, put func(part Part, write func(io.Writer) error) error, progress func(stage string, done float64)) (Result, error) {
	return Result{}, mesh.Errorf(mesh.Unsupported, "nothing is derived of %s files", subject)
}
