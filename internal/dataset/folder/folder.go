// Package folder finds things in folders and ZIP archives as users keep them: a folder for each
// thing, with models, images, a README, a license, and optionally a metadata file.
package folder

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/cleanname"
	"golang.org/x/text/unicode/norm"
)

// Thing is a thing that was found.
type Thing struct {
	Path         string // of its folder
	Name         string
	Description  string // Markdown; empty if there is no README
	Instructions string
	License      string // a code, such as cc-sa; empty if it is unknown
	Category     string // of the metadata file; may be empty
	Tags         []string
	Files        []string // paths of models, images and attachments
	Notes        []string // what could not be read
	// Unread are the paths of models that are not read because they are encrypted or no regular files.
	Unread []string
}

// maxText is the maximum number of bytes that are read of a README, license or metadata file.
const maxText = 64 << 10

// metadata lists the names of metadata files.
var metadata = []string{"thing.json", "datapackage.json"}

// Things returns the things in a file system. A folder is a thing if it contains a model or a
// metadata file, either directly or in a subfolder named files or models; everything below it
// belongs to it. isModel reports whether a file name is that of a model. name is the name of the
// thing if the root itself is one. Symbolic links are not followed; notes describes those outside
// of things, and what could not be read.
func Things(fsys fs.FS, name string, isModel func(name string) bool) (things []Thing, notes []string, err error) {
	err = fs.WalkDir(fsys, ".", func(dir string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && dir == ".":
			return err
		case err != nil:
			notes = append(notes, fmt.Sprintf("%s: was skipped: %v", dir, err))
			return fs.SkipDir
		case ignored(d.Name()) && dir != ".":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.IsDir():
			if why := irregular(d); why != "" {
				notes = append(notes, dir+": "+why)
			}
			return nil
		}
		is, err := isThing(fsys, dir, isModel)
		if err == nil && !is {
			return nil
		}
		var t Thing
		if err == nil {
			t, err = read(fsys, dir, cmp.Or(strings.TrimPrefix(path.Base(dir), "."), name), isModel)
		}
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s: was skipped: %v", dir, err))
			return fs.SkipDir
		}
		things = append(things, t)
		return fs.SkipDir
	})
	return things, notes, err
}

// irregular returns why an entry that is no folder is left out, or "" if it is a regular file.
func irregular(d fs.DirEntry) string {
	if n, ok := d.(*node); ok && n.skipped != "" {
		return "was skipped: " + n.skipped
	}
	switch {
	case d.Type().IsRegular():
		return ""
	case d.Type()&fs.ModeSymlink != 0:
		return "was skipped: symbolic links are not followed"
	}
	return "was skipped: it is not a regular file"
}

// system are the names in lower case of files and folders that operating systems and storage
// devices create.
var system = []string{
	"__macosx", "icon\r", "thumbs.db", "ehthumbs.db", "desktop.ini", "$recycle.bin", "system volume information", "@eadir", "#recycle", "#snapshot", "lost+found",
}

// ignored reports whether a file or folder is hidden or created by the operating system.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains(system, strings.ToLower(name))
}

func isThing(fsys fs.FS, dir string, isModel func(string) bool) (bool, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		lower := strings.ToLower(e.Name())
		switch {
		case ignored(e.Name()):
		case !e.IsDir() && (isModel(lower) || slices.Contains(metadata, lower)):
			return true, nil
		case e.IsDir() && (lower == "files" || lower == "models"):
			below, err := fs.ReadDir(fsys, path.Join(dir, e.Name()))
			if err != nil {
				return false, err
			}
			if slices.ContainsFunc(below, func(e fs.DirEntry) bool { return !e.IsDir() && isModel(strings.ToLower(e.Name())) }) {
				return true, nil
			}
		}
	}
	return false, nil
}

// read reads the thing in a folder.
func read(fsys fs.FS, dir, name string, isModel func(string) bool) (Thing, error) {
	t := Thing{Path: dir, Name: strings.TrimSpace(strings.ReplaceAll(name, "_", " "))}
	var readme, license string
	var described []byte
	err := fs.WalkDir(fsys, dir, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			t.Notes = append(t.Notes, fmt.Sprintf("%s: was skipped: %v", file, err))
			return nil
		case file != dir && ignored(d.Name()) && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || ignored(d.Name()):
			return nil
		}
		if why := irregular(d); why != "" {
			t.Notes = append(t.Notes, file+": "+why)
			if isModel(strings.ToLower(d.Name())) {
				t.Unread = append(t.Unread, file)
			}
			return nil
		}
		top := path.Dir(file) == dir
		lower := strings.ToLower(d.Name())
		stem := strings.TrimSuffix(lower, path.Ext(lower))
		switch text := path.Ext(lower) == ".md" || path.Ext(lower) == ".txt" || path.Ext(lower) == ""; {
		case top && text && stem == "readme" && readme == "":
			readme, err = readText(fsys, file)
		case top && slices.Contains(metadata, lower) && described == nil:
			var text string
			text, err = readText(fsys, file)
			described = []byte(text)
		default:
			t.Files = append(t.Files, file)
			if top && text && (stem == "license" || stem == "licence" || stem == "copying") {
				license, err = readText(fsys, file)
			}
		}
		if err != nil {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %v", file, err))
		}
		return nil
	})
	if err != nil {
		return t, err
	}
	t.Description = description(readme)
	// The text of a license may mention other licenses, but its title does not.
	t.License = cmp.Or(licenseOf(license[:min(len(license), maxTitle)]), licenseOf(license), licenseOf(linesAbout(readme)))
	if described != nil {
		if err := t.describe(described); err != nil {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %v", dir, err))
		}
	}
	return t, nil
}

