package maintenance

import "github.com/meshyard/meshyard/internal/database"

// Maintained are the tables whose statistics matter.
var Maintained = database.Tables{
	Analyzed: []string{"things", "files", "thing_tags", "thing_documents", "vocabulary", "users", "tags"},
	Large:    []string{"things", "files", "thing_tags", "downloads"},
	Queues:   []string{"count_changes", "new_downloads", "unranked_things"},
	OnePlan:  []string{"files", "thing_tags", "vocabulary"},
}
