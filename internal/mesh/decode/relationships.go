package decode

import (
	"net/url"
	"path"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
)

// The types of relationships that matter (3MF core specification, appendix C; 3MF secure content specification).
const (
	relationModel     = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
	relationThumbnail = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/thumbnail"
	relationEncrypted = "http://schemas.openxmlformats.org/package/2006/relationships/encryptedfile"
)

// relationships gives the path of the first target of each type that a part has, or the package where the part is "". They are those of
// the Open Packaging Conventions (ECMA-376, part 2).
func (c *container) relationships(part string) (map[string]string, error) {
	folder, base := path.Split(part)
	folder = strings.TrimSuffix(folder, "/")
	f := c.file(path.Join(folder, "_rels", base+".rels"))
	if f == nil {
		return nil, nil
	}
	r, err := c.open(f)
	if err != nil {
		return nil, err
	}
	s := newXMLScanner(r, quote([]byte(f.Name))+" in the "+c.name+" file", c.limits)
	if err := s.next(); err != nil {
		return nil, err
	}
	targets := map[string]string{}
	count := int64(0)
	err = s.children(func() error {
		if count++; count > c.limits.Elements {
			return s.errorf(mesh.TooLarge, "has more than %d relationships", c.limits.Elements)
		}
		kind, target := string(s.attr("Type")), string(s.attr("Target"))
		if string(s.local()) != "Relationship" || string(s.attr("TargetMode")) == "External" || targets[kind] != "" {
			return nil
		}
		switch kind {
		case relationModel, relationThumbnail, relationEncrypted:
		default:
			return nil
		}
		to, ok := c.reference(folder, target)
		if !ok {
			return s.errorf(mesh.Malformed, "refers to %s, which leads out of the package", quote([]byte(target)))
		}
		targets[kind] = to
		return nil
	})
	return targets, err
}

// reference gives the path of a part that another one in a folder refers to: as it stands if there is such a part, else without percent
// signs. It tells false where it leads out.
func (c *container) reference(folder, target string) (string, bool) {
	to, ok := join(folder, target)
	if ok && c.file(to) == nil {
		if name, err := url.PathUnescape(target); err == nil {
			return join(folder, name)
		}
	}
	return to, ok
}
