package graphiql

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// An Example is an operation to start from.
type Example struct {
	// Title names the example in the page's menu.
	Title string `json:"title"`
	// Query is a GraphQL document of one named operation; comments in it explain it to the reader.
	Query string `json:"query"`
	// Variables is a JSON object, or empty. A null at file or input.file is where the page puts the
	// chosen file.
	Variables string `json:"variables"`
}

//go:embed examples/*.graphql examples/*.json
var exampleFiles embed.FS

// Examples returns the built-in examples in the order of their file names: together they upload a
// model, publish it and download it. The first line of a .graphql file is a comment with the title,
// and the .json file beside it, if there is one, holds the variables.
//
// It panics when an embedded file lacks its title, which the package's tests rule out.
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
		return Example{}, errors.New("the first line is no comment with a title")
	}
	variables, err := exampleFiles.ReadFile(strings.TrimSuffix(name, path.Ext(name)) + ".json")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Example{}, err
	}
	return Example{Title: title, Query: string(query), Variables: strings.TrimSuffix(string(variables), "\n")}, nil
}
