package threemf

import (
	"errors"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
	"github.com/meshyard/meshyard/internal/mesh/decode/xmlscan"
)

// slicerConfig is the part in which PrusaSlicer describes the volumes of each object. It stores
// modifiers, negative volumes and the places of supports, which are not printed, as triangles of
// the object.
const slicerConfig = "metadata/slic3r_pe_model.config"

// span is a range of triangles of an object.
type span struct{ first, last int64 }

// readVolumes reads which triangles of each object are not printed, in the order of the file. The
// mesh is valid without them, so a damaged description is ignored.
func (p *file) readVolumes() error {
	f := p.File(slicerConfig)
	if f == nil {
		return nil
	}
	r, err := p.Open(f)
	if err == nil {
		err = p.scanVolumes(xmlscan.NewScanner(r, textscan.Quote([]byte(f.Name))+" in the 3MF file", p.limits.Depth))
	}
	if _, damaged := errors.AsType[*mesh.Error](err); damaged {
		clear(p.unprinted)
		return nil
	}
	return err
}

func (p *file) scanVolumes(s *xmlscan.Scanner) error {
	if err := s.Next(); err != nil {
		return err
	}
	return s.EachChild(func() error {
		id, ok := textscan.ParseInt(s.Attr("id"))
		if !ok {
			return nil
		}
		return s.EachChild(func() error {
			if string(s.LocalName()) != "volume" {
				return nil
			}
			if err := p.countElement(); err != nil {
				return err
			}
			first, known := textscan.ParseInt(s.Attr("firstid"))
			last, too := textscan.ParseInt(s.Attr("lastid"))
			printed := true
			err := s.EachChild(func() error {
				if string(s.Attr("key")) == "volume_type" {
					printed = string(s.Attr("value")) == "ModelPart"
				}
				return nil
			})
			if !printed && known && too {
				p.unprinted[id] = append(p.unprinted[id], span{first, last})
			}
			return err
		})
	})
}

// isUnprinted reports whether the current triangle of the mesh is not printed, and counts it.
func (t *meshReader) isUnprinted() bool {
	n := t.count
	t.count++
	for len(t.unprinted) > 0 && t.unprinted[0].last < n {
		t.unprinted = t.unprinted[1:]
	}
	return len(t.unprinted) > 0 && t.unprinted[0].first <= n
}
