package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// collect returns the rows of a text and the error that ended the sequence.
func collect(text string, format Format) (rows []Row, err error) {
	for row, rowsErr := range Rows(strings.NewReader(text), format) {
		if rowsErr != nil {
			return rows, rowsErr
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func TestFormatOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Format{"a.csv": CSV, "b/A.CSV": CSV, "a.jsonl": JSONLines, "a.b.ndjson": JSONLines,
		"a.json": 0, "csv": 0, "": 0} {
		if got, err := FormatOf(name); got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d and %v, want %d", name, got, err, want)
		}
	}
	if _, err := collect("a", 0); err == nil {
		t.Error("no error of a format that is none")
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	full := Thing{
		ID: 7, Name: "Lamp, \"old\"", Author: "ada", License: "cc", Category: "Home", Subcategory: "Light",
		Description: "One.\nTwo.",
		Date:        time.Date(2020, 1, 2, 2, 4, 5, 0, time.UTC), Tags: []string{"Desk Lamp", "x"},
	}
	short := Thing{Name: "Дом", Author: "bob", Date: time.Date(2021, 3, 4, 0, 0, 0, 0, time.UTC), Tags: []string{"a", "b"}}
	for name, c := range map[string]struct {
		text   string
		format Format
		lines  []int
	}{
		"CSV": {
			"name,creator,license,category,subcategory,description,tags,date,id\n" +
				"\"Lamp, \"\"old\"\"\",ada,cc,Home,Light,\"One.\nTwo.\",\"Desk Lamp, desk_lamp|x,,\",2020-01-02T03:04:05+01:00,7\n" +
				"\n Дом ,bob,,,,,a|b,2021-03-04,\n", CSV, []int{2, 5},
		},
		"CSV with a mark, line ends of Windows and columns in another order": {
			"\uFEFFcreator,name,date,tags,id,description,category,subcategory,license\r\n" +
				"ada,\"Lamp, \"\"old\"\"\",2020-01-02T03:04:05+01:00,\"Desk Lamp,x\",7,\"One.\r\nTwo.\",Home,Light,cc\r\n" +
				"bob,Дом,2021-03-04,\"a,b\",,,,,", CSV, []int{2, 4},
		},
		"JSON lines": {
			"\uFEFF" + `{"name":"Lamp, \"old\"","creator":"ada","license":"cc","category":"Home","subcategory":"Light","description":"One.\nTwo.","tags":["Desk Lamp","DESK_LAMP"," x ",""],"date":"2020-01-02T03:04:05+01:00","id":7}` + "\r\n\n" +
				` {"name":" Дом ","creator":"bob","id":null,"tags":["a","b"],"date":"2021-03-04","license":null}`, JSONLines,
			[]int{1, 3},
		},
	} {
		rows, err := collect(c.text, c.format)
		if want := []Row{{1, c.lines[0], full, nil}, {2, c.lines[1], short, nil}}; err != nil ||
			!reflect.DeepEqual(rows, want) {
			t.Errorf("%s: %+v and %v, want %+v", name, rows, err, want)
		}
	}
	for _, format := range []Format{CSV, JSONLines} {
		if rows, err := collect("", format); rows != nil || err != nil {
			t.Errorf("nothing: %+v and %v", rows, err)
		}
	}
}

func TestWrongHeader(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"name,creator,color,Size":    `header (line 1): unknown columns: "color", "Size"; allowed columns are name, creator, license,`,
		"\n\nname,id":                "header (line 3): missing columns: creator",
		"name,creator,name":          "duplicate columns: name",
		"name,creator,":              `unknown columns: ""`,
		"name,\"creator":             "header (line 1): column 2: the quote is not closed",
		"na\xff,name,creator":        `unknown columns: "na\xff"`,
		strings.Repeat("a,", maxRow): "header (line 1): must be at most 1048576 bytes (got 2097152)",
	} {
		rows, err := collect(header+"\nLamp,ada\n", CSV)
		if len(header) > maxRow {
			rows, err = collect(header+"\n", CSV)
		}
		if rows != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %+v and %v, want %q", header, rows, err, want)
		}
	}
}

