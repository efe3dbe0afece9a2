package graphqltest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// Probe is one field at one place of the schema, with the arguments that are most expensive for a
// server.
type Probe struct {
	Name  string // Type.field, and how it is queried
	Field string // Type.field
	place place
	text  string // the selection
}

// place is a way to query an object of a type: a document with a formatting verb where the
// selection of the object goes.
type place struct{ name, document string }

// Document returns an operation that selects the field the given number of times.
func (p Probe) Document(times int) string {
	var b strings.Builder
	for i := range times {
		fmt.Fprintf(&b, "a%d:%s ", i, p.text)
	}
	return fmt.Sprintf(p.place.document, b.String())
}

// places returns the places of each type: one that returns a single object, and one that returns
// the longest list of objects.
func places(username string, n int) map[string][]place {
	worst := fmt.Sprint(Base + n)
	one := func(document string) place { return place{"of one", document} }
	many := func(document string) place { return place{"of many", document} }
	thing, file := `{thing(id:"`+worst+`"){%s}}`, fmt.Sprintf(`{file(id:"%d"){%%s}}`, Base+1)
	user := `{user(username:"` + username + `"){%s}}`
	in := func(outer, inner string) string { return strings.Replace(outer, "%s", inner, 1) }
	return map[string][]place{
		"Query":   {one("{%s}")},
		"Thing":   {one(thing), many(in(user, "things(first:100){nodes{%s}}"))},
		"Make":    {one(`{make(id:"` + worst + `"){%s}}`), many(in(thing, "makes(first:100){nodes{%s}}"))},
		"Comment": {one(`{comment(id:"` + worst + `"){%s}}`), many(in(thing, "comments(first:100){nodes{%s}}"))},
		"User":    {one("{me{%s}}"), many(in(thing, "likers(first:100){nodes{%s}}"))},
		"Collection": {one(fmt.Sprintf(`{collection(id:"%d"){%%s}}`, Base+100)),
			many(in(user, "collections(first:100){nodes{%s}}"))},
		"File":             {one(file), many(in(thing, "files(first:1000){%s}"))},
		"MediaImage":       {one(in(file, "image{%s}")), many(in(thing, "images(first:1000){%s}"))},
		"Mesh":             {one(in(file, "mesh{%s}")), many(in(thing, "files(first:200){mesh{%s}}"))},
		"Processing":       {many(in(thing, "files(first:1000){processing{%s}}"))},
		"Image":            {many(in(thing, "files(first:1000){thumbnail{%s}}"))},
		"Category":         {many("{categories{%s}}")},
		"Tag":              {one(`{tag(name:"worst tag 1"){%s}}`), many(in(thing, "tags{%s}"))},
		"Notification":     {many(in(user, "notifications(first:100){nodes{%s}}"))},
		"Download":         {many(in(user, "downloads(first:100){nodes{%s}}"))},
		"AccessToken":      {many("{tokens(first:100){nodes{%s}}}")},
		"ModerationEntry":  {many("{moderationLog(first:100){nodes{%s}}}")},
		"DeprecatedCall":   {many("{deprecatedCalls(first:100){%s}}")},
		"Webhook":          {one(`{webhook(id:"` + worst + `"){%s}}`), many("{webhooks(first:100){nodes{%s}}}")},
		"WebhookDelivery":  {many(`{webhook(id:"` + worst + `"){deliveries(first:100){nodes{%s}}}}`)},
		"Printer":          {one(`{printer(id:"` + worst + `"){%s}}`), many("{printers(first:100){nodes{%s}}}")},
		"PrintJob":         {many(`{printer(id:"` + worst + `"){jobs(first:100){nodes{%s}}}}`)},
		"Application":      {many("{applications{%s}}")},
		"Popularity":       {one(in(thing, "popularity{%s}")), many(in(user, "things(first:100){nodes{popularity{%s}}}"))},
		"StatsDay":         {many(in(user, `stats(from:"2026-01-01T00:00:00Z",to:"2026-12-31T00:00:00Z",byThing:true){%s}`))},
		"Usage":            {one("{me{usage{%s}}}")},
		"SearchConnection": {one(`{search(query:"a e i o s t b c d p",first:100){%s}}`)},
		"SearchEdge":       {many(`{search(query:"a e i o s t b c d p",first:100){edges{%s}}}`)},
	}
}

// nodeID returns the nodeId of the most expensive thing of WorstRows.
func nodeID(n int) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "Thing:%d", Base+n))
}

