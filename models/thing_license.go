package models

import (
	"cmp"

	"github.com/meshyard/meshyard/internal/license"
)

// SPDX returns the identifier of the license of a thing.
func (t *Thing) SPDX() license.ID {
	return cmp.Or(t.LicenseID, t.License.SPDX(""))
}

// LicenseInfo returns the license of a thing.
func (t *Thing) LicenseInfo() license.License {
	l, _ := license.Find(string(t.SPDX()))
	return l
}

// SPDX returns the license that a client means by a code. If the code is that of the present
// license of the thing, it returns the present one.
func (l License) SPDX(present license.ID) license.ID {
	code := string(l)
	if l == Other {
		code = license.NoCode
	}
	return license.FromCode(code, present)
}

// LicenseOf returns the code of a license, or Other.
func LicenseOf(id license.ID) License {
	if code := id.Code(); code != license.NoCode {
		return License(code)
	}
	return Other
}

// setLicense sets the license to an SPDX identifier or, if that is nil, to the one that a code
// means. If both are nil, it changes nothing. The identifier has been checked by checkLicense.
func (t *Thing) setLicense(code *License, id *string) {
	switch {
	case id != nil:
		l, _ := license.Find(*id)
		t.LicenseID, t.License = l.ID, LicenseOf(l.ID)
	case code != nil:
		present := license.ID("")
		if t.License != "" {
			present = t.SPDX()
		}
		t.LicenseID, t.License = code.SPDX(present), *code
	}
}

// checkLicense returns BadInput if an SPDX identifier is not nil and not known.
func checkLicense(id *string) error {
	if id == nil {
		return nil
	}
	if _, ok := license.Find(*id); !ok {
		return Invalid("licenseId",
			"licenseId: %.60q is not the SPDX identifier of a license that this server knows; see licenses", *id)
	}
	return nil
}
