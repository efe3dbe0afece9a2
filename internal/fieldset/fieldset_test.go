package fieldset

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

type dated struct{ CreatedAt int }

type book struct {
	dated
	ID     int
	Title  string
	Author *book
}

var (
	title = Of[book]("Title")
	both  = Of[book]("Title", "ID")
)

func TestSet(t *testing.T) {
	t.Parallel()
	if got := Of[book]("Author").With(both).String(); got != "ID Title Author" {
		t.Errorf("got %q, want the order of the struct", got)
	}
	if got := both.Without(title); got != Of[book]("ID") {
		t.Errorf("got %v, want ID", got)
	}
	if !both.Has(title) || title.Has(both) || !title.HasAny(both) || title.HasAny(Of[book]("ID", "Author")) ||
		!title.Has(Set[book]{}) {
		t.Error("a subset is wrong")
	}
	if got := FromBits[book](both.Bits()); got != both {
		t.Errorf("got %v, want %v", got, both)
	}
	if got := Fields(reflect.TypeFor[book]()); !slices.Equal(got, []string{"CreatedAt", "ID", "Title", "Author"}) {
		t.Errorf("fields %q", got)
	}
	if Named(reflect.TypeFor[*book](), "Title") != title.Bits() {
		t.Error("a pointer has other fields than its struct")
	}
}

func TestUnknownField(t *testing.T) {
	t.Parallel()
	defer func() {
		if cause, _ := recover().(string); !strings.Contains(cause, "book has no field Pages") {
			t.Errorf("panic %q", cause)
		}
	}()
	Of[book]("Pages")
}

// TestSecondWord uses the last field that a set can hold, and one more.
func TestSecondWord(t *testing.T) {
	t.Parallel()
	var fields []reflect.StructField
	for i := range maxFields + 1 {
		fields = append(fields, reflect.StructField{Name: "F" + strings.Repeat("x", i), Type: reflect.TypeFor[int]()})
	}
	last := fields[maxFields-1].Name
	if got := Named(reflect.StructOf(fields[:maxFields]), last); got != (Bits{0, 1 << 63}) {
		t.Errorf("the last field is %x", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a set has one field more than it can hold")
		}
	}()
	Fields(reflect.StructOf(fields))
}
