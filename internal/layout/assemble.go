package layout

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// assemble sets the files of a thing, and what they say about it.
func (v *visitor) assemble(r *Result, t Thing, files []found) Thing {
	slices.SortFunc(files, func(a, b found) int { return cmp.Compare(a.inside, b.inside) })
	clean := newRelative(names(files))
	texts := &texts{src: v.src, thing: &t, shallow: shallow(files)}
	isText := make([]bool, len(files))
	for _, first := range []bool{true, false} { // metadata say what the others are
		for i, f := range files {
			if isMetadata(f.Name) == first {
				isText[i] = texts.read(f)
			}
		}
	}
	for i, f := range files {
		p := clean.path(f.inside)
		if isText[i] {
			continue
		}
		inPackage := texts.inPackage(f)
		p = cmp.Or(texts.paths[inPackage], p)
		t.Files = append(t.Files, File{Source: f.source, Path: p, Size: f.Size, ModTime: f.ModTime, Kind: kindOf(p),
			Variant: variantOf(p, t.Name), Caption: texts.captions[inPackage]})
	}
	for _, folder := range r.Place.Licenses {
		texts.inherit(folder)
	}
	texts.finish()
	t.Notes = append(t.Notes, clean.decoder.Note()...)
	slices.SortStableFunc(t.Used, func(a, b Use) int { return cmp.Compare(a.Source, b.Source) })
	t.setCover(cmp.Or(texts.paths[texts.image], texts.image))
	return t
}

// shallow returns the depth of the topmost folder of the thing that contains a file, so that a
// README in the only folder of an archive counts.
func shallow(files []found) int {
	depth := -1
	for _, f := range files {
		if d := strings.Count(f.inside, "/"); depth < 0 || d < depth {
			depth = d
		}
	}
	return max(depth, 0)
}

// variantOf returns the variant that the path of a file shows. The name of the file counts if the
// folders show none.
func variantOf(file, thing string) string {
	var found []string
	add := func(labels []string) {
		for _, l := range labels {
			if !slices.Contains(found, l) {
				found = append(found, l)
			}
		}
	}
	above := thing
	if dir := path.Dir(file); dir != "." {
		for folder := range strings.SplitSeq(dir, "/") {
			if partOf(folder, above) > 0 {
				add(labels(folder, above, weak))
			} else {
				add(labels(folder, above, strong))
			}
		}
	}
	if len(found) == 0 && isModel(file) {
		stem := withoutExtension(path.Base(file))
		add(labels(stem, above, strong))
		for _, p := range parse(without(split(stem), split(above))) {
			if p.known && strings.HasPrefix(p.label, "Pose ") {
				add([]string{p.label})
			}
		}
	}
	return strings.Join(found, ", ")
}

// setCover chooses the picture that shows the thing in lists. declared is a path of a metadata
// file.
func (t *Thing) setCover(declared string) {
	best, least := -1, 0
	name := strings.Join(split(t.Name), " ")
	for i, f := range t.Files {
		if f.Kind != Picture {
			continue
		}
		rank := rankCover(f.Path, name)
		if declared != "" && f.Path == path.Clean(declared) {
			rank = -1
		}
		if best < 0 || rank < least || rank == least && natural(f.Path, t.Files[best].Path) {
			best, least = i, rank
		}
	}
	if best >= 0 {
		t.Files[best].Cover = true
	}
}

// rankCover returns how well a picture suits as the cover. The smallest rank suits best.
func rankCover(file, thing string) int {
	words := split(withoutExtension(path.Base(file)))
	rank := 300
	isRender := func(word string) bool { return renderWords[word] }
	inRenders := slices.ContainsFunc(split(path.Dir(file)), isRender)
	cover := slices.IndexFunc(coverWords, func(word string) bool { return slices.Contains(words, word) })
	switch {
	case cover >= 0 && len(words) <= 2+len(strings.Fields(thing)):
		rank = cover
	case stem(withoutExtension(path.Base(file)), true) == thing:
		rank = 100
	case slices.ContainsFunc(words, isRender) || inRenders:
		rank = 200
	}
	return rank*8 + min(strings.Count(file, "/"), 7)
}

// natural reports whether a is before b in the order of people: 2 is before 10.
func natural(a, b string) bool {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da > 0 && db > 0 {
			na, nb := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
			if len(na) != len(nb) {
				return len(na) < len(nb)
			}
			if na != nb {
				return na < nb
			}
			a, b = a[da:], b[db:]
			continue
		}
		if a[0] != b[0] {
			return a[0] < b[0]
		}
		a, b = a[1:], b[1:]
	}
	return len(a) < len(b)
}

func digits(s string) (n int) {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
