package threemf

import (
	"context"
	"path"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/zipfile"
)

// maxPicture is the maximum size in bytes of an embedded image.
const maxPicture = 32 << 20

// pictures are the parts with an image of the whole project, if no plate has one.
var pictures = []string{"metadata/thumbnail.png", "thumbnails/thumbnail.png", "auxiliaries/.thumbnails/thumbnail_3mf.png", "metadata/top_1.png"}

// Picture returns the image of the first plate of a sliced project, which has G-code in place of
// meshes, or nil if it has none. sliced is false if the file has no G-code. An error that the file
// causes is a *mesh.Error.
func Picture(ctx context.Context, src source.Source, limits mesh.Limits) (picture []byte, sliced bool, err error) {
	if !zipfile.IsZIP(src) {
		return nil, false, nil
	}
	c, err := zipfile.Open(ctx, "3MF", src, limits, nil)
	if err != nil {
		return nil, false, err
	}
	first, image := -1, ""
	for _, f := range c.Files {
		name := strings.ToLower(strings.ReplaceAll(f.Name, `\`, "/"))
		name = strings.TrimPrefix(name, "/")
		folder, base := path.Split(name)
		plate, of := strings.CutPrefix(strings.TrimSuffix(base, path.Ext(base)), "plate_")
		if folder != "metadata/" || !of {
			continue
		}
		n, err := strconv.Atoi(plate)
		switch ending := path.Ext(base); {
		case ending == ".gcode":
			sliced = true
		case ending == ".png" && err == nil && (first < 0 || n < first):
			first, image = n, name
		}
	}
	if !sliced {
		return nil, false, nil
	}
	for _, name := range append([]string{image}, pictures...) {
		if f := c.File(name); name != "" && f != nil {
			picture, err := c.ReadFile(f, maxPicture)
			return picture, true, err
		}
	}
	return nil, true, nil
}
