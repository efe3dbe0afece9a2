package license

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// texts returns a real text of a license of the test data of package licensecheck.
func texts(t *testing.T) func(name string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/licensecheck").Output()
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) string {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(string(text), "\n\n") // after what licensecheck expects
		return body
	}
}

func TestRecognizeTexts(t *testing.T) {
	text := texts(t)
	for name, want := range map[string]ID{
		"CC-BY-4.0.t1": "CC-BY-4.0", "CC-BY-3.0.t1": "CC-BY-3.0", "CC-BY-2.5.t1": "CC-BY-2.5", "CC-BY-2.0.t1": "CC-BY-2.0",
		"CC-BY-1.0.t1":    "CC-BY-1.0",
		"CC-BY-SA-4.0.t1": "CC-BY-SA-4.0", "CC-BY-SA-3.0.t1": "CC-BY-SA-3.0", "CC-BY-SA-2.0.t1": "CC-BY-SA-2.0",
		"CC-BY-ND-4.0.t1": "CC-BY-ND-4.0", "CC-BY-ND-3.0.t1": "CC-BY-ND-3.0",
		"CC-BY-NC-4.0.t1": "CC-BY-NC-4.0", "CC-BY-NC-3.0.t1": "CC-BY-NC-3.0", "CC-BY-NC-SA-4.0.t1": "CC-BY-NC-SA-4.0",
		"CC-BY-NC-SA-3.0.t1": "CC-BY-NC-SA-3.0", "CC-BY-NC-SA-2.5.t1": "CC-BY-NC-SA-2.5",
		"CC-BY-NC-ND-4.0.t1": "CC-BY-NC-ND-4.0", "CC-BY-NC-ND-3.0.t1": "CC-BY-NC-ND-3.0", "CC0-1.0.t1": "CC0-1.0",
		"CC0-1.0.t2": "CC0-1.0",
		"GPL-3.0.t1": "GPL-3.0-only", "GPL-2.0.t1": "GPL-2.0-only", "GPL-Header.t11": "GPL-3.0-or-later",
		"LGPL-3.0.t1": "LGPL-3.0-only", "LGPL-2.1.t1": "LGPL-2.1-only", "AGPL-3.0.t1": "AGPL-3.0-only",
		"AGPL-3.0.t2": "AGPL-3.0-or-later",
		"MIT.t1":      "MIT", "MIT.t2": "MIT", "BSD-3-Clause.t1": "BSD-3-Clause", "BSD-2-Clause.t1": "BSD-2-Clause",
		"Apache-2.0.t1":     "Apache-2.0",
		"CERN-OHL-S-2.0.t1": "CERN-OHL-S-2.0", "CERN-OHL-W-2.0.t1": "CERN-OHL-W-2.0", "CERN-OHL-P-2.0.t1": "CERN-OHL-P-2.0",
		"TAPR-OHL-1.0.t1": "TAPR-OHL-1.0",
		// Others, with further terms, or of several licenses.
		"MIT.t11": Unknown, "Apache-2.0.t3": Unknown, "GPL-1.0.t1": Unknown, "CERN-OHL-1.2.t1": Unknown,
		"MPL-2.0.t1": Unknown, "Unlicense.t1": Unknown, "BSD-4-Clause.t1": Unknown, "CC-PDDC.t1": Unknown,
		"OFL-1.1.t1":             Unknown,
		"CC-BY-NC-ND-3.0-IGO.t1": Unknown, "BSD-3-Clause-Clear.t1": Unknown, "GPL-2.0-Or-3.0.t1": Unknown,
	} {
		if got := Recognize(text(name)); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		for _, further := range []string{"You may not sell prints of this model.", "For personal use only.",
			"Commercial use requires a permission.", "Nur für private Zwecke."} {
			if got := Recognize(text(name) + "\n\n" + further); got != Unknown {
				t.Errorf("%s with %q: got %s, want %s", name, further, got, Unknown)
			}
		}
	}
	if got := Recognize(text("MIT.t1") + "\n\n" + text("GPL-3.0.t1")); got != Unknown {
		t.Errorf("two licenses: got %s, want %s", got, Unknown)
	}
	if got := Recognize("Copyright 2024 Ada\n\n" + text("MIT.t1")); got != "MIT" {
		t.Errorf("with a copyright: got %s, want MIT", got)
	}
}

