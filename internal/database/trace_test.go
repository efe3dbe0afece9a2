package database

import "testing"

func TestSummary(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		`SELECT "t"."id" FROM "things" AS "t" WHERE (t.name = 'secret')`:        {"SELECT", "things"},
		`INSERT INTO "comments" ("id", "body") VALUES (DEFAULT, 'from secret')`: {"INSERT", "comments"},
		`UPDATE "files" AS "f" SET "rank" = 1`:                                  {"UPDATE", "files"},
		`delete from likes`:                                                     {"DELETE", "likes"},
		`SELECT * FROM (SELECT id FROM makes AS m) AS part`:                     {"SELECT", "makes"},
		`WITH "_data" AS (SELECT id FROM previews) SELECT 1`:                    {"WITH", "previews"},
		"BEGIN": {"BEGIN", ""},
		"":      {"OTHER", ""},
		`SELECT t.id, (SELECT count(*) FROM downloads AS d) AS n, 'it''s FROM x' FROM "things" AS "t"`: {"SELECT", "things"},
		"'a' b": {"B", ""},
	} {
		if verb, table := summary(text); verb != want[0] || table != want[1] {
			t.Errorf("%s: got %q, %q, want %q", text, verb, table, want)
		}
	}
}