// maxTitle is the length of the first part of a license, in bytes, that is treated as its title.
const maxTitle = 300

// linesAbout returns the lines of a README that mention a license.
func linesAbout(readme string) string {
	var lines strings.Builder
	for line := range strings.Lines(readme) {
		if lower := strings.ToLower(line); strings.Contains(lower, "licen") || strings.Contains(lower, "creativecommons") {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

// readText reads a text of at most maxText bytes. A longer text is cut at the end of a line.
func readText(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxText))
	if err != nil {
		return "", err
	}
	text := string(b)
	if len(b) == maxText {
		text = text[:max(strings.LastIndexByte(text, '\n'), 0)]
	}
	if strings.ContainsRune(text, 0) {
		return "", errors.New("is not UTF-8 text")
	}
	if !utf8.ValidString(text) {
		text = cleanname.NewDecoder([]string{text}).Decode(text)
	}
	return strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), nil
}

// description returns the part of a README that describes the thing. The downloads of some services
// have a banner and the license before a heading Summary.
func description(readme string) string {
	if _, summary, ok := strings.Cut("\n"+readme, "\n# Summary\n"); ok {
		readme = summary
	}
	return strings.TrimSpace(readme)
}

// describe sets the fields of the thing from a metadata file, which has fields of Meshyard or of a
// Frictionless data package.
func (t *Thing) describe(text []byte) error {
	var m struct {
		Name, Title, Description, Instructions, Category string
		License                                          string
		Licenses                                         []struct{ Name, Path, Title string }
		Tags, Keywords                                   []string
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return fmt.Errorf("the metadata file is invalid: %w", err)
	}
	t.Name = norm.NFC.String(cmp.Or(strings.TrimSpace(m.Title), strings.TrimSpace(m.Name), t.Name))
	t.Description = cmp.Or(m.Description, t.Description)
	t.Instructions, t.Category = m.Instructions, m.Category
	t.Tags = append(m.Tags, m.Keywords...)
	known := licenseOf(m.License)
	for _, l := range m.Licenses {
		known = cmp.Or(known, licenseOf(l.Name), licenseOf(l.Path), licenseOf(l.Title))
	}
	t.License = cmp.Or(known, t.License)
	return nil
}

// licenses recognizes licenses by their names in text. The first match decides, so more specific
// licenses come before more general ones.
var licenses = []struct {
	code string
	text *regexp.Regexp
}{
	{"cc-nc-sa", creativeCommons("nc", "sa")},
	{"cc-nc-nd", creativeCommons("nc", "nd")},
	{"cc-nc", creativeCommons("nc")},
	{"cc-sa", creativeCommons("sa")},
	{"cc-nd", creativeCommons("nd")},
	{"pd0", regexp.MustCompile(`\bcc-?0\b|\bcc-zero\b|publicdomain/zero|public domain|\bpd0\b`)},
	{"cc", regexp.MustCompile(`^cc$|\bcc[- ]by\b|licenses/by/|creative commons\W+attribution`)},
	{"lgpl", regexp.MustCompile(`\blgpl|gnu lesser general public|gnu library general public`)},
	{"gpl", regexp.MustCompile(`\bgpl|gnu general public|gnu\W+gpl`)},
	{"bsd", regexp.MustCompile(`\bbsd\b|redistribution and use in source and binary forms`)},
}

// creativeCommons matches a Creative Commons license with the given conditions, written as a code,
// as the URL of its text, or in words.
func creativeCommons(conditions ...string) *regexp.Regexp {
	words := map[string]string{"nc": `non-?\s?commercial`, "sa": `share-?\s?alike`, "nd": `no-?\s?deriv\w*`}
	short := strings.Join(conditions, "-")
	long := `attribution`
	for _, c := range conditions {
		long += `\W+` + words[c]
	}
	return regexp.MustCompile(`^cc-` + short + `$|\bby-` + short + `\b|` + long)
}

// licenseOf returns the code of the license that a text names, or "".
func licenseOf(text string) string {
	text = strings.ToLower(text)
	for _, l := range licenses {
		if l.text.MatchString(text) {
			return l.code
		}
	}
	return ""
}