// arguments returns the variants of arguments that make a field expensive.
func arguments(field *ast.FieldDefinition, n int) []string {
	var base []string
	variants := []string{""}
	for _, a := range field.Arguments {
		switch {
		case a.Name == "first" && field.Type.Elem != nil && (field.Name == "files" || field.Name == "images"):
			base = append(base, "first:1000")
		case a.Name == "first" && field.Name == "suggestions":
			base = append(base, "first:20")
		case a.Name == "first":
			base = append(base, "first:100")
		case a.Name == "perPage":
			base = append(base, "perPage:100")
		case a.Name == "page":
			variants = append(variants, "page:1000")
		case a.Name == "query":
			base = append(base, `query:"a e i o s t b c d p"`)
			variants = append(variants, "", "sort:NEWEST", "sort:TEXT", "type:USERS")
			if field.Name == "suggestions" {
				variants = []string{""}
			}
		case a.Name == "from":
			base = append(base, `from:"2026-01-01T00:00:00Z"`)
		case a.Name == "to":
			base = append(base, `to:"2026-12-31T00:00:00Z"`)
		case a.Name == "text":
			base = append(base, fmt.Sprintf("text:%q", strings.Repeat("*a* [b](c) ", 1000)))
		case a.Name == "id":
			base = append(base, fmt.Sprintf(`id:"%d"`, Base+n))
		case a.Name == "nodeId":
			base = append(base, fmt.Sprintf("nodeId:%q", nodeID(n)))
		case a.Name == "nodeIds":
			base = append(base, fmt.Sprintf("nodeIds:[%s]", strings.Repeat(fmt.Sprintf("%q ", nodeID(n)), 100)))
		case a.Name == "slug":
			base = append(base, `slug:"art"`)
		case a.Name == "name":
			base = append(base, `name:"worst tag 1"`)
		case a.Name == "username":
			base = append(base, `username:"worst-1"`)
		case a.Name == "filter" && field.Name == "things":
			variants = append(variants, `filter:{tags:["worst tag 1"]}`, fmt.Sprintf(`filter:{likedById:"%d"}`, Base+1),
				`filter:{hasMakes:true,isDerivative:true,licenses:[GPL]}`, `filter:{minTriangles:1,isWatertight:true}`,
				"sort:POPULAR", "sort:NAME")
		}
	}
	var all []string
	for _, v := range slices.Compact(variants) {
		with := strings.Join(slices.DeleteFunc(append(slices.Clone(base), v), func(s string) bool { return s == "" }), ",")
		if with != "" {
			with = "(" + with + ")"
		}
		all = append(all, with)
	}
	return all
}

// Probes returns probes of every field of the schema that a query reaches, for the rows of
// WorstRows with the same n. username is the owner of those rows, who must be the caller.
func Probes(schema *ast.Schema, username string, n int) []Probe {
	at := places(username, n)
	var all []Probe
	for _, definition := range schema.Types {
		for _, field := range definition.Fields {
			if strings.HasPrefix(field.Name, "__") || definition == schema.Mutation || definition == schema.Subscription {
				continue
			}
			for _, place := range at[definition.Name] {
				for _, with := range arguments(field, n) {
					for how, below := range selections(schema, field.Type) {
						p := Probe{Field: definition.Name + "." + field.Name, place: place, text: field.Name + with + below}
						if len(with) > 100 {
							with = "(…)"
						}
						p.Name = strings.Join(strings.Fields(p.Field+with+" "+place.name+" "+how), " ")
						all = append(all, p)
					}
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Probe) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// selections returns selections below a field, by name: as little as possible, and for connections
// the nodes, the count and the cursors separately.
func selections(schema *ast.Schema, t *ast.Type) map[string]string {
	switch definition := schema.Types[t.Name()]; {
	case !definition.IsCompositeType():
		return map[string]string{"": ""}
	case strings.HasSuffix(definition.Name, "Connection"):
		return map[string]string{"nodes": "{nodes{__typename}}", "count": "{totalCount}", "cursors": "{edges{cursor}}"}
	}
	return map[string]string{"": "{__typename}"}
}

// Random returns a document of up to four random probes at one place, each selected several times.
func Random(probes []Probe, r *rand.Rand) string {
	first := probes[r.IntN(len(probes))]
	var beside []Probe
	for _, p := range probes {
		if p.place == first.place {
			beside = append(beside, p)
		}
	}
	var b strings.Builder
	alias := 0
	for range 1 + r.IntN(4) {
		p := beside[r.IntN(len(beside))]
		for range 1 + r.IntN(24) {
			fmt.Fprintf(&b, "a%d:%s ", alias, p.text)
			alias++
		}
	}
	return fmt.Sprintf(first.place.document, b.String())
}
