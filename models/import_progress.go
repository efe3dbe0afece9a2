package models

import (
	"time"

	"github.com/uptrace/bun"
)

// ImportRow is the progress of an import.
type ImportRow struct {
	bun.BaseModel `bun:"table:imports"`

	Source    string `bun:",pk"`
	StartedAt time.Time
	Done      int
	Later     string // statements to run at the end, one per line; each can be repeated
}

// ArchiveImport is the stored progress of an import.
type ArchiveImport struct {
	bun.BaseModel `bun:"table:archive_imports,alias:ai"`

	Source    string `bun:",pk"`
	Noun      string
	Done      int64
	LeftOut   string
	StartedAt time.Time
}

// ArchiveID maps the ID of a row in an archive to its ID in this database.
type ArchiveID struct {
	bun.BaseModel `bun:"table:archive_ids,alias:a"`

	Source string `bun:",pk"`
	Noun   string `bun:",pk"`
	OldID  int64  `bun:",pk"`
	NewID  int64
}

// AccountNoun is the noun of the rows of archive_imports that describe services from which accounts
// are imported. These rows are never deleted, so the IDs of imported objects stay recorded in
// archive_ids. An import of an account can continue where it was interrupted, and accounts that are
// imported one after the other find each other's objects.
const AccountNoun = "account"