func TestRecognizeLabels(t *testing.T) {
	for want, labels := range map[ID][]string{
		"CC-BY-4.0": {
			"Creative Commons - Attribution", "CC BY 4.0", "cc-by", "CC-BY-4.0",
			"Creative Commons Attribution 4.0 International", "Attribution 4.0 International (CC BY 4.0)",
			"https://creativecommons.org/licenses/by/4.0/", "http://creativecommons.org/licenses/by/4.0/deed.de",
			"This thing was created by Thingiverse user ada, and is licensed under Creative Commons - Attribution.",
			"Licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/).",
		},
		"CC-BY-3.0": {"CC BY 3.0", "https://creativecommons.org/licenses/by/3.0/us/",
			"Dragon by ada is licensed under the Creative Commons - Attribution license.\nhttp://creativecommons.org/licenses/by/3.0/"},
		"CC-BY-SA-4.0": {"Creative Commons - Attribution - Share Alike", "BY-SA", "CC Attribution-ShareAlike"},
		"CC-BY-SA-3.0": {"Creative Commons Attribution-ShareAlike 3.0 Unported", "cc by-sa v3.0"},
		"CC-BY-ND-4.0": {"Creative Commons - Attribution - No Derivatives", "CC BY-ND"},
		"CC-BY-NC-4.0": {"Creative Commons - Attribution - Non-Commercial",
			"Creative Commons — Attribution — Noncommercial", "by-nc",
			"Creative Commons (4.0 International License) Attribution—NonCommercial"},
		"CC-BY-NC-SA-4.0": {"Creative Commons - Attribution - Non-Commercial - Share Alike", "CC BY-NC-SA 4.0", "BY-NC-SA"},
		"CC-BY-NC-ND-4.0": {"Creative Commons - Attribution - Non-Commercial - No Derivatives", "CC-BY-NC-ND"},
		"CC-BY-NC-ND-3.0": {"https://creativecommons.org/licenses/by-nc-nd/3.0/legalcode"},
		CC0: {"CC0", "Creative Commons - Public Domain Dedication", "CC0 1.0 Universal", "Public Domain",
			"https://creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0"},
		"GPL-3.0-only":     {"GNU - GPL", "GPL", "GPLv3", "GNU GPL v3", "GPL 3.0", "GNU General Public License version 3"},
		"GPL-3.0-or-later": {"GPL-3.0+", "GPLv3 or later", "gpl-3.0-OR-later"},
		"GPL-2.0-only":     {"GPLv2", "GPL-2.0-only"}, "LGPL-3.0-only": {"GNU - LGPL", "LGPLv3"},
		"LGPL-2.1-only": {"LGPL 2.1"}, "AGPL-3.0-only": {"AGPLv3", "GNU Affero General Public License 3.0"},
		"MIT": {"MIT", "MIT License", "The MIT License"}, "BSD-3-Clause": {"BSD License", "BSD", "BSD 3-Clause"},
		"BSD-2-Clause": {"BSD-2-Clause"}, "Apache-2.0": {"Apache License, Version 2.0", "Apache 2.0"},
		"CERN-OHL-S-2.0": {"CERN-OHL-S v2", "CERN-OHL-S-2.0"}, "TAPR-OHL-1.0": {"TAPR Open Hardware License"},
		StandardDigitalFile: {"Standard Digital File License", "SDFL"}, AllRightsReserved: {"All Rights Reserved", "none",
			"No License", "proprietary"},
		Unknown: {
			"", "?", "Personal use only", "CULTS - Private Use", "Cults - Commercial Use", "Exclusive",
			"MakerWorld Exclusive License", "Royalty Free License", "Free for everyone", "Unknown", "CC", "CC BY 9.0",
			"CC BY-ND-SA",
			"CC BY 4.0, but no sale of prints", "CC BY 4.0 + personal use", "MIT or GPL", "GPLv4", "NC",
			"Attribution required unless you know me", "https://evil.example/creativecommons.org/licenses/by/4.0/",
			"Licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/). Commercial use is not allowed.",
			"Licensed under CC BY 4.0.\nhttps://creativecommons.org/licenses/by-nc/4.0/",
			"MyMiniFactory - Credits - Remix - Commercial", "Public Domain Mark 1.0", "Open Source", "Community License",
			"Commons Clause",
		},
	} {
		for _, label := range labels {
			if got := Recognize(label); got != want {
				t.Errorf("%q: got %s, want %s", label, got, want)
			}
		}
	}
}

// TestCodes checks that the codes of the REST API and the identifiers map both ways, and that
// nothing becomes more permissive by a round trip.
func TestCodes(t *testing.T) {
	for code, want := range map[string]ID{
		"cc": "CC-BY-4.0", "cc-sa": "CC-BY-SA-4.0", "cc-nd": "CC-BY-ND-4.0", "cc-nc": "CC-BY-NC-4.0",
		"cc-nc-sa": "CC-BY-NC-SA-4.0", "cc-nc-nd": "CC-BY-NC-ND-4.0",
		"pd0": CC0, "gpl": "GPL-3.0-only", "lgpl": "LGPL-3.0-only", "bsd": BSD, "none": AllRightsReserved,
		"": AllRightsReserved, "MIT": AllRightsReserved,
	} {
		if got := FromCode(code, ""); got != want {
			t.Errorf("%q: got %s, want %s", code, got, want)
		}
	}
	for _, l := range All {
		code := l.ID.Code()
		if back := FromCode(code, ""); !back.Terms().Within(l.Terms) {
			t.Errorf("%s becomes %s by the code %s, which permits more", l.ID, back, code)
		}
		if back := FromCode(code, l.ID); back != l.ID {
			t.Errorf("%s, written back as %s, becomes %s", l.ID, code, back)
		}
		if !l.ID.Valid() || Label(l.Name) != l.ID || l.URL != "" && Label(l.URL) != Label(string(firstWith(l.URL))) {
			t.Errorf("%s is not found by its identifier, name or URL", l.ID)
		}
	}
	if len(All) < 48 {
		t.Errorf("got %d licenses, want at least 48", len(All))
	}
}

// firstWith returns the first license with a URL: -only and -or-later have the same.
func firstWith(url string) ID {
	for _, l := range All {
		if l.URL == url {
			return l.ID
		}
	}
	return Unknown
}
