package license

import (
	"regexp"
	"slices"
	"strings"
)

// labels are the names of licenses on websites and in files, as words in lower case.
var labels = map[string]ID{
	"cc0": CC0, "cc zero": CC0, "public domain": CC0, "public domain dedication": CC0,
	"creative commons public domain": CC0, "creative commons public domain dedication": CC0,
	"cc0 1 0": CC0, "cc0 1 0 universal": CC0, "creative commons zero": CC0, "creative commons 0": CC0,
	"creative commons zero 1 0": CC0, "cc0 public domain": CC0,
	"gnu gpl": "GPL-3.0-only", "gpl": "GPL-3.0-only", "gnu general public": "GPL-3.0-only", "gnu lgpl": "LGPL-3.0-only",
	"lgpl": "LGPL-3.0-only", "gnu lesser general public": "LGPL-3.0-only",
	"agpl": "AGPL-3.0-only", "gnu agpl": "AGPL-3.0-only", "gnu affero general public": "AGPL-3.0-only",
	"mit": "MIT", "expat": "MIT", "bsd": BSD, "bsd 3 clause": BSD, "new bsd": BSD, "modified bsd": BSD,
	"3 clause bsd": BSD, "bsd 2 clause": "BSD-2-Clause", "2 clause bsd": "BSD-2-Clause", "simplified bsd": "BSD-2-Clause",
	"freebsd": "BSD-2-Clause",
	"apache":  "Apache-2.0", "apache 2": "Apache-2.0", "apache 2 0": "Apache-2.0", "apache version 2 0": "Apache-2.0",
	"cern ohl s": "CERN-OHL-S-2.0", "cern ohl w": "CERN-OHL-W-2.0", "cern ohl p": "CERN-OHL-P-2.0",
	"cern ohl s v2": "CERN-OHL-S-2.0", "cern ohl w v2": "CERN-OHL-W-2.0", "cern ohl p v2": "CERN-OHL-P-2.0",
	"cern open hardware licence 2 strongly reciprocal": "CERN-OHL-S-2.0",
	"cern open hardware licence 2 weakly reciprocal":   "CERN-OHL-W-2.0",
	"cern open hardware licence 2 permissive":          "CERN-OHL-P-2.0",
	"tapr": "TAPR-OHL-1.0", "tapr ohl": "TAPR-OHL-1.0", "tapr open hardware": "TAPR-OHL-1.0",
	"standard digital file": StandardDigitalFile, "sdfl": StandardDigitalFile,
	"all rights reserved": AllRightsReserved, "arr": AllRightsReserved, "none": AllRightsReserved, "no": AllRightsReserved,
	"proprietary": AllRightsReserved, "copyright": AllRightsReserved, "unlicensed": AllRightsReserved,
}

var (
	notWords = regexp.MustCompile(`[^\p{L}\p{N}+]+`)

	creativeCommonsURL = regexp.MustCompile(
		`(?i)^(?:https?://)?(?:www\.)?creativecommons\.org/licenses/(by(?:-nc)?(?:-nd|-sa)?)/(\d\.\d)(?:/[a-z]{2,5})?(?:/(?:deed|legalcode)(?:\.[a-z-]{2,7})?)?/?$`)
	zeroURL = regexp.MustCompile(
		`(?i)^(?:https?://)?(?:www\.)?creativecommons\.org/publicdomain/zero/1\.0(?:/(?:deed|legalcode)(?:\.[a-z-]{2,7})?)?/?$`)

	gnu = regexp.MustCompile(
		`^(?:the )?(?:gnu )?(a|l)?gpl ?(?:version )?v?([23](?: [01])?)( only| or later| or any later version|\+)?$`)
)

// Label returns the license that a name, an SPDX identifier or a URL means: the label of a license
// on a website or in a file. It returns Unknown if a word of it is not understood, because it could
// be a restriction.
func Label(text string) ID {
	text = strings.TrimSpace(text)
	if l, ok := Find(text); ok {
		return l.ID
	}
	if m := creativeCommonsURL.FindStringSubmatch(text); m != nil {
		return known(creativeCommonsID(m[1], m[2]))
	}
	if zeroURL.MatchString(text) {
		return CC0
	}
	for _, l := range All {
		if l.URL != "" && strings.EqualFold(strings.TrimSuffix(l.URL, "/"), strings.TrimSuffix(text, "/")) ||
			strings.EqualFold(l.Name, text) {
			return l.ID
		}
	}
	words := strings.Fields(notWords.ReplaceAllString(strings.ToLower(text), " "))
	words = slices.DeleteFunc(words, func(w string) bool { return w == "license" || w == "licence" || w == "the" })
	plain := strings.Join(words, " ")
	if id, ok := labels[plain]; ok {
		return id
	}
	plain = strings.NewReplacer("gnu affero general public", "agpl", "gnu lesser general public", "lgpl",
		"gnu general public", "gpl").Replace(plain)
	if m := gnu.FindStringSubmatch(plain); m != nil {
		version := strings.ReplaceAll(m[2], " ", ".")
		if !strings.Contains(version, ".") {
			version += ".0"
		}
		suffix := "-only"
		if strings.HasSuffix(m[3], "later") || strings.HasSuffix(m[3], "version") || m[3] == "+" {
			suffix = "-or-later"
		}
		return known(ID(strings.ToUpper(m[1]) + "GPL-" + version + suffix))
	}
	return creativeCommonsLabel(words)
}

// known returns the identifier if the license is known, and otherwise Unknown.
func known(id ID) ID {
	if id.Valid() {
		return id
	}
	return Unknown
}

// creativeCommonsLabel returns the Creative Commons license with all elements in the words. It
// returns Unknown if there is another word, or if the elements are not those of a license.
func creativeCommonsLabel(words []string) ID {
	rest := " " + strings.Join(words, " ") + " "
	has := make(map[string]bool)
	version := ""
	for _, element := range []struct {
		name  string
		words []string // the longest first
	}{
		{"nc", []string{"non commercial use only", "non commercial use", "non commercial", "noncommercial",
			"no commercial use", "nocommercial", "nc"}},
		{"nd", []string{"no derivative works", "no derivatives", "no derivs", "noderivatives", "noderivs", "noderivative",
			"non derivatives", "nd"}},
		{"sa", []string{"share alike", "sharealike", "sa"}},
		{"by", []string{"attribution", "by"}},
		{"cc", []string{"creative commons", "creativecommons", "cc"}},
		{"", []string{"international", "unported", "generic", "intl", "public", "version"}},
	} {
		for _, word := range element.words {
			for strings.Contains(rest, " "+word+" ") {
				rest = strings.Replace(rest, " "+word+" ", " ", 1)
				has[element.name] = true
			}
		}
	}
	for _, v := range versions {
		spaced := strings.ReplaceAll(v, ".", " ")
		for _, form := range []string{" v" + spaced + " ", " " + spaced + " "} {
			for strings.Contains(rest, form) {
				if version != "" && version != v {
					return Unknown
				}
				rest, version = strings.Replace(rest, form, " ", 1), v
			}
		}
	}
	// Every license but CC0 requires attribution since version 2.0, so a name of the elements may omit
	// it. "NC" alone is no name.
	if strings.TrimSpace(rest) != "" || !has["by"] && !has["cc"] || !has["by"] && !has["nc"] && !has["nd"] && !has["sa"] ||
		has["nd"] && has["sa"] {
		return Unknown
	}
	code := "by"
	for _, element := range []string{"nc", "nd", "sa"} {
		if has[element] {
			code += "-" + element
		}
	}
	if version == "" {
		version = versions[0]
	}
	return known(creativeCommonsID(code, version))
}