// TestWrongRows puts each invalid row before a valid one, which must be read.
func TestWrongRows(t *testing.T) {
	t.Parallel()
	const long = maxRow + 1
	for _, c := range []struct{ row, want string }{
		{",ada,,", "row 1 (line 2): column name: must not be empty"},
		{" , ,1999-13-01,-1",
			`row 1 (line 2): column name: must not be empty; column creator: must not be empty; column date: must be a date such as 2006-01-02 or 2006-01-02T15:04:05Z (got "1999-13-01"); column id: must be a whole number from 1 to 9223372036854775807 (got "-1")`},
		{"Lamp,ada,,0", `9223372036854775807 (got "0")`},
		{"Lamp,ada,,9223372036854775808", `9223372036854775807 (got "9223372036854775808")`},
		{"Lamp,ada", "row 1 (line 2): has 2 columns, but the header has 4"},
		{"Lamp,ada,,,,", "6 columns, but the header has 4"},
		{"Lamp\x00,a\xffda,,", "column name: must not contain NUL characters; column creator: must be valid UTF-8"},
		{"Lamp \"old\",ada,,", "row 1 (line 2): column 1: a quote in an unquoted field"},
		{"a,\"b\nc\"d\",,", "column 2: the closing quote on line 3 must be followed by a comma"},
		{strings.Repeat("a", long), "row 1 (line 2): must be at most 1048576 bytes (got 1048577)"},
		{"\"" + strings.Repeat("a\n", maxRow) + "\",ada,,", "must be at most 1048576 bytes (got 2097160)"},
		{strings.Repeat(",", maxRow-1), "1048576 columns, but the header has 4"},
	} {
		rows, err := collect("name,creator,date,id\n"+c.row+"\nLamp,ada,,5\n", CSV)
		checkWrong(t, c.row, c.want, rows, err)
	}
	for _, c := range []struct{ row, want string }{
		{`{}`, "row 1 (line 1): column name: must not be empty; column creator: must not be empty"},
		{`{"name":"Lamp","creator":"ada","size":3,"Name":"x"}`,
			`row 1 (line 1): unknown columns: "Name", "size"; allowed columns are`},
		{`{"name":3,"creator":"ada","tags":"a,b","id":"7","date":[]}`,
			"column date: must be a string; column id: must be a number; column name: must be a string; column tags: must be an array of strings"},
		{`{"name":"Lamp","creator":"ada","tags":["a",1]}`, "column tags: must be an array of strings"},
		{`{"name":"Lamp","creator":"ada","id":1.5}`,
			`column id: must be a whole number from 1 to 9223372036854775807 (got "1.5")`},
		{`{"name":"La\u0000mp","creator":"ada","tags":["a\u0000"]}`,
			"column name: must not contain NUL characters; column tags: must not contain NUL characters"},
		{`{"name":"Lamp","creator":"ada"`, "row 1 (line 1): column 31: unexpected end of JSON input"},
		{`["Lamp","ada"]`, "must be a JSON object"},
		{`null`, "must be a JSON object"},
		{`{"name":"Lamp","creator":"ada"} {}`, "column 33: invalid character '{' after top-level value"},
		{"{\"name\":\"L\xff\",\"creator\":\"ada\"}", "must be valid UTF-8"},
		{`{"name":"` + strings.Repeat("a", maxRow) + `"}`, "must be at most 1048576 bytes (got 1048587)"},
	} {
		rows, err := collect(c.row+"\n"+`{"name":"Lamp","creator":"ada","id":5}`, JSONLines)
		checkWrong(t, c.row, c.want, rows, err)
	}
	// A row of exactly the maximum length is accepted.
	name := strings.Repeat("a", maxRow-len(",ada,,"))
	if rows, err := collect("name,creator,date,id\n"+name+",ada,,\n", CSV); err != nil || len(rows) != 1 ||
		rows[0].Err != nil || rows[0].Thing.Name != name {
		t.Errorf("a row of 1 MiB: %d rows and %v", len(rows), err)
	}
	text := `{"creator":"ada","name":"` + strings.Repeat("a", maxRow-27) + `"}`
	if rows, err := collect(text+"\n", JSONLines); err != nil || len(text) != maxRow || len(rows) != 1 ||
		rows[0].Err != nil {
		t.Errorf("a line of %d bytes: %d rows and %v", len(text), len(rows), err)
	}
	if rows, err := collect(text+" \n", JSONLines); err != nil || len(rows) != 1 || rows[0].Err == nil {
		t.Errorf("a line of one byte more: %d rows and %v", len(rows), err)
	}
	// An invalid value is not reported as empty too.
	if rows, err := collect(`{"name":3,"creator":"ada"}`, JSONLines); err != nil || len(rows) != 1 || rows[0].Err == nil ||
		rows[0].Err.Error() != "row 1 (line 1): column name: must be a string" {
		t.Errorf("a number for a name: %+v and %v", rows, err)
	}
	// A quote that is not closed consumes the rest.
	rows, err := collect("name,creator\nLamp,ada\n\"Lamp,ada\nLamp,ada\n", CSV)
	if err != nil || len(rows) != 2 || rows[0].Err != nil || rows[1].Err == nil || !strings.Contains(rows[1].Err.Error(),
		"row 2 (line 3): column 1: the quote is not closed by line 5") {
		t.Errorf("%+v and %v", rows, err)
	}
}

