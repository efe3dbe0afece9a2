package layout

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the expected results of the layouts")

// memory is a source in memory: the entries of each folder, and the texts of files.
type memory struct {
	folders map[string][]Entry
	texts   map[string]string
}

func (m *memory) List(dir string) ([]Entry, error) {
	if m.folders[dir] == nil {
		return nil, fs.ErrNotExist
	}
	return m.folders[dir], nil
}

func (m *memory) Text(file string, limit int) ([]byte, error) {
	text := m.texts[file]
	return []byte(text[:min(len(text), limit)]), nil
}

// add adds a file, and the folders above it.
func (m *memory) add(file, text string, mode fs.FileMode) {
	for dir, name := path.Dir("/"+file), path.Base(file); ; dir, name = path.Dir(dir), path.Base(dir) {
		in := strings.TrimPrefix(dir, "/")
		if !slices.ContainsFunc(m.folders[in], func(e Entry) bool { return e.Name == name }) {
			m.folders[in] = append(m.folders[in], Entry{Name: name, Mode: mode, Size: int64(len(text))})
		}
		if mode = fs.ModeDir; dir == "/" {
			break
		}
	}
	m.texts[file] = text
}

// parseLayout reads a layout of testdata: options, the files, and the expected result. A line of a
// file may be a Go string, and have its text after " = ".
func parseLayout(t *testing.T, text string) (*memory, Options, string) {
	t.Helper()
	m := &memory{map[string][]Entry{"": {}}, map[string]string{}}
	o := Options{Name: "import"}
	head, rest, _ := strings.Cut(text, "-- tree --\n")
	tree, _, _ := strings.Cut(rest, "-- want --\n")
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "library":
			o.Library = value == "yes"
		case "archive":
			o.Archive = value == "yes"
		case "loose":
			o.Loose = Loose(value)
		case "name":
			o.Name = value
		case "template":
			var err error
			if o.Template, err = ParseTemplate(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	for line := range strings.Lines(tree) {
		file, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " = ")
		file, _, link := strings.Cut(file, " -> ")
		for _, s := range []*string{&file, &text} {
			if strings.HasPrefix(*s, `"`) {
				unquoted, err := strconv.Unquote(*s)
				if err != nil {
					t.Fatalf("%s: %v", *s, err)
				}
				*s = unquoted
			}
		}
		mode := fs.FileMode(0)
		if link {
			mode = fs.ModeSymlink
		}
		m.add(file, text, mode)
	}
	return m, o, head + "-- tree --\n" + tree + "-- want --\n"
}

// describeResult writes a result as in testdata.
func describeResult(b *strings.Builder, r Result) {
	for _, t := range r.Things {
		fmt.Fprintf(b, "thing %q from %q\n", t.Name, t.Source)
		for _, field := range []struct{ name, value string }{
			{"collection", strings.Join(t.Collection, " / ")}, {"creator", t.Creator}, {"creator URL", t.CreatorURL},
			{"URL", t.URL}, {"links", strings.Join(t.Links, ", ")},
			{"tags", strings.Join(t.Tags, ", ")}, {"description", t.Description}, {"instructions", t.Instructions},
			{"category", t.Category},
			{"license", strings.Join(t.License.Declared, ", ")}, {"license text", t.License.Text},
			{"sensitive", map[bool]string{true: "yes"}[t.Sensitive]}, {"notes", strings.Join(t.Notes, "; ")},
		} {
			if field.value != "" {
				fmt.Fprintf(b, "  %s: %s\n", field.name, strings.Trim(strconv.Quote(field.value), `"`))
			}
		}
		for _, f := range t.Files {
			fmt.Fprintf(b, "  %-10s %s", f.Kind, f.Path)
			if f.Variant != "" {
				fmt.Fprintf(b, " [%s]", f.Variant)
			}
			if f.Cover {
				b.WriteString(" (cover)")
			}
			if f.Caption != "" {
				fmt.Fprintf(b, " %q", f.Caption)
			}
			b.WriteString("\n")
		}
		for _, u := range t.Used {
			fmt.Fprintf(b, "  %-10s %s\n", "read", u.Source+" as "+u.As)
		}
	}
	for _, u := range r.Used {
		fmt.Fprintf(b, "read %s as %s\n", u.Source, u.As)
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(b, "skipped %s: %s\n", strconv.QuoteToGraphic(s.Source), s.Reason)
	}
}

// TestLayouts checks the result of each layout in testdata, and that each file of it is either part
// of a thing, read, skipped, or on the ignore list: once.
func TestLayouts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 45 {
		t.Fatalf("%d layouts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m, o, input := parseLayout(t, string(text))
			var b strings.Builder
			seen, ignored := map[string]int{}, 0
			err = Find(t.Context(), m, o, func(r Result) error {
				describeResult(&b, r)
				ignored += r.Ignored
				for _, thing := range r.Things {
					checkThing(t, thing)
					for _, f := range thing.Files {
						seen[f.Source]++
					}
					for _, u := range thing.Used {
						seen[u.Source]++
					}
				}
				for _, u := range r.Used {
					seen[u.Source]++
				}
				for _, s := range r.Skipped {
					seen[s.Source]++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if ignored > 0 {
				fmt.Fprintf(&b, "ignored %d\n", ignored)
			}
			for name := range m.texts {
				if hidden := slices.ContainsFunc(strings.Split(name, "/"), Ignored); hidden && seen[name] != 0 || !hidden &&
					seen[name] != 1 {
					t.Errorf("%q is in the result %d times", name, seen[name])
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(input+b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := gocmp.Diff(string(text), input+b.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// checkThing checks what holds for all things.
func checkThing(t *testing.T, thing Thing) {
	t.Helper()
	covers, paths := 0, map[string]bool{}
	for _, f := range thing.Files {
		if f.Cover {
			covers++
		}
		if !utf8.ValidString(f.Path) || !fs.ValidPath(f.Path) || paths[f.Path] {
			t.Errorf("%s: the path %q is invalid or double", thing.Name, f.Path)
		}
		paths[f.Path] = true
		for name := range strings.SplitSeq(f.Path, "/") {
			if len(name) > 255 {
				t.Errorf("%s: %q has %d bytes", thing.Name, name, len(name))
			}
		}
	}
	if covers > 1 || thing.Name == "" || !utf8.ValidString(thing.Name) {
		t.Errorf("%q has %d covers", thing.Name, covers)
	}
}

// TestReadmeEncodings checks that a README in another encoding than UTF-8 is read.
func TestReadmeEncodings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"F\xfcr Gr\xf6\xdfe M3.\r\nSch\xf6n.": "Für Größe M3.\nSchön.", "F\x81r Gr\x94\xe1e M3.": "Für Größe M3.",
		"a\x00b": "",
	} {
		m := &memory{map[string][]Entry{"": {}}, map[string]string{}}
		m.add("a.stl", "", 0)
		m.add("README.txt", text, 0)
		err := Find(t.Context(), m, Options{Name: "x"}, func(r Result) error {
			if len(r.Things) != 1 || r.Things[0].Description != want {
				t.Errorf("%q: got %+v, want %q", text, r.Things, want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
