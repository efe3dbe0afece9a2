package layout

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/cleanname"
)

// loose are the files directly in a folder that contains things, by the stem of their names.
type loose struct {
	byStem  map[string][]found
	order   []string // the stems in the order of their first files
	skipped []Skipped
	ignored int
	// adopted are the sources of the files that belong to a thing in a folder beside them.
	adopted map[string]bool
}

// looseOf reads the loose files of a folder, once for all things in it.
func (v *visitor) looseOf(f *Folder) *loose {
	if l := v.loose[f]; l != nil {
		return l
	}
	l := &loose{byStem: map[string][]found{}, adopted: map[string]bool{}}
	v.loose[f] = l
	var r Result
	var files []found
	v.collect(&r, &Folder{Path: f.Path, Err: f.Err}, "", &files)
	for _, s := range r.Skipped {
		if s.Reason != "it was created during the search" { // folders, which are other places
			l.skipped = append(l.skipped, s)
		}
	}
	l.ignored = r.Ignored
	decoder := cleanname.NewDecoder(names(files))
	for _, file := range files {
		s := stem(withoutExtension(decoder.Decode(file.Name)), isPicture(file.Name))
		if l.byStem[s] == nil {
			l.order = append(l.order, s)
		}
		l.byStem[s] = append(l.byStem[s], file)
	}
	return l
}

func names(files []found) (names []string) {
	for _, f := range files {
		names = append(names, f.inside)
	}
	return names
}

// companions returns the loose files that have the name of a folder beside them. Models are things
// of their own, but a ZIP archive is the download from which the folder was unpacked.
func (l *loose) companions(name string) (files []found) {
	for _, f := range l.byStem[stem(name, false)] {
		if !isModel(f.Name) && !isReadme(f.Name) && !isLicense(f.Name) {
			files = append(files, f)
			l.adopted[f.source] = true
		}
	}
	return files
}

// looseThings makes things of the loose files of a folder.
func (v *visitor) looseThings(r *Result) {
	at := r.Place
	l := v.looseOf(at.Folder)
	r.Skipped, r.Ignored = append(r.Skipped, l.skipped...), r.Ignored+l.ignored
	if v.Loose == LooseOne {
		v.looseOne(r, l)
		return
	}
	var rest []found
	for _, s := range l.order {
		files := slices.DeleteFunc(slices.Clone(l.byStem[s]), func(f found) bool { return l.adopted[f.source] })
		slices.SortStableFunc(files, func(a, b found) int { return cmp.Compare(len(a.Name), len(b.Name)) })
		first := slices.IndexFunc(files, func(f found) bool { return isModel(f.Name) })
		if first < 0 {
			first = slices.IndexFunc(files, func(f found) bool { return isArchive(f.Name) })
		}
		if first < 0 {
			rest = append(rest, files...)
			continue
		}
		said := readName(looseName(files, s))
		t := Thing{Source: files[first].source, Name: said.name, Creator: cmp.Or(at.Creator, said.creator), URL: said.url,
			Collection: at.Collection, Tags: at.Tags}
		r.Things = append(r.Things, v.assemble(r, t, files))
	}
	for _, f := range rest {
		switch {
		case isReadme(f.Name) || isLicense(f.Name):
			r.Used = append(r.Used, Use{f.source, "license and description of the folder"})
		default:
			r.skip(f.source, "it lies beside several things, and no model has its name")
		}
	}
	slices.SortFunc(r.Things, func(a, b Thing) int { return cmp.Compare(a.Source, b.Source) })
}

// looseName returns the name of a thing of loose files: that of the shortest one without the words
// of variants, as it is written.
func looseName(files []found, want string) string {
	best := ""
	for _, f := range files {
		name := withoutExtension(cleanName(f.Name))
		if strings.Join(split(name), " ") == want {
			return name
		}
		if best == "" || len(name) < len(best) {
			best = name
		}
	}
	// Every file has a word for a variant: cut the name where the stem ends.
	for n := 1; n < len(best); n++ {
		if strings.Join(split(best[:n]), " ") == want && (n == len(best) || strings.ContainsRune(" _-.+([", rune(best[n]))) {
			return best[:n]
		}
	}
	return best
}

// looseOne makes one thing of all loose files of a folder.
func (v *visitor) looseOne(r *Result, l *loose) {
	at := r.Place
	var files []found
	designs := false
	for _, s := range l.order {
		for _, f := range l.byStem[s] {
			if !l.adopted[f.source] {
				files = append(files, f)
				designs = designs || isModel(f.Name) || isArchive(f.Name)
			}
		}
	}
	if !designs {
		for _, f := range files {
			r.skip(f.source, "it lies beside several things, and no model has its name")
		}
		return
	}
	slices.SortFunc(files, func(a, b found) int { return cmp.Compare(a.source, b.source) })
	name := cmp.Or(at.Folder.clean, cleanName(v.Name))
	t := Thing{Source: path.Join(at.Folder.Path, "."), Name: display(name), Creator: at.Creator, Collection: at.Collection,
		Tags: at.Tags}
	r.Things = append(r.Things, v.assemble(r, t, files))
}
