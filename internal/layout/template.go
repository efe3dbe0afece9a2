package layout

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Template says what the folders of each level are, such as {creator}/{collection}/{thing}.
type Template struct {
	text     string
	segments []segment
}

// segment is the part of a template for one level.
type segment struct {
	pattern *regexp.Regexp
	fields  []string
}

func (t *Template) String() string { return t.text }

// templateFields are the names that a template may have in braces.
var templateFields = []string{"creator", "collection", "thing", "tag", "*"}

var field = regexp.MustCompile(`\{([^{}]*)\}`)

// ParseTemplate reads a template. Its last level must contain {thing}.
func ParseTemplate(text string) (*Template, error) {
	t := &Template{text: text}
	levels := strings.Split(strings.Trim(text, "/"), "/")
	for i, level := range levels {
		var s segment
		pattern := `^\s*`
		at := 0
		for _, m := range field.FindAllStringSubmatchIndex(level, -1) {
			name := level[m[2]:m[3]]
			if !slices.Contains(templateFields, name) {
				return nil, fmt.Errorf("template %q: {%s} is not known: must be one of {%s}", text, name,
					strings.Join(templateFields, "}, {"))
			}
			pattern += regexp.QuoteMeta(level[at:m[0]]) + `(.+?)`
			s.fields = append(s.fields, name)
			at = m[1]
		}
		pattern += regexp.QuoteMeta(level[at:]) + `\s*$`
		if len(s.fields) == 0 || strings.ContainsAny(field.ReplaceAllString(level, ""), "{}") {
			return nil, fmt.Errorf("template %q: level %d must contain a name in braces, such as {collection}", text, i+1)
		}
		if has := slices.Contains(s.fields, "thing"); has != (i == len(levels)-1) {
			return nil, fmt.Errorf("template %q: {thing} must be in the last level, and in no other", text)
		}
		s.pattern = regexp.MustCompile(pattern)
		t.segments = append(t.segments, s)
	}
	return t, nil
}

// match adds what a name says to a place. It reports whether the name fits.
func (s segment) match(name string, at *Place) bool {
	m := s.pattern.FindStringSubmatch(name)
	if m == nil {
		return false
	}
	for i, value := range m[1:] {
		switch value = display(value); s.fields[i] {
		case "creator":
			at.Creator = value
		case "collection":
			at.Collection = append(slices.Clone(at.Collection), value)
		case "tag":
			at.Tags = append(slices.Clone(at.Tags), value)
		case "thing":
			at.Name = value
		}
	}
	return true
}

// isCollection reports whether the level is one of collections only, which a thing may leave out.
func (s segment) isCollection() bool {
	return !slices.ContainsFunc(s.fields, func(f string) bool { return f != "collection" })
}

// template plans the folders below a folder. levels are those that remain.
func (p *planner) template(at Place, levels []segment) {
	if at.Folder.License || at.Folder.Readme {
		at.Licenses = append(slices.Clone(at.Licenses), at.Folder)
	}
	for _, f := range at.Folder.Folders {
		next := at
		next.Folder, next.Parent, next.Top = f, at.Folder, false
		switch {
		case !f.hasDesign() && !f.hasMetadataBelow():
			next.Unused = true
			p.places = append(p.places, next)
		case levels[0].isCollection() && f.isThing(false): // a thing without a collection
			p.places = append(p.places, next)
		case !levels[0].match(f.clean, &next):
			p.folder(next)
		case len(levels) == 1:
			p.places = append(p.places, next)
		default:
			p.template(next, levels[1:])
		}
	}
	p.loose(at)
}
