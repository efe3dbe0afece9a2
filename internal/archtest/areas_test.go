package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// areas lists, for each area of the models, the areas it may import. Every area may import the
// core, and the core imports none. What the core causes in an area, it raises as a [models.Event].
var areas = map[string][]string{
	"account":     {"collections", "comments", "makes", "social"},
	"activity":    {"account"},
	"archive":     {"maintenance", "previews"},
	"bulk":        {"collections"},
	"cluster":     {},
	"collections": {},
	"comments":    {},
	"files":       {},
	"fsck":        {"maintenance", "previews", "uploads"},
	"importer":    {"collections", "maintenance", "uploads"},
	"library":     {},
	"link":        {"importer"},
	"lists":       {},
	"maintenance": {"previews", "uploads"},
	"makes":       {"uploads"},
	"moderation":  {"account", "comments"},
	"openin":      {"activity"},
	"previews":    {},
	"printed":     {},
	"printer":     {"activity"},
	"problem":     {},
	"search":      {"lists"},
	"social":      {},
	"uploads":     {},
	"webhook":     {"moderation"},
	"modelstest":  {"uploads"}, // no area: for the tests of areas
}

// areaViolations returns a message for each import between the core and the areas that is not
// allowed.
func areaViolations(all imports) (found []string) {
	const models = module + "models"
	for _, p := range slices.Sorted(keys(all)) {
		if !within(p, models) {
			continue
		}
		from, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(p, models), "/"), "/")
		if from == "catalogue" { // which wires all areas
			continue
		}
		may, known := areas[from]
		if from != "" && !known {
			found = append(found, p+" is not in the table of areas")
		}
		for _, path := range all[p] {
			to, ours := strings.CutPrefix(path, models+"/")
			to, _, _ = strings.Cut(to, "/")
			switch {
			case !ours || to == from || slices.Contains(may, to):
			case from == "":
				found = append(found, "the core imports the area "+to)
			default:
				found = append(found, "the area "+from+" imports the area "+to)
			}
		}
	}
	return found
}

// TestAreas checks that imports among the packages below models go in one direction.
func TestAreas(t *testing.T) {
	for _, violation := range areaViolations(load(t)) {
		t.Error(violation)
	}
	for from, may := range areas {
		for _, to := range may {
			if slices.Contains(areas[to], from) {
				t.Errorf("the table allows a circle of %s and %s", from, to)
			}
		}
	}
}

// TestAreasAreDocumented checks that the table of areas in docs/architecture.md is the one above.
func TestAreasAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Areas of the models\n")
	section, _, _ = strings.Cut(section, "\n## ")
	documented := make(map[string][]string)
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		var imports []string
		for name := range strings.SplitSeq(cells[3], ",") {
			if name = strings.Trim(name, " `"); name != "" {
				imports = append(imports, name)
			}
		}
		documented[strings.Trim(cells[1], " `")] = imports
	}
	for name, may := range areas {
		if name == "catalogue" || name == "modelstest" {
			continue
		}
		if got, ok := documented[name]; !ok || !slices.Equal(got, may) && len(got)+len(may) > 0 {
			t.Errorf("docs/architecture.md says that %s imports %q, want %q", name, got, may)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("docs/architecture.md has the area %s, which does not exist", name)
	}
}

func TestAreaViolationsAreFound(t *testing.T) {
	const m = module + "models"
	for want, all := range map[string]imports{
		"the core imports the area webhook":         {m: {m + "/webhook"}},
		"the area archive imports the area webhook": {m + "/archive": {m, m + "/webhook"}},
		m + "/other is not in the table of areas":   {m + "/other": {m}},
		"": {m + "/catalogue": {m, m + "/webhook"}, m + "/webhook": {m}},
	} {
		if got := strings.Join(areaViolations(all), "; "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
