package previews_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// box is a binary STL of a box whose sides have the given length. Without its last triangle, it has
// a hole.
func box(side float32, hole bool) []byte {
	var b bytes.Buffer
	triangles := [][3]int{{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
		{0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}}
	if hole {
		triangles = triangles[:11]
	}
	b.Write(make([]byte, 80))
	_ = binary.Write(&b, binary.LittleEndian, uint32(len(triangles)))
	for _, t := range triangles {
		_ = binary.Write(&b, binary.LittleEndian, [3]float32{})
		for _, v := range t {
			_ = binary.Write(&b, binary.LittleEndian, [3]float32{float32(v&1) * side, float32(v>>1&1) * side * 2,
				float32(v>>2&1) * side * 3})
		}
		_ = binary.Write(&b, binary.LittleEndian, uint16(0))
	}
	return b.Bytes()
}

// TestProblems checks that each kind of problems is found, page by page in both directions, and
// that nobody sees those of others but administrators.
func TestProblems(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		create := func(c *servertest.Client, name, license, tags string, files map[string][]byte) string {
			var made struct {
				CreateThing struct{ Thing struct{ ID string } }
			}
			c.Query(fmt.Sprintf(
				`mutation { createThing(input: {name: %q, description: "d", licenseId: %q, category: "Art", tags: [%s]}) { thing { id } } }`, name, license, tags), nil, &made)
			id := made.CreateThing.Thing.ID
			for _, file := range slices.Sorted(func(yield func(string) bool) {
				for name := range files {
					if !yield(name) {
						return
					}
				}
			}) {
				upload := c.Upload(file, files[file])
				c.Finalize("THING", servertest.Atoi(t, id), upload).Want(t, 200)
				servertest.Settled(t, c, upload)
			}
			return id
		}
		create(ada, "Good", "MIT", `"a"`, map[string][]byte{"box.stl": box(20, false)})
		create(ada, "Bare", "LicenseRef-Unknown", "", nil)
		create(ada, "Copies", "MIT", `"a"`, map[string][]byte{"copy.stl": box(20, false), "scaled.stl": box(30, false)})
		create(ada, "Broken", "MIT", `"a"`, map[string][]byte{"a.stl": box(20, true), "huge.stl": box(900, false),
			"nonsense.stl": []byte("solid nothing")})
		create(bob, "Bob's", "MIT", "", map[string][]byte{"box.stl": box(20, false)})

		type problem struct {
			Kind, Message     string
			Thing             struct{ Name string }
			File, DuplicateOf *struct{ Name string }
		}
		list := func(c *servertest.Client, arguments string) (found []string, end, start string, total int) {
			t.Helper()
			var v struct {
				Problems struct {
					Nodes      []problem
					TotalCount int
					PageInfo   struct{ EndCursor, StartCursor string }
				}
			}
			c.Query(`{ problems(`+arguments+`) { nodes { kind message thing { name } file { name } duplicateOf { name } } totalCount pageInfo { endCursor startCursor } } }`, nil, &v)
			for _, p := range v.Problems.Nodes {
				text := p.Kind + " " + p.Thing.Name
				if p.File != nil {
					text += " " + p.File.Name
				}
				if p.DuplicateOf != nil {
					text += " = " + p.DuplicateOf.Name
				}
				if p.Message == "" {
					t.Errorf("%s has no message", text)
				}
				found = append(found, text)
			}
			return found, v.Problems.PageInfo.EndCursor, v.Problems.PageInfo.StartCursor, v.Problems.TotalCount
		}
		want := []string{
			"NO_PREVIEW Broken nonsense.stl", "NOT_WATERTIGHT Broken a.stl", "SUSPICIOUS_UNITS Broken huge.stl",
			"DUPLICATE_CONTENT Copies copy.stl = box.stl",
			"DUPLICATE_SHAPE Copies scaled.stl = box.stl", "DUPLICATE_SHAPE Broken huge.stl = box.stl", "NO_LICENSE Bare",
			"NO_TAGS Bare",
		}
		all, _, _, total := list(ada, "first: 100")
		if !slices.Equal(all, want) || total != len(want) {
			t.Errorf("got %d:\n%s\nwant\n%s", total, strings.Join(all, "\n"), strings.Join(want, "\n"))
		}
		var forward, backward []string
		for _, after := range []string{"first"} {
			cursor := ""
			for range want {
				page, end, _, _ := list(ada, fmt.Sprintf("%s: 1%s", after, cursor))
				forward, cursor = append(forward, page...), fmt.Sprintf(", after: %q", end)
			}
			cursor = ""
			for range want {
				page, _, start, _ := list(ada, "last: 1"+cursor)
				backward, cursor = append(page, backward...), fmt.Sprintf(", before: %q", start)
			}
		}
		if !slices.Equal(forward, all) || !slices.Equal(backward, all) {
			t.Errorf("by pages: got %q and %q", forward, backward)
		}
		if got, _, _, _ := list(ada, "kinds: [NO_TAGS, NO_LICENSE]"); !slices.Equal(got, want[6:]) {
			t.Errorf("by kinds: got %q", got)
		}
		if got, _, _, _ := list(bob, "first: 10"); !slices.Equal(got, []string{"NO_TAGS Bob's"}) {
			t.Errorf("bob: got %q", got)
		}
		if got := bob.GraphQL(`{ problems(ofAllUsers: true) { nodes { kind } } }`, nil).Code(); got != "FORBIDDEN" {
			t.Errorf("of all users: got %s", got)
		}
		if got, _, _, _ := list(admin, "ofAllUsers: true, kinds: [DUPLICATE_CONTENT, NO_TAGS]"); !slices.Contains(got,
			"DUPLICATE_CONTENT Bob's box.stl = box.stl") || !slices.Contains(got, "NO_TAGS Bare") {
			t.Errorf("administrator: got %q", got)
		}
		// A fix in place removes the problem.
		ada.Query(`mutation { updateThings(input: {ids: [2], addTags: ["x"], licenseId: "MIT"}) { results { error { message } } } }`, nil, new(any))
		if got, _, _, _ := list(ada, "kinds: [NO_TAGS, NO_LICENSE]"); len(got) != 0 {
			t.Errorf("after the fix: got %q", got)
		}
	}, servertest.Derives)
}
