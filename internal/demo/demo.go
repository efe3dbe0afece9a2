// Package demo has the content with which meshyard demo fills a new server: users, and things with
// small models. Most models are computed; the others are those of testdata/meshes.
package demo

import "github.com/meshyard/meshyard/testdata/meshes"

// User is a user of the demo.
type User struct {
	Name, FirstName, LastName, Location, Bio string
	Follows                                  []string
}

// Comment is a comment on a thing, with replies.
type Comment struct {
	By, Body string
	Replies  []Comment
}

// Make is a print of a thing. Its picture shows the model in a color.
type Make struct {
	By, Text string
	Color    [3]uint8
}

// Thing is a thing with one or more models.
type Thing struct {
	Name, By, Category, License, Text, Instructions, Source string
	Tags, LikedBy                                           []string
	Featured                                                bool
	// Shapes are the computed models by file name. If there are none, the model is File, a file of
	// testdata/meshes.
	Shapes   map[string]func() Shape
	File     string
	RemixOf  string // the name of an earlier thing
	Comments []Comment
	Makes    []Make
}

// Collection is a collection of things by their names.
type Collection struct {
	Name, By, Text string
	Things         []string
}

// Content returns the bytes of a model of testdata/meshes.
func (t Thing) Content() ([]byte, error) { return meshes.Files.ReadFile(t.File) }

// Users are the users of the demo. They have no passwords.
var Users = []User{
	{Name: "mara", FirstName: "Mara", LastName: "Lindqvist", Location: "Uppsala",
		Bio:     "Vases, bowls and other things that **turn**. I print in spiral mode whenever I can.",
		Follows: []string{"yuki", "tom"}},
	{Name: "tom", FirstName: "Tom", LastName: "Achterberg", Location: "Utrecht",
		Bio: "Practical parts for the workshop. Everything is tested on a 0.4 mm nozzle.", Follows: []string{"mara"}},
	{Name: "yuki", FirstName: "Yuki", LastName: "Tanabe", Location: "Sapporo",
		Bio: "Mathematics that you can hold in your hand.", Follows: []string{"mara", "ines"}},
	{Name: "ines", FirstName: "Inês", LastName: "Carvalho", Location: "Porto",
		Bio:     "Board games, gifts and toys. Teacher, so most of it survives a school day.",
		Follows: []string{"yuki", "tom", "mara"}},
	{Name: "sam", FirstName: "Sam", LastName: "Okafor", Location: "Lagos",
		Bio: "I collect test files for slicers and viewers.", Follows: []string{"tom"}},
}

// Collections are the collections of the demo.
var Collections = []Collection{
	{Name: "First prints", By: "ines", Text: "Small, quick and hard to get wrong: for a new printer.",
		Things: []string{"Heart pendant", "Cable clip", "Star ornament", "Wall hook", "Chess pawn"}},
	{Name: "Mathematics", By: "yuki", Text: "Knots, fractals and surfaces.",
		Things: []string{"Trefoil knot", "Menger sponge", "Sierpiński pyramid", "Spiral shell", "Landscape tile"}},
	{Name: "Desk and workshop", By: "tom", Text: "Things that I use every day.",
		Things: []string{"Hexagonal pencil cup", "Phone stand", "Cable clip", "Wall hook", "M8 screw"}},
	{Name: "For the living room", By: "mara", Text: "Vases, bowls and decoration.",
		Things: []string{"Star ornament", "Rippled bowl", "Trefoil knot", "Twisted vase"}},
	{Name: "Files for testing viewers", By: "sam", Text: "One small file in each format.",
		Things: []string{"Box of the 3MF samples", "Cube with vertex colors", "Interleaved box", "Half a donut"}},
}
