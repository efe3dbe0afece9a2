package threemf

import (
	"net/url"
	"path"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
	"github.com/meshyard/meshyard/internal/mesh/decode/xmlscan"
	"github.com/meshyard/meshyard/internal/mesh/decode/zipfile"
)

// The relevant relationship types (3MF core specification, appendix C; 3MF secure content
// specification).
const (
	relationshipModel     = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
	relationshipEncrypted = "http://schemas.openxmlformats.org/package/2006/relationships/encryptedfile"
)

// relationships returns the path of the first target of each relevant relationship type of a part,
// or of the package if part is "" (Open Packaging Conventions, ECMA-376 part 2).
func (p *file) relationships(part string) (map[string]string, error) {
	folder, base := path.Split(part)
	folder = strings.TrimSuffix(folder, "/")
	f := p.File(path.Join(folder, "_rels", base+".rels"))
	if f == nil {
		return nil, nil
	}
	r, err := p.Open(f)
	if err != nil {
		return nil, err
	}
	s := xmlscan.NewScanner(r, textscan.Quote([]byte(f.Name))+" in the 3MF file", p.limits.Depth)
	if err := s.Next(); err != nil {
		return nil, err
	}
	targets := map[string]string{}
	count := int64(0)
	err = s.EachChild(func() error {
		if count++; count > p.limits.Elements {
			return s.Errorf(mesh.TooLarge, "has more than %d relationships", p.limits.Elements)
		}
		kind, target := string(s.Attr("Type")), string(s.Attr("Target"))
		if string(s.LocalName()) != "Relationship" || string(s.Attr("TargetMode")) == "External" || targets[kind] != "" {
			return nil
		}
		switch kind {
		case relationshipModel, relationshipEncrypted:
		default:
			return nil
		}
		to, ok := p.reference(folder, target)
		if !ok {
			return s.Errorf(mesh.Malformed, "refers to %s, which leads out of the package", textscan.Quote([]byte(target)))
		}
		targets[kind] = to
		return nil
	})
	return targets, err
}

// reference resolves a path relative to a folder: as written if there is such a part, otherwise
// after percent-decoding. It accepts Windows path separators. ok is false if it leads out of the
// package.
func (p *file) reference(folder, target string) (path string, ok bool) {
	target = strings.ReplaceAll(target, `\`, "/")
	to, ok := zipfile.JoinPath(folder, target)
	if ok && p.File(to) == nil {
		if name, err := url.PathUnescape(target); err == nil {
			return zipfile.JoinPath(folder, name)
		}
	}
	return to, ok
}
