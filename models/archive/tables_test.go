package archive

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/maintenance"
)

// notArchived maps the tables and columns that are not in archives to the reason.
var notArchived = map[string]string{
	"previews": "derived", "shape_keys": "derived", "contents": "derived", "count_changes": "derived",
	"new_downloads": "derived", "unranked_things": "derived", "vocabulary": "derived",
	"secrets": "of an instance", "sessions": "short-lived", "opened_urls": "short-lived", "views": "short-lived",
	"grants": "short-lived", "deprecated_calls": "of an instance",
	"imports": "of an instance", "archive_imports": "of an instance", "archive_ids": "of an instance",
	"schema_migrations": "of an instance",
	"last_runs":         "of an instance", "checkpoints": "of an instance", "deleted_contents": "derived",
	"files.state": "always finalized", "files.object_key": "of pending uploads", "files.expires_at": "of pending uploads",
	"files.preview_id": "derived", "files.format": "derived", "files.longest_mm": "derived", "files.short_mm": "derived",
	"files.long_mm": "derived", "files.height_mm": "derived", "files.triangles": "derived", "files.watertight": "derived",
	"uploads": "short-lived", "refresh_tokens": "short-lived", "invitations": "short-lived",
	"account_links": "short-lived", "webhooks": "of an instance", "webhook_deliveries": "of an instance",
	"printers": "of an instance", "print_jobs": "of an instance", "print_pictures": "of an instance",
	"things.popularity": "derived",
	"link_imports":      "short-lived", "link_things": "of an instance",
	"bulk_updates": "short-lived", "bulk_update_things": "short-lived",
	"things.deletes_at": "short-lived: the thing is a draft",
	"libraries":         "of an instance", "library_places": "of an instance", "library_things": "of an instance",
	"files.missing_since": "of libraries",
}

// TestArchiveTables checks that each column of the database is either in archives or left out on
// purpose, so that a new column is not forgotten.
func TestArchiveTables(t *testing.T) {
	db, err := models.OpenDB(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "meshyard.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var columns []struct{ TableName, Name string }
	err = db.Read.NewRaw(`SELECT m.name AS table_name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE '%_documents%' AND m.name NOT LIKE '%_trigrams%'`).Scan(t.Context(), &columns)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, c := range columns {
		full := c.TableName + "." + c.Name
		known[full], known[c.TableName] = true, true
		archived := false
		if table := archiveTableOf(c.TableName); table != nil {
			archived = slices.ContainsFunc(table.columns, func(a archiveColumn) bool { return a.name == c.Name })
		}
		derived := strings.HasSuffix(c.Name, "_html") || c.Name == "html_version" || c.Name == "held_bytes" ||
			slices.ContainsFunc(maintenance.Counted,
				func(count maintenance.CountedRows) bool { return count.Table == c.TableName && count.Column == c.Name })
		omitted := derived || notArchived[full] != "" || notArchived[c.TableName] != ""
		if archived == omitted {
			t.Errorf("%s: in archives: %v, left out on purpose: %v; list it in archive_schema.go, or here with the reason", full,
				archived, omitted)
		}
	}
	for name := range notArchived {
		if !known[name] {
			t.Errorf("%s: does not exist", name)
		}
	}
	for _, table := range archiveTables {
		for _, c := range table.columns {
			if !known[table.name+"."+c.name] {
				t.Errorf("%s.%s: does not exist", table.name, c.name)
			}
			if noun := c.noun(""); noun != "" && archiveTableOf(noun) == nil {
				t.Errorf("%s.%s: there is no noun %s", table.name, c.name, noun)
			}
		}
	}
}

// TestRowsOfOlderArchives checks that a row may lack the columns that were added after format 1 was
// published, and no others.
func TestRowsOfOlderArchives(t *testing.T) {
	makes := archiveTableOf("makes")
	rows := archiveRows{table: makes, columns: makes.columns}
	const row = `{"id":1,"owner_id":2,"thing_id":3,"name":"Red","description":"","state":"published","created_at":"2026-01-02T03:04:05Z","published_at":null,"taken_down_at":null}`
	values, err := rows.parse([]byte(row))
	if err != nil || len(values) != len(makes.columns) || values[rows.column("modified_at")] != nil ||
		values[rows.column("name")] != "Red" {
		t.Errorf("without modified_at: got %v and the error %v", values, err)
	}
	if _, err := rows.parse([]byte(strings.Replace(row, `"name":"Red",`, "", 1))); err == nil ||
		err.Error() != "name: is missing" {
		t.Errorf("without name: got the error %v", err)
	}
}
