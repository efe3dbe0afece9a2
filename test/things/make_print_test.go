package things_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestMakePrint checks that a make says how it was printed, that an update replaces or removes it,
// and that the summary of the thing counts what published makes say.
func TestMakePrint(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		const fields = `print { printer material layerHeight nozzle infill hasSupports timeSeconds filamentGrams rating files { id } }`
		create := func(input string) (id string, print json.RawMessage) {
			t.Helper()
			var data struct {
				CreateMake struct {
					Make struct {
						ID    string
						Print json.RawMessage
					}
				}
			}
			w.Bob.Query(fmt.Sprintf(`mutation { createMake(input: {thingId: %d %s}) { make { id %s } } }`, w.Thing, input,
				fields), nil, &data)
			return data.CreateMake.Make.ID, data.CreateMake.Make.Print
		}
		same := func(what string, got json.RawMessage, want string) {
			t.Helper()
			var a, b any
			if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
				t.Fatalf("%s: got %s, want %s", what, got, want)
			}
			if diff := cmp.Diff(b, a); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		id, print := create(
			fmt.Sprintf(`print: {printer: " Prusa MK4 ", material: "PETG", layerHeight: 0.2, nozzle: 0.4, infill: 0, hasSupports: false, timeSeconds: 4761, filamentGrams: 4.49, rating: 5, fileIds: [%d, %d]}`, w.Public, w.Public))
		same("all fields", print,
			fmt.Sprintf(`{"printer": "Prusa MK4", "material": "PETG", "layerHeight": 0.2, "nozzle": 0.4, "infill": 0, "hasSupports": false, "timeSeconds": 4761, "filamentGrams": 4.49, "rating": 5, "files": [{"id": "%d"}]}`, w.Public))
		_, print = create("")
		same("nothing", print, `null`)
		_, print = create(`print: {printer: " "}`)
		same("a blank text", print, `null`)
		create(`print: {printer: "prusa mk4", material: "PLA", rating: 2}`)
		create(`print: {printer: "Ender 3", rating: 4}`)
		const summary = `printSummary { makes rated successRate averageRating printers { name count } materials { name count } }`
		var read struct {
			Thing struct{ PrintSummary json.RawMessage }
		}
		w.Ada.Query(fmt.Sprintf(`{ thing(id: %d) { %s } }`, w.Thing, summary), nil, &read)
		same("the summary", read.Thing.PrintSummary, `{"makes": 3, "rated": 3, "successRate": 0.6666666666666666, "averageRating": 3.6666666666666665,
			"printers": [{"name": "Prusa MK4", "count": 2}, {"name": "Ender 3", "count": 1}], "materials": [{"name": "PETG", "count": 1}, {"name": "PLA", "count": 1}]}`)

		update := func(input string) json.RawMessage {
			t.Helper()
			var data struct {
				UpdateMake struct {
					Make struct{ Print json.RawMessage }
				}
			}
			w.Bob.Query(fmt.Sprintf(`mutation { updateMake(input: {id: %s, %s}) { make { %s } } }`, id, input, fields),
				nil, &data)
			return data.UpdateMake.Make.Print
		}
		same("another field is changed", update(`name: "New"`),
			string(mustPrint(fmt.Sprintf(`"Prusa MK4" "PETG" 0.2 0.4 0 false 4761 4.49 5 [{"id": "%d"}]`, w.Public))))
		same("a new value", update(`print: {material: "ABS"}`),
			string(mustPrint(`null "ABS" null null null null null null null []`)))
		same("only files", update(fmt.Sprintf(`print: {fileIds: [%d]}`, w.Public)),
			string(mustPrint(fmt.Sprintf(`null null null null null null null null null [{"id": "%d"}]`, w.Public))))
		same("removed", update(`print: null`), `null`)
		for field, input := range map[string]string{
			"print.printer":       `printer: "` + strings.Repeat("x", 101) + `"`,
			"print.material":      `material: "a\nb"`,
			"print.layerHeight":   `layerHeight: 0`,
			"print.nozzle":        `nozzle: 10.1`,
			"print.infill":        `infill: -1`,
			"print.timeSeconds":   `timeSeconds: 0`,
			"print.filamentGrams": `filamentGrams: 1000001`,
			"print.rating":        `rating: 6`,
			"print.fileIds":       fmt.Sprintf(`fileIds: [%d]`, w.Hidden),
		} {
			r := w.Bob.GraphQL(fmt.Sprintf(`mutation { updateMake(input: {id: %s, print: {%s}}) { make { id } } }`, id,
				input), nil)
			if r.Code() != "BAD_USER_INPUT" || r.Errors[0].Extensions.Field != field {
				t.Errorf("%s: got %+v, want BAD_USER_INPUT of %s", input, r.Errors, field)
			}
		}
		if r := w.Ada.GraphQL(fmt.Sprintf(`mutation { updateMake(input: {id: %s, print: {rating: 1}}) { make { id } } }`, id),
			nil); r.Code() != "FORBIDDEN" {
			t.Errorf("another user: %+v, want FORBIDDEN", r.Errors)
		}
	})
}

// mustPrint returns the JSON of a print with the values of its fields, separated by spaces.
func mustPrint(values string) []byte {
	names := []string{"printer", "material", "layerHeight", "nozzle", "infill", "hasSupports", "timeSeconds",
		"filamentGrams", "rating", "files"}
	decoder := json.NewDecoder(strings.NewReader(values))
	print := make(map[string]json.RawMessage, len(names))
	for _, name := range names {
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			panic(err)
		}
		print[name] = value
	}
	text, _ := json.Marshal(print) // cannot fail: it consists of valid JSON
	return text
}
