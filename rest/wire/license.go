package wire

import (
	"encoding/json"
	"strings"
)

// Licenses maps the license enum of GraphQL to its names on the wire: requests carry the code,
// answers the long name.
var Licenses = []struct{ Enum, Code, Name string }{
	{"CC", "cc", "Creative Commons - Attribution"},
	{"CC_SA", "cc-sa", "Creative Commons - Attribution - Share Alike"},
	{"CC_ND", "cc-nd", "Creative Commons - Attribution - No Derivatives"},
	{"CC_NC", "cc-nc", "Creative Commons - Attribution - Non-Commercial"},
	{"CC_NC_SA", "cc-nc-sa", "Creative Commons - Attribution - Non-Commercial - Share Alike"},
	{"CC_NC_ND", "cc-nc-nd", "Creative Commons - Attribution - Non-Commercial - No Derivatives"},
	{"PD0", "pd0", "Creative Commons - Public Domain Dedication"},
	{"GPL", "gpl", "GNU - GPL"},
	{"LGPL", "lgpl", "GNU - LGPL"},
	{"BSD", "bsd", "BSD License"},
}

// License is an enum in GraphQL and the long name on the wire.
type License string

// UnmarshalJSON reads the enum.
func (l *License) UnmarshalJSON(b []byte) error {
	var enum string
	err := json.Unmarshal(b, &enum)
	for _, row := range Licenses {
		if row.Enum == enum {
			*l = License(row.Name)
		}
	}
	return err
}

// LicenseEnum returns the enum value of a license written as its code, its code without hyphens,
// or its long name.
func LicenseEnum(text string) (string, bool) {
	for _, row := range Licenses {
		if strings.EqualFold(text, row.Code) || strings.EqualFold(text, strings.ReplaceAll(row.Code, "-", "")) || strings.EqualFold(text, row.Name) {
			return row.Enum, true
		}
	}
	return "", false
}
