package published

import (
	"encoding/json"
	"testing"
)

func TestTables(t *testing.T) {
	fields := 0
	for _, schema := range schemas {
		fields += len(schema)
	}
	// UserSummarySchema is in the table twice, so some of the 440 rows describe the same field.
	if n := len(Operations()); n != 176 || fields < 400 {
		t.Errorf("read %d operations and %d fields, want 176 and more than 400", n, fields)
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		value, of string
		faults    int
	}{
		"a tag":                  {`{"name":"a","url":"b","count":1,"extra":null}`, "TagSchema", 0},
		"a wrong type":           {`{"name":1}`, "TagSchema", 1},
		"null":                   {`{"name":null}`, "TagSchema", 1},
		"null where it may be":   {`{"id":1,"direct_url":null}`, "FileSchema", 0},
		"a required field":       {`{"id":1}`, "ThingSchema", 1},
		"a list":                 {`[{"name":"a"},{"count":1.5}]`, "array<TagSchema>", 1},
		"no list":                {`{}`, "array<TagSchema>", 1},
		"an object":              {`{"total":1,"hits":[]}`, "{total:integer, hits:array<any>}", 0},
		"a wrong member":         {`{"total":"1"}`, "{total:integer, hits:array<any>}", 1},
		"one of two":             {`"x"`, "string|integer", 0},
		"neither of two":         {`true`, "string|integer", 1},
		"a word":                 {`"thing"`, "string(thing|make)", 0},
		"another word":           {`"user"`, "string(thing|make)", 1},
		"a time":                 {`"2026-01-31T00:00:00+00:00"`, "string:date-time", 0},
		"no time":                {`"2026-01-31"`, "string:date-time", 1},
		"a deleted thing":        {`{"thing":{}}`, "CopySchema", 0},
		"a list of alternatives": {`["a",1]`, "array<string|integer>", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var value any
			if err := json.Unmarshal([]byte(c.value), &value); err != nil {
				t.Fatal(err)
			}
			if faults := Check(value, c.of); len(faults) != c.faults {
				t.Errorf("%s as %s: faults %q, want %d", c.value, c.of, faults, c.faults)
			}
		})
	}
}

func TestTypesAreKnown(t *testing.T) {
	for _, op := range Operations() {
		for _, fault := range Check(struct{}{}, op.Response) {
			if len(fault) > 0 && fault[len(fault)-len("unknown"):] == "unknown" {
				t.Errorf("%s %s: %s", op.Method, op.Path, fault)
			}
		}
	}
}
