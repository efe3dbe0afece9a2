package archtest

import (
	"slices"
	"strings"
	"testing"
)

// areas lists, for each area of the models, the areas it may import. Every area may import the
// core, and the core imports none. What the core causes in an area, it raises as a [models.Event].
var areas = map[string][]string{
	"account":     {"social"},
	"activity":    {"account"},
	"archive":     {"maintenance", "previews"},
	"bulk":        {},
	"fsck":        {"maintenance", "previews"},
	"importer":    {"maintenance"},
	"library":     {},
	"maintenance": {"previews"},
	"moderation":  {"account"},
	"openin":      {"activity"},
	"previews":    {},
	"problem":     {},
	"search":      {},
	"social":      {},
	"webhook":     {"moderation"},
	// The packages below are no areas: catalogue wires them, and modelstest is for their tests.
	"catalogue": {"account", "activity", "archive", "bulk", "fsck", "importer", "library", "maintenance", "moderation", "openin", "previews", "problem", "search", "social",
		"webhook", "modelstest"}, // the last one in cataloguetest
	"modelstest": {},
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
