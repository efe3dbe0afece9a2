package archive

import "slices"

// archiveTable describes the rows of a table in archives. docs/archive-format.md documents them. In
// its SQL expressions, r is a row, ?0 is the ID of the user whose archive is written, and ?1 is the
// collation that compares texts bytewise, so that archives of both engines have the same order.
type archiveTable struct {
	name    string // of the table, and of the noun
	columns []archiveColumn
	key     string // ORDER BY
	where   string // the condition on the rows; empty: all rows
	// ofUser is the condition on the rows in the archive of one user. If it is empty, such an archive
	// does not have the table.
	ofUser string
	// constants are the values of columns that archives do not have.
	constants []archiveConstant
	// credential reports whether the rows are credentials, which are exported only on request.
	credential bool
}

// archiveConstant is the value that an import stores in a column.
type archiveConstant struct {
	column string
	value  any
}

// archiveColumn describes a column.
type archiveColumn struct {
	name   string
	kind   archiveKind
	refers string // if kind is kindReference, the noun of the row that the column refers to
	null   bool   // it may be null
	// optional columns were added after format 1 was published. A row of an older archive lacks them,
	// and they are null then.
	optional bool
	// null and zero determine how a reference to a row that the archive does not have is replaced: by
	// null or by 0. If neither is set, the row is left out.
	zero bool
	// restricted columns are not in the archive of a user, because only moderators and administrators
	// may set them, or because the import computes them.
	restricted bool
	// value is the SQL expression of a column that is not exported as it is stored. valueOfUser is
	// the same for the archive of one user.
	value, valueOfUser string
}

// archiveKind says what the values of a column are.
type archiveKind string

const (
	kindReference archiveKind = "" // the ID of a row of another noun
	kindID        archiveKind = "id"
	kindInt       archiveKind = "int"
	kindText      archiveKind = "text"
	kindBool      archiveKind = "bool"
	kindTime      archiveKind = "time"
	kindJSON      archiveKind = "json"
	kindLicense   archiveKind = "license"
	kindTarget    archiveKind = "target"    // the ID of a row of the noun in the column target_type
	kindRendering archiveKind = "rendering" // the ID of a rendering, from the sequence of files
)

// noun returns the noun of the rows that a column refers to, or "". targetType is the value of the
// column target_type.
func (c archiveColumn) noun(targetType string) string {
	if c.kind == kindTarget {
		return archiveTargets[targetType]
	}
	return c.refers
}

// expression returns the SQL expression of the values to export, to the archive of a user or, if
// user is false, of everything.
func (c archiveColumn) expression(user bool) string {
	switch {
	case c.value == "":
		return "r." + c.name
	case user:
		return c.valueOfUser
	}
	return c.value
}

// archiveTargets maps types of targets to nouns.
var archiveTargets = map[string]string{
	"thing": "things", "make": "makes", "comment": "comments", "collection": "collections", "user": "users",
	"file": "files", "avatar": "users", "cover": "users",
}

// hasID reports whether rows of the table have an id.
func (t *archiveTable) hasID() bool { return t.columns[0].kind == kindID }

// of returns the columns of the table in the archive of a user or, if user is false, of everything.
func (t *archiveTable) of(user bool) []archiveColumn {
	return slices.DeleteFunc(slices.Clone(t.columns), func(c archiveColumn) bool { return user && c.restricted })
}

func archiveTableOf(noun string) *archiveTable {
	i := slices.IndexFunc(archiveTables, func(t archiveTable) bool { return t.name == noun })
	if i < 0 {
		return nil
	}
	return &archiveTables[i]
}
