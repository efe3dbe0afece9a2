package layout

import (
	"slices"
	"strings"
)

// Place is a part of a source that is read at once: the folder of a thing, several folders of one
// thing, or the loose files of a folder of several things.
type Place struct {
	Folder  *Folder   // the thing, or the folder that contains what Folders or Loose say
	Folders []*Folder // the folders of the thing, if it has several
	Loose   bool      // the files directly in Folder
	// Unused marks a folder in which nothing belongs to a thing.
	Unused     bool
	container  bool // the end of a folder of things
	Top        bool // Folder is the top folder
	Parent     *Folder
	Collection []string
	Creator    string
	Tags       []string
	Name       string // of the template; "" takes that of the folder
	Licenses   []*Folder
}

// planner finds the places of a source.
type planner struct {
	Options
	places []Place
}

// IsEmpty reports whether there is nothing to read at the place, because it is only the end of a
// folder of things.
func (p Place) IsEmpty() bool { return p.container && !p.Loose && !p.Unused }

// Places returns the places of a source in the order of their paths. The loose files of a folder
// come after those below it.
func Places(root *Folder, o Options) []Place {
	root.finish()
	p := &planner{Options: o}
	at := Place{Folder: root, Top: true}
	switch {
	case o.Template != nil:
		p.template(at, o.Template.segments)
	case !o.Library && (o.Loose != LooseEach || root.Metadata || len(root.designed()) > 0) && root.isThing(!o.Archive):
		p.places = append(p.places, at)
	default:
		p.container(at)
	}
	return p.places
}

// container plans a folder that contains things.
func (p *planner) container(at Place) {
	if at.Folder.License || at.Folder.Readme {
		at.Licenses = append(slices.Clone(at.Licenses), at.Folder)
	}
	groups := grouped(at.Folder)
	for _, f := range at.Folder.Folders {
		next := at
		next.Folder, next.Parent, next.Top = f, at.Folder, false
		switch group := groups[f]; {
		case group != nil && group[0] != f: // planned with the first one
		case group != nil:
			next.Folder, next.Folders, next.Parent = at.Folder, group, at.Folder
			p.places = append(p.places, next)
		default:
			p.folder(next)
		}
	}
	p.loose(at)
}

// folder plans a folder that is not the top one.
func (p *planner) folder(at Place) {
	switch {
	case !at.Folder.hasDesign() && !at.Folder.hasMetadataBelow():
		at.Unused = true
		p.places = append(p.places, at)
	case at.Folder.isThing(false):
		p.places = append(p.places, at)
	default:
		if !nameless(at.Folder.clean) {
			at.Collection = append(slices.Clone(at.Collection), display(at.Folder.clean))
		}
		p.container(at)
	}
}

// loose plans the files directly in a folder that contains things.
func (p *planner) loose(at Place) {
	if at.Folder.Models+at.Folder.Archive+at.Folder.Others > 0 || at.Folder.Err != nil || at.Folder.Metadata {
		at.Loose = true
	}
	at.container = true
	p.places = append(p.places, at)
}

// nameless reports whether the name of a folder says nothing about its contents, so that it is no
// name of a collection.
func nameless(name string) bool {
	for _, p := range parse(split(name)) {
		if !p.known || p.strength == weak {
			return false
		}
	}
	return true
}

// grouped returns the subfolders that are variants of one thing beside each other, such as "Dragon
// Supported" and "Dragon Unsupported", by each of them.
func grouped(f *Folder) map[*Folder][]*Folder {
	byStem := map[string][]*Folder{}
	for _, below := range f.Folders {
		if !below.hasDesign() || below.Metadata || len(labels(below.clean, "", format)) == 0 {
			continue
		}
		if s := stem(below.clean, false); s != "" && (below.Models > 0 || below.isThing(false)) {
			byStem[s] = append(byStem[s], below)
		}
	}
	groups := map[*Folder][]*Folder{}
	for _, below := range f.Folders { // one without a word for a variant is the thing itself
		if s := strings.Join(split(below.clean), " "); below.hasDesign() && !below.Metadata &&
			len(labels(below.clean, "", format)) == 0 && byStem[s] != nil && below.isThing(false) {
			byStem[s] = append([]*Folder{below}, byStem[s]...)
		}
	}
	for _, group := range byStem {
		if len(group) > 1 {
			slices.SortFunc(group, func(a, b *Folder) int { return strings.Compare(a.Name, b.Name) })
			for _, below := range group {
				groups[below] = group
			}
		}
	}
	return groups
}