func checkWrong(t *testing.T, row, want string, rows []Row, err error) {
	t.Helper()
	if err != nil || len(rows) != 2 {
		t.Errorf("%.60q: %d rows and %v, want 2", row, len(rows), err)
		return
	}
	if rows[0].Err == nil || !strings.Contains(rows[0].Err.Error(), want) {
		t.Errorf("%.60q: %v, want %q", row, rows[0].Err, want)
	}
	if rows[1].Err != nil || rows[1].Number != 2 || rows[1].Thing.ID != 5 || rows[1].Thing.Name != "Lamp" {
		t.Errorf("%.60q: the row behind it is %+v", row, rows[1])
	}
}

func TestRowsOfFailingReader(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken disk")
	for format, text := range map[Format]string{CSV: "name,creator\nLamp,ada\nLam",
		JSONLines: `{"name":"Lamp","creator":"ada"}` + "\n" + `{"na`} {
		var rows []Row
		var last error
		for row, err := range Rows(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), format) {
			if last = err; err == nil {
				rows = append(rows, row)
			}
		}
		if len(rows) != 1 || !errors.Is(last, broken) || !strings.Contains(last.Error(), "row 2 (line ") {
			t.Errorf("%+v and %v", rows, last)
		}
	}
}

// endless is a reader that repeats one byte.
type endless struct {
	b    byte
	left int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	e.left -= n
	for i := range p[:n] {
		p[i] = e.b
	}
	return n, nil
}

func TestRowsMemory(t *testing.T) {
	for _, c := range []struct {
		format Format
		start  string
		b      byte
	}{{CSV, "name,creator\n\"", 'a'}, {CSV, "name,creator\n", 'a'}, {CSV, "name,creator\n", ','},
		{JSONLines, `{"name":"`, 'a'}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for row, err := range Rows(io.MultiReader(strings.NewReader(c.start), &endless{c.b, 64 << 20}), c.format) {
			if err != nil || row.Err == nil {
				t.Errorf("%q: %v and %v", c.start, row.Err, err)
			}
		}
		runtime.ReadMemStats(&after)
		if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 16 {
			t.Errorf("%q and 64 MiB of %q: %d MiB of memory", c.start, c.b, taken)
		}
	}
}

func FuzzRows(f *testing.F) {
	for _, text := range []string{
		"name,creator\nLamp,ada\n", "name,creator,tags,date,id\n\"La\"\"mp\",ada,\"a,b|c\",2020-01-02,3\n\"x\ny\",z,,,\n",
		"creator,name\r\na,b\r\n\r\n\"a\"b,c\n",
		"\uFEFFname,creator\n,\n\"", `{"name":"Lamp","creator":"ada","tags":["a"],"id":1}` + "\n{}\n[]\n",
		"{\"name\":\"\xff\"}", "name,creator\n\x00,\xff\n\r",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, format := range []Format{CSV, JSONLines} {
			number, line := 0, 0
			for row, err := range Rows(bytes.NewReader(text), format) {
				if err != nil {
					break
				}
				if number++; row.Number != number || row.Line <= line {
					t.Fatalf("row %d at line %d is behind row %d at line %d", row.Number, row.Line, number-1, line)
				}
				line = row.Line
				if row.Err != nil {
					continue
				}
				th := row.Thing
				for _, s := range append([]string{th.Name, th.Author, th.License, th.Category, th.Subcategory, th.Description},
					th.Tags...) {
					if strings.ToValidUTF8(s, "") != s || strings.Contains(s, "\x00") {
						t.Fatalf("%q comes through", s)
					}
				}
				if th.Name == "" || th.Author == "" || th.ID < 0 || !slices.Equal(DistinctTags(th.Tags), th.Tags) {
					t.Fatalf("%+v comes through", th)
				}
			}
		}
		// The result equals that of encoding/csv for what it accepts.
		standard := csv.NewReader(bytes.NewReader(text))
		standard.FieldsPerRecord = -1
		want, err := standard.ReadAll()
		if err != nil {
			return
		}
		r := &csvReader{in: bufio.NewReader(bytes.NewReader(text)), line: 1}
		for _, record := range want {
			_, wrong, err := r.read()
			record = record[:min(len(record), maxFields)]
			got := make([]string, len(r.ends))
			for i := range got {
				got[i] = r.field(i)
			}
			if err != nil || wrong != "" || !slices.Equal(got, record) {
				t.Fatalf("%q: %q, %q and %v, want %q", text, got, wrong, err, record)
			}
		}
		if _, _, err := r.read(); !errors.Is(err, io.EOF) {
			t.Fatalf("%q: more than %q", text, want)
		}
	})
}
