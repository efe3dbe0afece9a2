package rest

import (
	"encoding/json"
	"strings"
)

// licenses gives what the wire calls the licences: requests carry a code, answers the long name.
var licenses = []struct{ enum, code, name string }{
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
	for _, row := range licenses {
		if row.enum == enum {
			*l = License(row.name)
		}
	}
	return err
}

// licenseEnum reads a licence as clients write it: the code, the code without hyphens, or the long name.
func licenseEnum(text string) (string, bool) {
	for _, row := range licenses {
		if strings.EqualFold(text, row.code) || strings.EqualFold(text, strings.ReplaceAll(row.code, "-", "")) || strings.EqualFold(text, row.name) {
			return row.enum, true
		}
	}
	return "", false
}
