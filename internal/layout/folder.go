package layout

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
)

// Folder is a folder of a source with what the rules need to know of its entries. It takes little
// memory, so that all folders of a large library fit.
type Folder struct {
	Name    string // in the encoding of the source
	Path    string
	Folders []*Folder // sorted by name
	Models  int       // files directly in the folder, as are the others
	Archive int
	Others  int
	// Metadata, Readme and License report whether the folder has such a file.
	Metadata, Readme, License bool
	// Named reports whether a file that is no model has the name of the folder, such as the picture
	// dragon.jpg in Dragon.
	Named bool
	// Various reports whether archives have names that have nothing in common.
	Various bool
	Err     error // of reading it

	designs int // models and archives in it and below
	clean   string
}

// Summarize returns the folder with the given entries, without its subfolders.
func Summarize(name string, entries []Entry) *Folder {
	f := &Folder{Name: name}
	own, archive := stem(cleanName(name), false), ""
	for _, e := range entries {
		switch {
		case e.Mode.IsDir() || Ignored(e.Name):
		case isMetadata(e.Name):
			f.Metadata = true
		case isModel(e.Name):
			f.Models++
		case isArchive(e.Name):
			f.Archive++
			first, _, _ := strings.Cut(stem(withoutExtension(cleanName(e.Name)), false), " ")
			f.Various = f.Various || archive != "" && archive != first && (own == "" || !strings.HasPrefix(own, first))
			archive = first
		default:
			f.Readme = f.Readme || isReadme(e.Name)
			f.License = f.License || isLicense(e.Name)
			f.Named = f.Named || own != "" && stem(withoutExtension(cleanName(e.Name)), isPicture(e.Name)) == own
			f.Others++
		}
	}
	return f
}

// Tree reads the folders of a source.
func Tree(ctx context.Context, src Source) (*Folder, error) {
	root, err := tree(ctx, src, "", "")
	if err == nil && root.Err != nil {
		err = root.Err
	}
	return root, err
}

func tree(ctx context.Context, src Source, dir, name string) (*Folder, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := src.List(dir)
	f := Summarize(name, entries)
	f.Path, f.Err = dir, err
	for _, e := range entries {
		if e.Mode.IsDir() && !Ignored(e.Name) {
			below, err := tree(ctx, src, path.Join(dir, e.Name), e.Name)
			if err != nil {
				return nil, err
			}
			f.Folders = append(f.Folders, below)
		}
	}
	return f, nil
}

// finish sorts the subfolders and counts what is below.
func (f *Folder) finish() {
	slices.SortFunc(f.Folders, func(a, b *Folder) int { return cmp.Compare(a.Name, b.Name) })
	f.clean = cleanName(f.Name)
	f.designs = f.Models + f.Archive
	for _, below := range f.Folders {
		below.finish()
		f.designs += below.designs
	}
}

// hasDesign reports whether there is anything in the folder or below that a thing consists of.
func (f *Folder) hasDesign() bool { return f.designs > 0 || f.Metadata }

// designed returns the subfolders with models.
func (f *Folder) designed() (found []*Folder) {
	for _, below := range f.Folders {
		if below.hasDesign() || below.hasMetadataBelow() {
			found = append(found, below)
		}
	}
	return found
}

func (f *Folder) hasMetadataBelow() bool {
	return f.Metadata || slices.ContainsFunc(f.Folders, (*Folder).hasMetadataBelow)
}

// own returns the subfolders with models whose names have other words than those of variants.
func (f *Folder) own() (found []*Folder) {
	for _, below := range f.designed() {
		if partOf(below.clean, f.clean) == 0 {
			found = append(found, below)
		}
	}
	return found
}

// isThing reports whether the folder is a thing with everything below it. top is set for the top
// folder of an import.
func (f *Folder) isThing(top bool) bool {
	designed := f.designed()
	own := f.own()
	evidentBelow := slices.ContainsFunc(own, (*Folder).evident)
	switch {
	case f.Metadata:
		return true
	case len(designed) == 0:
		return f.Models > 0 || f.Archive > 0 && !top && !f.Various
	case f.Models > 0:
		return len(own) == 0 || (!top || f.Readme || f.Named) && !evidentBelow
	case len(own) == 0 && !f.deep():
		return true
	case len(own) == 1 && len(designed) == 1:
		return slices.Equal(split(own[0].clean), split(f.clean)) && own[0].isThing(false)
	}
	return !evidentBelow && (f.hasVariants() || f.Named)
}

// hasVariants reports whether subfolders are certainly variants of this folder.
func (f *Folder) hasVariants() bool {
	formats, nested := 0, false
	for _, below := range f.designed() {
		switch partOf(below.clean, f.clean) {
		case strong:
			if !below.deep() {
				return true
			}
		case format:
			formats++
			nested = nested || below.Models == 0 && len(below.own()) > 1
		}
	}
	return formats > 0 && (formats > 1 || !nested) && !f.deep()
}

// deep reports whether a variant below has collections in it.
func (f *Folder) deep() bool {
	for _, below := range f.designed() {
		if slices.ContainsFunc(below.own(), func(o *Folder) bool {
			return o.evident() || o.Models == 0 &&
				len(o.own()) > 1
		}) {
			return true
		}
	}
	return false
}

// evident reports whether the folder is a thing whatever is around it.
func (f *Folder) evident() bool {
	if f.Metadata {
		return true
	}
	readable := f.Readme && f.License
	for _, below := range f.designed() {
		if name := strings.ToLower(below.clean); readable || name == "files" && below.Models > 0 ||
			partOf(below.clean, f.clean) == strong {
			return true
		}
	}
	return readable && f.Models > 0
}
