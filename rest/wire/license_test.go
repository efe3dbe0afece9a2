package wire_test

import (
	"testing"

	"github.com/meshyard/meshyard/rest/wire"
)

// TestLikelyLicense checks that undocumented licenses become the most similar license, and never
// one that permits more.
func TestLikelyLicense(t *testing.T) {
	for text, want := range map[string]string{
		// Creative Commons
		"by": "CC", "cc-by": "CC", "CC BY 4.0": "CC", "ccby4": "CC", "attribution": "CC",
		"by-sa": "CC_SA", "ShareAlike": "CC_SA", "cc-by-sa-3.0": "CC_SA", "CCBYSA": "CC_SA",
		"by-nc": "CC_NC", "nc": "CC_NC", "noncommercial": "CC_NC", "Non-commercial": "CC_NC",
		"not for commercial use":                      "CC_NC",
		"Attribution-NonCommercial 4.0 International": "CC_NC", "ccbync": "CC_NC",
		"nd": "CC_ND", "by-nd": "CC_ND", "sa-nd": "CC_ND", "No Derivatives": "CC_ND", "cc by noderivs": "CC_ND",
		"nc-sa": "CC_NC_SA", "cc-by-nc-sa-4.0": "CC_NC_SA", "NonCommercial, ShareAlike": "CC_NC_SA",
		"CC-NC-SA-ND": "CC_NC_ND", "by_nc_nd": "CC_NC_ND", "cc nd nc": "CC_NC_ND", "byncnd": "CC_NC_ND",
		"Creative Commons - Attribution - Non-Commercial - No Derivatives (unported)": "CC_NC_ND",
		// no license, or less than any of the table
		"none": "OTHER", "all-rights-reserved": "OTHER", "All Rights Reserved": "OTHER", "arr": "OTHER",
		"No license":         "OTHER",
		"Copyright 2020 Ada": "OTHER", "proprietary": "OTHER", "personal use only": "OTHER",
		"(c) some rights reserved": "OTHER",
		// public domain
		"cc-zero": "PD0", "zero": "PD0", "CC0 1.0": "PD0", "cc0": "PD0", "cczero": "PD0", "pd": "PD0", "Public Domain": "PD0",
		// software
		"mit": "BSD", "MIT License": "BSD", "The MIT License": "BSD", "bsd-3-clause": "BSD", "BSD2": "BSD",
		"gpl3": "GPL", "AGPL": "OTHER", "GNU GPL v2": "GPL", "lgpl-2.1": "LGPL", "gpl-nc": "CC_NC",
		// with restrictions that no license of the table has
		"CC BY 4.0, but no sale of prints": "OTHER", "MIT, do not sell": "OTHER", "GPL with my permission": "OTHER",
		"CC0 except for companies": "OTHER",
		// unknown
		"GPLv4": "", "GPL 1.0": "", "AGPL v2": "", "LGPL 4": "",
		"": "", "c": "", "mine": "", "permit": "", "band": "", "Sandra": "", "open": "",
	} {
		if got, ok := wire.LikelyLicense(text); got != want || ok != (want != "") {
			t.Errorf("LikelyLicense(%q) = %q, %t; want %q", text, got, ok, want)
		}
	}
	for text, want := range map[string]string{
		"cc-by": "", "GPL": "", "Creative Commons - Attribution": "", "house rules": "",
		"CC BY 4.0, but no sale of prints": "",
		"GNU GPL v2":                       "GPL-2.0-only", "GPL-3.0-or-later": "GPL-3.0-or-later",
		"CC BY-NC 3.0": "CC-BY-NC-3.0", "CC BY 4.0": "CC-BY-4.0", "MIT": "MIT", "Apache 2.0": "Apache-2.0",
		"Unknown: ask the creator": "",
	} {
		if got := wire.ExactLicense(text); got != want {
			t.Errorf("ExactLicense(%q) = %q, want %q", text, got, want)
		}
	}
	for _, row := range wire.Licenses {
		if got, _ := wire.LikelyLicense(row.Name + "."); got != row.Enum {
			t.Errorf("LikelyLicense(%q) = %q, want %q", row.Name+".", got, row.Enum)
		}
	}
}
