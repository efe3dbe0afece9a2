package wire

import (
	"encoding/json"
	"strings"
	"unicode"
)

// Licenses maps the GraphQL license enum to its REST names: requests have the code, responses the
// long name.
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

// License is an enum in GraphQL and the long name in REST.
type License string

// UnmarshalJSON reads the enum value.
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

// LikelyLicense returns the enum value of the license that a client which does not know the codes
// most probably means: gpl3 is GPL, and cc-by-sa-4.0 is Attribution - Share Alike.
func LikelyLicense(text string) (string, bool) {
	letters := strings.ToLower(strings.Map(func(r rune) rune {
		if r == '0' || unicode.IsLetter(r) {
			return r
		}
		return -1
	}, text))
	if strings.HasPrefix(letters, "cc0") || letters == "pd" || strings.HasPrefix(letters, "publicdomain") {
		return "PD0", true
	}
	letters = strings.ReplaceAll(letters, "0", "")
	for _, family := range []struct{ word, enum string }{{"lgpl", "LGPL"}, {"gpl", "GPL"}, {"bsd", "BSD"}} {
		if strings.Contains(letters, family.word) {
			return family.enum, true
		}
	}
	return LicenseEnum(strings.Replace(letters, "ccby", "cc", 1))
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
