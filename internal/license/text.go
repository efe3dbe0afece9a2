package license

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/google/licensecheck"
)

// scanned are the identifiers of package licensecheck that this package does not have. A text
// without "or any later version" is that of the version only.
var scanned = map[string]ID{
	"GPL-2.0": "GPL-2.0-only", "GPL-3.0": "GPL-3.0-only", "LGPL-2.1": "LGPL-2.1-only", "LGPL-3.0": "LGPL-3.0-only",
	"AGPL-3.0":     "AGPL-3.0-only",
	"GPL-2.0-Only": "GPL-2.0-only", "GPL-3.0-Only": "GPL-3.0-only", "LGPL-2.1-Only": "LGPL-2.1-only",
	"LGPL-3.0-Only": "LGPL-3.0-only", "AGPL-3.0-Only": "AGPL-3.0-only",
}

var (
	// restriction matches words beside the text of a license that may restrict it.
	restriction = regexp.MustCompile(
		`(?i)\b(?:not|no|non|never|none|only|except|exception|unless|but|however|prohibit\w*|forbid\w*|personal\w*|commercial\w*|noncommercial|sell\w*|sold|permission|restrict\w*|without|cannot|don'?t|nicht|kein\w*|nur|verboten|privat\w*|kommerziell\w*)\b`)

	statement = regexp.MustCompile(
		`(?im)\b(?:is |are )?(?:licen[sc]ed under|licen[sc]e(?: is|:))\s+(?:the |a )?([^\n]{2,120}?)\s*(?:licen[sc]e)?\s*\.?\s*$`)

	// symbols matches the lines in which Printables repeats the terms of the license.
	symbols = regexp.MustCompile(`(?m)^\s*[✔✖✓✗].*$`)
)

// Words beside a license that restrict what it permits.
var (
	noSale = regexp.MustCompile(
		`(?i)\b(?:(?:non-?)?commercial\w*|sell\w*|sold|sale|sales|resell\w*|profit|kommerziell\w*|verkauf\w*)\b`)
	noRemix = regexp.MustCompile(
		`(?i)\b(?:no derivati\w+|no ?derivs?|(?:not|no|don'?t|never) (?:\w+ )?(?:remix|modify|alter|change)\w*)\b`)
	noShare = regexp.MustCompile(
		`(?i)\b(?:personal use|private use|all rights reserved|without (?:\w+ ){0,3}permission|redistribut\w*|(?:not|don'?t|never) (?:\w+ )?(?:share|upload|publish|copy|distribute)\w*|nur privat\w*|privatgebrauch)\b`)
)

// FromReadme returns the license that a description names in lines about its license. It returns
// Unknown if there is none, if the lines name several, or if words anywhere else may restrict what
// the license permits.
func FromReadme(text string) ID {
	var found ID
	var rest strings.Builder
	for line := range strings.Lines(text) {
		lower := strings.ToLower(line)
		if !strings.Contains(lower, "licen") && !strings.Contains(lower, "creativecommons.org") {
			rest.WriteString(line)
			continue
		}
		id := Recognize(line)
		switch {
		case id == Unknown: // a heading, or words that may be restrictions
			rest.WriteString(line)
		case found == "" || found == id || found.Code() == id.Code() && found.Code() != NoCode:
			if found == "" || strings.Contains(lower, "creativecommons.org") { // the URL has the version
				found = id
			}
		default:
			return Unknown
		}
	}
	terms, beside := found.Terms(), rest.String()
	if found == "" || terms.Sell && noSale.MatchString(beside) || terms.Adapt && noRemix.MatchString(beside) ||
		terms.Share && noShare.MatchString(beside) {
		return Unknown
	}
	return found
}

// Declared returns the license that metadata declare by the texts: identifiers, names and URLs of
// the same license. It returns Unknown if a text may restrict what the others permit, or if they
// name several licenses.
func Declared(texts []string) ID {
	var found ID
	for _, text := range texts {
		id, ok := Coded(text)
		if !ok {
			id = Label(text)
		}
		switch {
		case id == Unknown && !restriction.MatchString(text) && !strings.EqualFold(text, string(Unknown)):
			// such as the name of a file, or a name that only a person understands
		case id == Unknown:
			return Unknown
		case found == "" || found == id:
			found = id
		case found.Code() != id.Code() || found.Code() == NoCode:
			return Unknown
		}
	}
	return cmp.Or(found, Unknown)
}

// Stricter returns the license that permits no more than either of two, or Unknown.
func Stricter(a, b ID) ID {
	switch {
	case a.Terms().Within(b.Terms()):
		return a
	case b.Terms().Within(a.Terms()):
		return b
	}
	return Unknown
}

// maxLabel is the maximum length of a text that is a label.
const maxLabel = 200

// Recognize returns the license of a text: that of a license file, or a label as [Label] accepts
// it. It returns Unknown if the text is that of no known license, mentions several, or has words
// beside the license that may restrict it.
func Recognize(text string) ID {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if len(text) <= maxLabel && !strings.Contains(text, "\n") {
		if id := Label(text); id != Unknown {
			return id
		}
	}
	var found ID
	agrees := func(id ID, exact bool) bool {
		switch {
		case id == Unknown:
			return false
		case found == "" || found == id:
			found = id
		case found.Code() == id.Code() && found.Code() != NoCode:
			if exact { // a name without a version, beside the URL of a version
				found = id
			}
		default:
			return false
		}
		return true
	}
	text = symbols.ReplaceAllString(text, "")
	var rest strings.Builder // what no license matches
	at := 0
	for _, m := range licensecheck.Scan([]byte(text)).Match {
		id, ok := scanned[m.ID]
		if !ok {
			id = known(ID(m.ID))
		}
		// The LGPL of version 3.0 is often stored with the GPL, which it refers to.
		if found == "LGPL-3.0-only" && id == "GPL-3.0-only" {
			id = found
		} else if found == "GPL-3.0-only" && id == "LGPL-3.0-only" {
			found = id
		}
		if !agrees(id, true) {
			return Unknown
		}
		rest.WriteString(text[at:m.Start])
		rest.WriteByte('\n')
		at = m.End
	}
	rest.WriteString(text[at:])
	beside := rest.String()
	for _, m := range statement.FindAllStringSubmatch(beside, -1) {
		id := Label(m[1])
		if id == Unknown {
			continue // the words stay, and may be restrictions
		}
		if !agrees(id, false) {
			return Unknown
		}
		beside = strings.Replace(beside, m[0], " ", 1)
	}
	if found == "" || restriction.MatchString(beside) {
		return Unknown
	}
	return found
}
