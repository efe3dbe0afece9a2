package models

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// PrintChoice is the value of a print setting with fixed choices.
type PrintChoice string

// The choices, as legacy clients write them.
const (
	PrintYes    PrintChoice = "Yes"
	PrintNo     PrintChoice = "No"
	PrintEither PrintChoice = "Doesn't Matter"
)

// PrintSettings are the recommended settings for printing a thing. They are stored in the section
// "settings" of the details of the thing, where legacy clients keep them. A nil setting is not
// stored.
type PrintSettings struct {
	Printer          *string
	Rafts            *PrintChoice
	Supports         *PrintChoice
	Resolution       *string
	Infill           *string
	FilamentBrand    *string
	FilamentColor    *string
	FilamentMaterial *string
}

// The type and the name of the section with the print settings.
const settingsType, settingsName = "settings", "Print Settings"

// fields returns the text settings, with their keys in the section and their names in the input.
func (p *PrintSettings) fields() []printField {
	return []printField{
		{"printer", "printer", &p.Printer}, {"resolution", "resolution", &p.Resolution}, {"infill", "infill", &p.Infill},
		{"filament_brand", "filamentBrand", &p.FilamentBrand}, {"filament_color", "filamentColor", &p.FilamentColor},
		{"filament_material", "filamentMaterial", &p.FilamentMaterial},
	}
}

type printField struct {
	key, input string
	text       **string
}

// check returns BadInput if a text is too long.
func (p *PrintSettings) check() error {
	if p == nil {
		return nil
	}
	var errs []error
	for _, f := range p.fields() {
		errs = append(errs, CheckOptional("printSettings."+f.input, *f.text, MaxName))
	}
	return errors.Join(errs...)
}

// PrintSettings returns the print settings of the thing, or nil if it has none. It ignores unknown
// choices.
func (t *Thing) PrintSettings() *PrintSettings {
	_, values := settingsOf(t.DetailsParts)
	p := new(PrintSettings)
	for _, f := range p.fields() {
		*f.text = plainText(values[spelling(values, f.key)])
	}
	p.Rafts, p.Supports = choiceOf(values[spelling(values, "rafts")]), choiceOf(values[spelling(values, "supports")])
	if *p == (PrintSettings{}) {
		return nil
	}
	return p
}

// settingsOf returns the sections of details, and the values of the one with the print settings.
func settingsOf(details string) (sections []map[string]json.RawMessage, values map[string]json.RawMessage) {
	if json.Unmarshal([]byte(cmp.Or(details, noDetails)), &sections) != nil {
		return nil, nil
	}
	at := slices.IndexFunc(sections, isSettings)
	if at < 0 {
		return sections, nil
	}
	var data []map[string]json.RawMessage
	if json.Unmarshal(sections[at]["data"], &data) != nil || len(data) == 0 {
		return sections, nil
	}
	return sections, data[0]
}

func isSettings(section map[string]json.RawMessage) bool {
	kind := plainText(section["type"])
	return kind != nil && *kind == settingsType
}

// spelling returns a key as the values spell it: some clients write Filament Brand instead of
// filament_brand. If the values do not have it, it returns the key.
func spelling(values map[string]json.RawMessage, key string) string {
	for k := range values {
		if strings.EqualFold(strings.ReplaceAll(k, " ", "_"), key) {
			return k
		}
	}
	return key
}

// plainText returns a JSON string or number as text, nil for anything else and for blank text.
func plainText(raw json.RawMessage) *string {
	var s string
	var n json.Number
	if json.Unmarshal(raw, &s) != nil {
		if json.Unmarshal(raw, &n) != nil {
			return nil
		}
		s = n.String()
	}
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return &s
}

func choiceOf(raw json.RawMessage) *PrintChoice {
	text := plainText(raw)
	if text == nil {
		return nil
	}
	for _, choice := range []PrintChoice{PrintYes, PrintNo, PrintEither} {
		if strings.EqualFold(*text, string(choice)) {
			return &choice
		}
	}
	return nil
}

// in returns details in which p replaces the print settings. Other sections, and other values of
// the section, are kept. If p has no settings, the section is removed.
func (p *PrintSettings) in(details string) (string, error) {
	sections, values := settingsOf(details)
	if values == nil {
		values = make(map[string]json.RawMessage)
	}
	put := func(key string, value *string) error {
		key = spelling(values, key)
		delete(values, key)
		if value == nil || strings.TrimSpace(*value) == "" {
			return nil
		}
		raw, err := json.Marshal(*value)
		values[key] = raw
		return err
	}
	errs := []error{put("rafts", (*string)(p.Rafts)), put("supports", (*string)(p.Supports))}
	for _, f := range p.fields() {
		errs = append(errs, put(f.key, *f.text))
	}
	at := slices.IndexFunc(sections, isSettings)
	switch {
	case *p == (PrintSettings{}):
		sections = slices.DeleteFunc(sections, isSettings)
	default:
		if at < 0 {
			at = len(sections)
			sections = append(sections, map[string]json.RawMessage{"type": quoted(settingsType), "name": quoted(settingsName)})
		}
		data, err := json.Marshal([]map[string]json.RawMessage{values})
		errs = append(errs, err)
		sections[at]["data"] = data
	}
	if sections == nil {
		return noDetails, errors.Join(errs...)
	}
	all, err := json.Marshal(sections)
	if err := errors.Join(append(errs, err)...); err != nil {
		return "", err
	}
	return string(all), CheckText("printSettings", string(all), MaxText)
}

func quoted(s string) json.RawMessage { return json.RawMessage(`"` + s + `"`) }
