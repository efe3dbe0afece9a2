package models

// License is the license of a thing.
type License string

// The licenses, with the codes that are stored.
const (
	CC     License = "cc"
	CCSA   License = "cc-sa"
	CCND   License = "cc-nd"
	CCNC   License = "cc-nc"
	CCNCSA License = "cc-nc-sa"
	CCNCND License = "cc-nc-nd"
	PD0    License = "pd0"
	GPL    License = "gpl"
	LGPL   License = "lgpl"
	BSD    License = "bsd"
	Other  License = "other" // see Thing.LicenseID
)

// Licenses are all licenses.
var Licenses = []License{CC, CCSA, CCND, CCNC, CCNCSA, CCNCND, PD0, GPL, LGPL, BSD, Other}
