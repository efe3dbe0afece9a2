package layout

import (
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/cleanname"
)

// cleanName returns the name of one entry as UTF-8.
func cleanName(name string) string {
	if name == "" {
		return ""
	}
	return cleanname.Segment(cleanname.NewDecoder([]string{name}).Decode(name))
}

var (
	// thingiverse matches the name of a download of Thingiverse without its extension.
	thingiverse = regexp.MustCompile(`^(.+?)[ _+]-[ _+](\d{2,9})$`)
	// thangs matches the name of a download of Thangs.
	thangs = regexp.MustCompile(`(?i)^(.+?) - 3D model by (.+?) on Thangs$`)
	// suffixes match what sites append to the names of downloads.
	suffixes = regexp.MustCompile(
		`(?i)[-_ ](model[-_ ]files|print[-_ ]files|all[-_ ]files|stl[-_ ]files?(-\d+)?|3d[-_ ]model[-_ ]files)$`)
	escapes = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
)

// named is what the name of a folder or an archive says.
type named struct{ name, creator, url string }

// readName returns what a clean name says about a thing.
func readName(name string) (n named) {
	n.name = name
	if m := thangs.FindStringSubmatch(name); m != nil {
		return named{name: display(m[1]), creator: strings.TrimSpace(m[2])}
	}
	if m := thingiverse.FindStringSubmatch(name); m != nil {
		n.name, n.url = m[1], "https://www.thingiverse.com/thing:"+m[2]
	}
	if short := suffixes.ReplaceAllString(n.name, ""); short != n.name && short != "" {
		n.name = short
		if !strings.ContainsAny(short, " _") {
			n.name = strings.ReplaceAll(short, "-", " ")
		}
	}
	n.name = display(n.name)
	return n
}

// display returns a name as people write it: with spaces for the characters that stand for them.
func display(name string) string {
	shown := strings.ReplaceAll(name, "_", " ")
	if !strings.Contains(shown, " ") {
		shown = strings.ReplaceAll(shown, "+", " ")
	}
	shown = escapes.ReplaceAllStringFunc(shown, func(e string) string {
		if e == "%20" {
			return " "
		}
		return e
	})
	if shown = strings.Join(strings.Fields(shown), " "); shown == "" {
		return name
	}
	return shown
}

// withoutExtension returns a name without its extension, or two for compressed and sliced files.
func withoutExtension(name string) string {
	short := strings.TrimSuffix(name, path.Ext(name))
	for _, double := range []string{".gcode", ".tar"} {
		short = strings.TrimSuffix(short, double)
	}
	if short == "" {
		return name
	}
	return short
}

// relative makes the paths of the files of one thing clean and different from each other. It
// decodes all names that are not UTF-8 with one encoding.
type relative struct {
	decoder *cleanname.Decoder
	folders map[string]string // clean paths of folders, by those of the source
	taken   map[string]bool
}

func newRelative(paths []string) *relative {
	var foreign []string
	for _, p := range paths {
		if !utf8.ValidString(p) {
			foreign = append(foreign, p)
		}
	}
	return &relative{cleanname.NewDecoder(foreign), map[string]string{"": "", ".": ""}, map[string]bool{}}
}

// path returns the clean path of a file.
func (r *relative) path(raw string) string {
	dir := r.folder(path.Dir(raw))
	return r.free(dir, path.Base(raw))
}

func (r *relative) folder(raw string) string {
	if clean, ok := r.folders[raw]; ok {
		return clean
	}
	clean := r.free(r.folder(path.Dir(raw)), path.Base(raw))
	r.folders[raw] = clean
	return clean
}

func (r *relative) free(dir, raw string) string {
	name := cleanname.Segment(strings.ReplaceAll(r.decoder.Decode(raw), `\`, "_"))
	free := path.Join(dir, name)
	for i := 2; r.taken[free]; i++ {
		free = path.Join(dir, cleanname.Numbered(name, i))
	}
	r.taken[free] = true
	return free
}
