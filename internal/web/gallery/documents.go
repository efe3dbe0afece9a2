package gallery

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
)

//go:embed documents/*.graphql
var documentFiles embed.FS

// fragmentsFile contains the fragments that the operations share.
const fragmentsFile = "fragments.graphql"

var (
	comment  = regexp.MustCompile(`(?m)^\s*#.*$`)
	space    = regexp.MustCompile(`\s+`)
	needless = regexp.MustCompile(` ?([{}():!,]) ?`)
	fragment = regexp.MustCompile(`fragment (\w+) on [^#]*?\n}\n`)
	spread   = regexp.MustCompile(`\.\.\.([A-Z]\w*)`)
)

// Documents returns the GraphQL documents that the program sends, by name in ascending order. Each
// has one operation, and the text is exactly what the program sends, so that a hardened server can
// recognize it.
var Documents = sync.OnceValue(func() []graphqlhttp.Document {
	shared := map[string]string{}
	for _, found := range fragment.FindAllStringSubmatch(read(fragmentsFile), -1) {
		shared[found[1]] = found[0]
	}
	entries, err := documentFiles.ReadDir("documents")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	var all []graphqlhttp.Document
	for _, entry := range entries {
		if entry.Name() == fragmentsFile {
			continue
		}
		text := compose(read(entry.Name()), shared)
		all = append(all, graphqlhttp.Document{Name: strings.TrimSuffix(entry.Name(), ".graphql"), Text: text})
	}
	return all
})

func read(name string) string {
	text, err := documentFiles.ReadFile("documents/" + name)
	if err != nil {
		panic(err) // the files are part of the binary
	}
	return string(text)
}

// compose returns the text of an operation with the fragments that it spreads, directly or not. It
// removes comments and the white space that GraphQL does not need, because the text is a part of
// the script. The documents have no string literals.
func compose(text string, shared map[string]string) string {
	added := map[string]bool{}
	for rest := text; ; {
		var more string
		for _, found := range spread.FindAllStringSubmatch(rest, -1) {
			name := found[1]
			if added[name] {
				continue
			}
			if shared[name] == "" {
				panic(fmt.Sprintf("the gallery's fragment %s is not defined", name))
			}
			added[name] = true
			more += shared[name]
		}
		if more == "" {
			break
		}
		text, rest = text+more, more
	}
	text = space.ReplaceAllString(comment.ReplaceAllString(text, ""), " ")
	return strings.TrimSpace(needless.ReplaceAllString(text, "$1"))
}
