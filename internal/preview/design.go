package preview

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode"
	"github.com/meshyard/meshyard/internal/mesh/decode/zipfile"
)

// maxPicture is the maximum size of an image in a file of a CAD program, in bytes.
const maxPicture = 32 << 20

// embeddedPicture returns the image in a file of a CAD program, which is a ZIP archive, or nil if
// there is none: thumbnails/Thumbnail.png of FreeCAD, and Previews/small.png in the folder of the
// active design of Fusion. A damaged file has no image, which is no error, because the image is
// optional. Other errors come from src or ctx.
func embeddedPicture(ctx context.Context, src Source, limits mesh.Limits) ([]byte, error) {
	from := decode.Source{ReaderAt: src, Size: src.Size}
	if !zipfile.IsZIP(from) {
		return nil, nil
	}
	archive, err := zipfile.Open(ctx, "CAD", from, limits, nil)
	if err != nil {
		return nil, withoutMeshError(err)
	}
	for _, f := range archive.Files {
		name := strings.ToLower(strings.ReplaceAll(f.Name, `\`, "/"))
		folder, base := path.Split(name)
		if name != "thumbnails/thumbnail.png" && (base != "small.png" || path.Base(folder) != "previews") {
			continue
		}
		picture, err := archive.ReadFile(f, maxPicture)
		return picture, withoutMeshError(err)
	}
	return nil, nil
}

// withoutMeshError returns nil for an error that the file causes.
func withoutMeshError(err error) error {
	if _, bad := errors.AsType[*mesh.Error](err); bad {
		return nil
	}
	return err
}
