// Package license names the licenses of things by SPDX identifiers, and recognizes them in texts
// and in the labels of websites.
//
// The recognition is never more permissive than the text: if it is in doubt, the result is Unknown.
package license

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ID is an SPDX license identifier (https://spdx.org/licenses/), or one that begins with LicenseRef-
// for terms that SPDX does not list.
type ID string

// The identifiers that SPDX does not list.
const (
	// Unknown is the license of a thing whose creator must be asked.
	Unknown ID = "LicenseRef-Unknown"
	// AllRightsReserved permits nothing.
	AllRightsReserved ID = "LicenseRef-All-Rights-Reserved"
	// StandardDigitalFile permits to print the files for oneself, and neither to share nor to sell
	// them or what is made from them.
	StandardDigitalFile ID = "LicenseRef-Standard-Digital-File"
)

// CC0 and BSD are the licenses without versions in the old codes.
const (
	CC0 ID = "CC0-1.0"
	BSD ID = "BSD-3-Clause"
)

// License describes a license.
type License struct {
	ID    ID
	Name  string // in English
	URL   string // of its text; "" if there is none
	Terms Terms
}

// Terms are what a license permits and requires.
type Terms struct {
	// Permitted: to publish copies, to publish adaptations, commercial use.
	Share, Adapt, Sell bool
	// Required: to name the creator, the same license, to provide sources.
	Credit, Alike, Provides bool
}

// Within reports whether the terms permit nothing that the other terms do not permit, and require
// all that they require.
func (t Terms) Within(other Terms) bool {
	implies := func(a, b bool) bool { return !a || b }
	return implies(t.Share, other.Share) && implies(t.Adapt, other.Adapt) && implies(t.Sell, other.Sell) &&
		implies(other.Credit, t.Credit || !t.Share) && implies(other.Alike, t.Alike || !t.Adapt) &&
		implies(other.Provides, t.Provides || !t.Adapt)
}

// All are the known licenses, in the order in which a form lists them.
var All = build()

var byID = index()

// Find returns the license with an identifier, in which case is ignored. ok is false if it is not
// known.
func Find(id string) (l License, ok bool) {
	l, ok = byID[strings.ToLower(id)]
	return l, ok
}

// Valid reports whether an identifier is that of a known license, in its exact spelling.
func (id ID) Valid() bool {
	l, ok := Find(string(id))
	return ok && l.ID == id
}

// Name returns the English name of a license, or the identifier if it is not known.
func (id ID) Name() string {
	l, _ := Find(string(id))
	return cmp.Or(l.Name, string(id))
}

// Terms returns the terms of a license. A license that is not known permits nothing.
func (id ID) Terms() Terms {
	l, _ := Find(string(id))
	return l.Terms
}

// versions of the Creative Commons licenses, the newest first.
var versions = []string{"4.0", "3.0", "2.5", "2.0", "1.0"}

// creativeCommons are the six Creative Commons licenses of each version.
var creativeCommons = []struct {
	code  string // in identifiers and URLs, in lower case
	name  string
	terms Terms
}{
	{"by", "Attribution", Terms{Share: true, Adapt: true, Sell: true, Credit: true}},
	{"by-sa", "Attribution-ShareAlike", Terms{Share: true, Adapt: true, Sell: true, Credit: true, Alike: true}},
	{"by-nd", "Attribution-NoDerivatives", Terms{Share: true, Sell: true, Credit: true}},
	{"by-nc", "Attribution-NonCommercial", Terms{Share: true, Adapt: true, Credit: true}},
	{"by-nc-sa", "Attribution-NonCommercial-ShareAlike", Terms{Share: true, Adapt: true, Credit: true, Alike: true}},
	{"by-nc-nd", "Attribution-NonCommercial-NoDerivatives", Terms{Share: true, Credit: true}},
}

func build() []License {
	var all []License
	notice := Terms{Share: true, Adapt: true, Sell: true, Credit: true}
	copyleft := Terms{Share: true, Adapt: true, Sell: true, Credit: true, Alike: true, Provides: true}
	add := func(id ID, name, url string, terms Terms) { all = append(all, License{id, name, url, terms}) }
	for i, version := range versions {
		for _, cc := range creativeCommons {
			add(creativeCommonsID(cc.code, version), "Creative Commons "+cc.name+" "+version,
				"https://creativecommons.org/licenses/"+cc.code+"/"+version+"/", cc.terms)
		}
		if i == 0 {
			add(CC0, "Creative Commons Zero 1.0 (public domain)", "https://creativecommons.org/publicdomain/zero/1.0/",
				Terms{Share: true, Adapt: true, Sell: true})
		}
	}
	for _, gnu := range []struct {
		short, name string
		versions    []string
	}{
		{"GPL", "GNU General Public License", []string{"3.0", "2.0"}},
		{"LGPL", "GNU Lesser General Public License", []string{"3.0", "2.1"}},
		{"AGPL", "GNU Affero General Public License", []string{"3.0"}},
	} {
		for _, version := range gnu.versions {
			url := "https://www.gnu.org/licenses/" + strings.ToLower(gnu.short) + "-" + version + ".html"
			if strings.HasSuffix(version, "2.0") || strings.HasSuffix(version, "2.1") {
				url = "https://www.gnu.org/licenses/old-licenses/" + strings.ToLower(gnu.short) + "-" + version + ".html"
			}
			add(ID(gnu.short+"-"+version+"-only"), gnu.name+" "+version+" only", url, copyleft)
			add(ID(gnu.short+"-"+version+"-or-later"), gnu.name+" "+version+" or later", url, copyleft)
		}
	}
	spdx := func(id, name string, terms Terms) { add(ID(id), name, "https://spdx.org/licenses/"+id+".html", terms) }
	spdx("MIT", "MIT License", notice)
	spdx("BSD-3-Clause", "BSD 3-Clause License", notice)
	spdx("BSD-2-Clause", "BSD 2-Clause License", notice)
	spdx("Apache-2.0", "Apache License 2.0", notice)
	spdx("CERN-OHL-S-2.0", "CERN Open Hardware Licence 2, Strongly Reciprocal", copyleft)
	spdx("CERN-OHL-W-2.0", "CERN Open Hardware Licence 2, Weakly Reciprocal", copyleft)
	spdx("CERN-OHL-P-2.0", "CERN Open Hardware Licence 2, Permissive", notice)
	spdx("TAPR-OHL-1.0", "TAPR Open Hardware License 1.0", copyleft)
	add(StandardDigitalFile, "Standard digital file license", "", Terms{})
	add(AllRightsReserved, "All rights reserved", "", Terms{})
	add(Unknown, "Unknown: ask the creator", "", Terms{})
	return all
}

func creativeCommonsID(code, version string) ID {
	return ID(fmt.Sprintf("CC-%s-%s", strings.ToUpper(code), version))
}

func index() map[string]License {
	ids := make(map[string]License, len(All))
	for _, l := range All {
		ids[strings.ToLower(string(l.ID))] = l
	}
	return ids
}

// codes are the codes of the REST API, which has neither versions nor other licenses.
var codes = []struct {
	code string
	id   ID // that a client means by the code
	// within are the beginnings of the identifiers whose terms are those of the code.
	within []string
}{
	{"cc", "CC-BY-4.0", []string{"CC-BY-1", "CC-BY-2", "CC-BY-3", "CC-BY-4"}},
	{"cc-sa", "CC-BY-SA-4.0", []string{"CC-BY-SA-"}},
	{"cc-nd", "CC-BY-ND-4.0", []string{"CC-BY-ND-"}},
	{"cc-nc-sa", "CC-BY-NC-SA-4.0", []string{"CC-BY-NC-SA-"}},
	{"cc-nc-nd", "CC-BY-NC-ND-4.0", []string{"CC-BY-NC-ND-"}},
	{"cc-nc", "CC-BY-NC-4.0", []string{"CC-BY-NC-"}},
	{"pd0", CC0, []string{"CC0-"}},
	{"gpl", "GPL-3.0-only", []string{"GPL-"}},
	{"lgpl", "LGPL-3.0-only", []string{"LGPL-"}},
	{"bsd", BSD, []string{"BSD-", "MIT"}},
}

// NoCode is the code of the licenses for which the REST API has none.
const NoCode = "none"

// Code returns the code of the REST API whose terms are those of a license, or NoCode.
func (id ID) Code() string {
	for _, row := range codes {
		if slices.ContainsFunc(row.within, func(begin string) bool { return strings.HasPrefix(string(id), begin) }) {
			return row.code
		}
	}
	return NoCode
}

// FromCode returns the license that a client means by a code of the REST API. NoCode and other
// texts are AllRightsReserved. If the code is that of the present license of the thing, it returns
// the present one: a client that reads a thing and writes it back changes nothing.
func FromCode(code string, present ID) ID {
	if present != "" && present.Code() == code {
		return present
	}
	id, _ := Coded(code)
	return cmp.Or(id, AllRightsReserved)
}

// Coded returns the license that a client means by a code of the REST API. ok is false if the text
// is none of the codes, which are in lower case.
func Coded(text string) (id ID, ok bool) {
	for _, row := range codes {
		if row.code == text {
			return row.id, true
		}
	}
	return "", false
}
