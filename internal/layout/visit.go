package layout

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// visitor reads the places of a source.
type visitor struct {
	Options
	src   Source
	loose map[*Folder]*loose // files of the folders above the current place
}

// Visit reads the places of a source. See [Find].
func Visit(ctx context.Context, src Source, places []Place, o Options, visit func(Result) error) error {
	v := &visitor{o, src, map[*Folder]*loose{}}
	for _, at := range places {
		if err := ctx.Err(); err != nil {
			return err
		}
		if o.Unchanged != nil && o.Unchanged(at) {
			continue
		}
		r := Result{Place: at}
		switch {
		case at.Unused:
			v.unused(&r)
		case at.Loose:
			v.looseThings(&r)
		case !at.container:
			v.thing(&r)
		}
		if at.container {
			delete(v.loose, at.Folder)
		}
		if err := visit(r); err != nil {
			return err
		}
	}
	return nil
}

// found is a file of a thing before its path is clean.
type found struct {
	Entry
	source string
	inside string // its path in the thing, in the encoding of the source
}

// reason returns why an entry cannot be read, or "".
func reason(e Entry) string {
	switch {
	case e.Skip != "":
		return e.Skip
	case e.Mode.IsRegular() || e.Mode.IsDir():
		return ""
	case e.Mode&fs.ModeSymlink != 0:
		return "symbolic links are not followed"
	}
	return "it is not a regular file"
}

// collect adds the files in and below a folder. It reports what is skipped.
func (v *visitor) collect(r *Result, f *Folder, inside string, files *[]found) {
	entries, err := v.src.List(f.Path)
	if err = cmp.Or(err, f.Err); err != nil {
		r.skip(f.Path, fmt.Sprintf("it cannot be read: %v", err))
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	folders := map[string]*Folder{}
	for _, below := range f.Folders {
		folders[below.Name] = below
	}
	for _, e := range entries {
		source := path.Join(f.Path, e.Name)
		switch below := folders[e.Name]; {
		case Ignored(e.Name):
			r.Ignored++
		case below != nil && e.Mode.IsDir():
			v.collect(r, below, path.Join(inside, e.Name), files)
		case e.Mode.IsDir(): // it was created after the folders were read
			r.skip(source, "it was created during the search")
		case reason(e) != "":
			r.skip(source, reason(e))
		case partialTypes[extension(e.Name)]:
			r.skip(source, "it is an incomplete download")
		default:
			*files = append(*files, found{e, source, path.Join(inside, e.Name)})
		}
	}
}

func (r *Result) skip(source, why string) { r.Skipped = append(r.Skipped, Skipped{source, why}) }

// unused reports all files below a folder as skipped.
func (v *visitor) unused(r *Result) {
	var files []found
	v.collect(r, r.Place.Folder, "", &files)
	if r.Place.Parent != nil {
		files = slices.DeleteFunc(files, func(f found) bool { return v.looseOf(r.Place.Parent).adopted[f.source] })
	}
	for _, f := range files {
		r.skip(f.source, "no folder above it is a thing: a thing has at least one model")
	}
}

// thing reads the thing at a place.
func (v *visitor) thing(r *Result) {
	at := r.Place
	var files []found
	t := Thing{Source: at.Folder.Path, Collection: at.Collection, Creator: at.Creator, Tags: at.Tags}
	name := cmp.Or(at.Name, at.Folder.clean, cleanName(v.Name))
	if len(at.Folders) == 0 {
		v.collect(r, at.Folder, "", &files)
	} else {
		t.Source = at.Folders[0].Path
		name = groupName(at.Folders)
		for _, f := range at.Folders {
			v.collect(r, f, f.Name, &files)
		}
	}
	if at.Parent != nil {
		files = append(files, v.looseOf(at.Parent).companions(name)...)
	}
	said := readName(name)
	if at.Name == "" && at.Parent != nil && len(at.Folders) == 0 && isGeneric(name) {
		said.name = strings.TrimSpace(display(at.Parent.clean) + " " + said.name)
	}
	t.Name = said.name
	t.Creator, t.URL = cmp.Or(t.Creator, said.creator), said.url
	r.Things = append(r.Things, v.assemble(r, t, files))
}

// isGeneric reports whether a name has only words of variants.
func isGeneric(name string) bool { return partOf(name, "") != 0 }

// groupName returns the name of a thing in several folders: the words that all of them have.
func groupName(folders []*Folder) string {
	shortest := folders[0].clean
	for _, f := range folders {
		if len(labels(f.clean, "", format)) == 0 {
			return f.clean
		}
	}
	words, want := strings.FieldsFunc(shortest, func(r rune) bool { return strings.ContainsRune(" _-+()[]", r) }),
		stem(shortest, false)
	for n := len(words); n > 0; n-- {
		for from := 0; from+n <= len(words); from++ {
			if name := strings.Join(words[from:from+n], " "); strings.Join(split(name), " ") == want {
				return name
			}
		}
	}
	return want
}
