package wire

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/meshyard/meshyard/internal/license"
)

// Licenses maps the GraphQL license enum to its REST names: requests have the code, responses the
// long name. The default license of a user is the code in both: clients send it with new things.
var Licenses = []licenseRow{
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
	{"OTHER", license.NoCode, "All rights reserved"},
}

// MostRestrictive is the enum value of the license that a new thing gets if the text of a client is
// not understood: that of the old codes that permits the least.
const MostRestrictive = "CC_NC_ND"

// other is the enum value of a license without a code: all rights are reserved.
const other = "OTHER"

type licenseRow struct{ Enum, Code, Name string }

// License is a LicenseInfo in GraphQL and the long name in REST.
type License string

// UnmarshalJSON reads a LicenseInfo.
func (l *License) UnmarshalJSON(b []byte) error {
	var info struct {
		ID license.ID `json:"id"`
	}
	err := json.Unmarshal(b, &info)
	*l = NameOf(info.ID)
	return err
}

// NameOf returns the name of a license in REST: that of its code, or else that of the license.
func NameOf(id license.ID) License {
	code := id.Code()
	if i := slices.IndexFunc(Licenses, func(row licenseRow) bool { return row.Code == code }); i >= 0 &&
		code != license.NoCode {
		return License(Licenses[i].Name)
	}
	return License(id.Name())
}

// allowsDerivatives reports whether the license permits to share adaptations.
func (l License) allowsDerivatives() bool { return license.Label(string(l)).Terms().Adapt }

// LicenseCode is an enum in GraphQL and the code in REST.
type LicenseCode string

// UnmarshalJSON reads the enum value.
func (c *LicenseCode) UnmarshalJSON(b []byte) error {
	row, err := unmarshalLicense(b)
	*c = LicenseCode(row.Code)
	return err
}

// unmarshalLicense returns the row of an enum value.
func unmarshalLicense(b []byte) (licenseRow, error) {
	var enum string
	err := json.Unmarshal(b, &enum)
	if i := slices.IndexFunc(Licenses, func(row licenseRow) bool { return row.Enum == enum }); i >= 0 {
		return Licenses[i], err
	}
	return licenseRow{}, err
}

// creativeCommons matches a word that consists of abbreviations of the Creative Commons licenses.
var creativeCommons = regexp.MustCompile(`^(cc|by|nc|nd|sa)+$`)

// reserved are the beginnings of texts that grant less than any license of the table, without
// spaces and punctuation.
var reserved = []string{"allrights", "copyright", "proprietary", "personal", "private", "nolicen", "unlicensed"}

// restrictions are parts of texts that restrict a license in ways that no license of the table
// does, without spaces and punctuation.
var restrictions = []string{"nosale", "notforsale", "sell", "sold", "resale", "personaluse", "privateuse", "permission",
	"prohibit", "forbid", "notallowed", "exclusive", "except"}

// ExactLicense returns the SPDX identifier that a text means, or "" if it means that of its code in
// the table, of any version.
func ExactLicense(text string) string {
	id := license.Label(text)
	if id == license.Unknown || id == license.FromCode(id.Code(), "") && !strings.ContainsFunc(text, unicode.IsDigit) {
		return ""
	}
	return string(id)
}

// LikelyLicense returns the enum value of the license that a client which does not know the codes
// most probably means: gpl3 is GPL, and cc-by-sa-4.0 is Attribution - Share Alike. If the text has
// restrictions that no license combines, it returns one that permits no more than each of them.
func LikelyLicense(text string) (string, bool) {
	if id := license.Label(text); id != license.Unknown {
		if i := slices.IndexFunc(Licenses, func(row licenseRow) bool { return row.Code == id.Code() }); i >= 0 {
			return Licenses[i].Enum, true
		}
		return other, true
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	})
	all := strings.Join(words, "")
	if containsAny(all, restrictions...) {
		return other, true
	}
	if all == "none" || all == "arr" || strings.Contains(all, "rightsreserved") ||
		slices.ContainsFunc(reserved, func(p string) bool { return strings.HasPrefix(all, p) }) {
		return other, true
	}
	nc := containsAny(all, "noncom", "nocom", "notcom", "notforcom")
	nd := containsAny(all, "noderiv", "nonderiv", "noremix", "nomodif")
	sa := strings.Contains(all, "sharealike")
	cc := strings.Contains(all, "attribution")
	zero, mit := containsAny(all, "publicdomain"), all == "mitlicense"
	for _, word := range words {
		letters := strings.TrimFunc(word, unicode.IsDigit)
		zero = zero || word == "zero" || word == "pd" || strings.HasPrefix(word, "cc0") || strings.HasPrefix(word, "cczero")
		mit = mit || letters == "mit"
		if creativeCommons.MatchString(letters) {
			cc = true
			for code := range slices.Chunk([]byte(letters), 2) {
				nc, nd, sa = nc || string(code) == "nc", nd || string(code) == "nd", sa || string(code) == "sa"
			}
		}
	}
	switch {
	case nc && nd:
		return "CC_NC_ND", true
	case nc && sa:
		return "CC_NC_SA", true
	case nc:
		return "CC_NC", true
	case nd:
		return "CC_ND", true
	case zero:
		return "PD0", true
	case strings.Contains(all, "gpl") && (strings.Contains(all, "agpl") || strings.ContainsFunc(all, unicode.IsDigit)):
		return "", false // a version that is not known
	case strings.Contains(all, "lgpl"):
		return "LGPL", true
	case strings.Contains(all, "gpl"):
		return "GPL", true
	case mit || strings.Contains(all, "bsd"):
		return "BSD", true
	case sa:
		return "CC_SA", true
	case cc:
		return "CC", true
	}
	return LicenseEnum(all)
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// LicenseEnum returns the enum value of a license written as its code, its code without hyphens,
// or its long name.
func LicenseEnum(text string) (string, bool) {
	for _, row := range Licenses {
		if strings.EqualFold(text, row.Code) || strings.EqualFold(text, strings.ReplaceAll(row.Code, "-", "")) ||
			strings.EqualFold(text, row.Name) {
			return row.Enum, true
		}
	}
	return "", false
}
