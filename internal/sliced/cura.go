package sliced

import (
	"encoding/json"
	"strings"
)

// curaSetting begins the comments that contain the settings of Cura in JSON: instance containers
// (INI) of the printer and of each tool, with those settings that differ from the profile.
const curaSetting = "SETTING_3 "

func (c *comments) curaSettings(text string) {
	if text == "" {
		return
	}
	var settings struct {
		Global    string   `json:"global_quality"`
		Extruders []string `json:"extruder_quality"`
	}
	// The comments are escaped once more, so that the JSON has no line breaks.
	if json.Unmarshal([]byte(text), &settings) != nil {
		return
	}
	for i, container := range append(settings.Extruders, settings.Global) {
		if i > maxTools {
			break
		}
		c.facts.SetINI(strings.ReplaceAll(container, `\n`, "\n"))
	}
}

// SetINI sets the settings in the section values of an instance container of Cura.
func (s *Settings) SetINI(text string) {
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = line == "[values]"
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && inside {
			s.Set(strings.TrimSpace(key), strings.TrimSpace(value))
		}
	}
}
