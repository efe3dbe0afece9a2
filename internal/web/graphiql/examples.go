package graphiql

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// An Example is an operation that the page offers to new users.
type Example struct {
	// Title is the name of the example in the menu of the page.
	Title string `json:"title"`
	// Query is a GraphQL document with one named operation. Its comments explain it to the reader.
	Query string `json:"query"`
	// Variables is a JSON object, or empty. A null at file or input.file is where the page inserts
	// the chosen file.
	Variables string `json:"variables"`
}

//go:embed examples/*.graphql examples/*.json
var exampleFiles embed.FS

// Examples returns the built-in examples in the order of their file names. Those with a number in
// their title are steps that upload a model, publish it and download it; the page opens each in a
// tab. A placeholder such as "<thing id>" in the variables is replaced by the id of the last thing
// that a mutation on the page returned. The first line of a .graphql file is a comment with the
// title, and the .json file next to it, if it exists, contains the variables.
//
// It panics if an embedded file has no title, which the tests of the package rule out.
func Examples() []Example {
	names, err := fs.Glob(exampleFiles, "examples/*.graphql")
	if err != nil {
		panic(fmt.Sprintf("embedded GraphiQL examples: %v", err))
	}
	examples := make([]Example, 0, len(names))
	for _, name := range names {
		example, err := readExample(name)
		if err != nil {
			panic(fmt.Sprintf("embedded GraphiQL example %s: %v", name, err))
		}
		examples = append(examples, example)
	}
	return examples
}

func readExample(name string) (Example, error) {
	query, err := exampleFiles.ReadFile(name)
	if err != nil {
		return Example{}, err
	}
	first, _, _ := strings.Cut(string(query), "\n")
	title, ok := strings.CutPrefix(first, "# ")
	if !ok {
		return Example{}, errors.New("the first line must be a comment with the title")
	}
	variables, err := exampleFiles.ReadFile(strings.TrimSuffix(name, path.Ext(name)) + ".json")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Example{}, err
	}
	return Example{Title: title, Query: string(query), Variables: strings.TrimSuffix(string(variables), "\n")}, nil
}
