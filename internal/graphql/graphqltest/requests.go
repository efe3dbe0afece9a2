// Package graphqltest provides malicious GraphQL requests that are expensive for a server without
// limits. Tests and the benchmark use them.
package graphqltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Request is a malicious request, at most slightly larger than the body limit.
type Request struct {
	Name      string
	Query     string
	Variables string // as JSON
	Raw       string // the body, if it is not a GraphQL request
}

// Body returns the request as JSON. nonce makes the document unique without changing its meaning,
// so that caches do not help.
func (r Request) Body(nonce int) []byte {
	if r.Raw != "" {
		return []byte(r.Raw)
	}
	variables := r.Variables
	if variables == "" {
		variables = "{}"
	}
	query, err := json.Marshal(r.Query + fmt.Sprintf("\n#%d", nonce))
	if err != nil {
		panic(err) // cannot happen: it is a string
	}
	return fmt.Appendf(nil, `{"query":%s,"variables":%s}`, query, variables)
}

// Requests returns all requests.
func Requests() []Request {
	all := []Request{
		{Name: "a grid of inline fragments, 200 by 20", Query: "{" +
			strings.Repeat("...{"+strings.Repeat("__typename ", 20)+"}", 200) + "}"},
		{Name: "a grid of inline fragments, 20 by 20", Query: "{" +
			strings.Repeat("...{"+strings.Repeat("__typename ", 20)+"}", 20) + "}"},
		{Name: "100,000 aliases", Query: "{" + numbered(100_000, "a%d:__typename ") + "}"},
		{Name: "101 aliases", Query: "{" + numbered(101, "a%d:__typename ") + "}"},
		{Name: "20,000 directives", Query: "{__typename " + strings.Repeat("@skip(if:false)", 20_000) + "}"},
		{Name: "40 directives in one place", Query: "{__typename " + strings.Repeat("@aa", 40) + "}"},
		{Name: "fragments that expand to 2^22 fields", Query: "{me{...F0}} " + doubling(22)},
		{Name: "fragments that expand to 2^100 fields", Query: "{me{...F0}} " + doubling(100)},
		{Name: "two fragments of one name, one of which expands to many fields", Query: "{me{...F0}} " + doubling(60) +
			" fragment F0 on User{id}"},
		{Name: "fragments in a circle", Query: "{me{...A}} fragment A on User{...B} fragment B on User{...A}"},
		{Name: "a fragment in itself", Query: "{me{...A}} fragment A on User{things{nodes{creator{...A ...A}}}}"},
		{Name: "fragments in circles of 200", Query: "{me{...F0}} " +
			numbered(200, "fragment F%d on User{...F0 ...F1 ...F199}")},
		{Name: "100,000 braces", Query: strings.Repeat("{a", 100_000)},
		{Name: "100,000 brackets", Query: "{thing(id:" + strings.Repeat("[", 100_000)},
		{Name: "100,000 objects", Query: "{thing(id:" + strings.Repeat("{a:", 100_000)},
		{Name: "5,000 unknown fields", Query: "{" + numbered(5_000, "unknown%d ") + "}"},
		{Name: "450 unknown fields", Query: "{" + numbered(450, "thinz%d ") + "}"},
		{Name: "450 unknown fields with long names", Query: "{" + numbered(450, strings.Repeat("thing", 19)+"%d ") + "}"},
		{Name: "a name of a megabyte", Query: "{" + strings.Repeat("a", 1_000_000) + "}"},
		{Name: "a name of 120 kB", Query: "{" + strings.Repeat("a", 120_000) + "}"},
		{Name: "600 unknown arguments", Query: "{thing(" + numbered(600, "idd%d:1 ") + "){id}}"},
		{Name: "600 keys of an input", Query: "mutation{createThing(input:{" + numbered(600, "naem%d:1 ") + "}){thing{id}}}"},
		{Name: "350 variables of unknown types", Query: "query(" + numbered(350, "$v%d:Thinng ") + "){__typename}"},
		{Name: "300 operations", Query: numbered(300, "query q%d{__typename}")},
		{Name: "300 unused fragments", Query: "{__typename}" + numbered(300, "fragment F%d on User{id}")},
		{Name: "two of everything, ten levels deep", Query: "{" + twice("creator{things{nodes{", "}}}", "id", 3,
			"me{things{nodes{", "}}}") + "}"},
		{Name: "values of a wrong kind", Query: "{things(sort:[" + strings.Repeat(`"x" `, 1_900) + "]){nodes{id}}}"},
		{Name: "an int of a megabyte", Query: "{thing(id:" + strings.Repeat("9", 1_000_000) + "){id}}"},
		{Name: "an int of 120 kB", Query: "{things(first:" + strings.Repeat("9", 120_000) + "){nodes{id}}}"},
		{Name: "a float of 120 kB", Query: "{things(first:0." + strings.Repeat("9", 120_000) + "e999999){nodes{id}}}"},
		{Name: "a string of a megabyte", Query: `{thing(id:"` + strings.Repeat("9", 1_000_000) + `"){id}}`},
		{Name: "a string of 120 kB", Query: `{thing(id:"` + strings.Repeat("x", 120_000) + `"){id}}`},
		{Name: "a string without end", Query: `{thing(id:"` + strings.Repeat(`\u0041`, 20_000)},
		{Name: "a block string of quotes", Query: `{thing(id:"""` + strings.Repeat(`"" `, 40_000) + `"""){id}}`},
		{Name: "a block string of lines", Query: `{thing(id:"""` + strings.Repeat("\n ", 60_000) + `"""){id}}`},
		{Name: "60,000 comments", Query: strings.Repeat("#\n", 60_000) + "{__typename}"},
		{Name: "blanks", Query: strings.Repeat(" ,\t\n", 30_000) + "{__typename}"},
		{Name: "an int of a megabyte in a variable", Query: "query($n:Int){things(first:$n){nodes{id}}}", Variables: `{"n":` +
			strings.Repeat("9", 1_000_000) + "}"},
		{Name: "a string of a megabyte in a variable", Query: "query($n:ID!){thing(id:$n){id}}", Variables: `{"n":"` +
			strings.Repeat("9", 1_000_000) + `"}`},
		{Name: "a list of 500,000 in a variable", Query: "query($n:ID!){thing(id:$n){id}}", Variables: `{"n":[` +
			strings.Repeat("0,", 500_000) + "0]}"},
		{Name: "a list of 9,000 in a variable", Query: "query($n:ID!){thing(id:$n){id}}", Variables: `{"n":[` +
			strings.Repeat("0,", 9_000) + "0]}"},
		{Name: "lists in lists in a variable", Query: "query($n:ID!){thing(id:$n){id}}", Variables: `{"n":` +
			strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}"},
		{Name: "an object of 100,000 keys", Query: "query($n:ID!){thing(id:$n){id}}", Variables: `{"n":{` +
			strings.TrimSuffix(numbered(100_000, `"%d":0,`), ",") + "}}"},
		{Name: "introspection in circles",
			Query: "{__schema{types{fields{type{fields{type{fields{type{fields{type{name}}}}}}}}}}}"},
		{Name: "introspection under 50 names", Query: "{" +
			numbered(50, "a%d:__schema{types{fields{name args{name type{name}}}}}") + "}"},
		{Name: "introspection of types of fields of types",
			Query: "{__schema{types{fields{type{fields{name args{name}}}}}}}"},
		{Name: "introspection by fragments", Query: "{__schema{types{" + numbered(40, "a%d:fields{...F}") +
			"}}} fragment F on __Field{name description type{name description} args{name description}}"},
		{Name: "one type under 90 names", Query: "{" + numbered(90, `a%d:__type(name:"Query"){fields{name args{name}}}`) +
			"}"},
		{Name: "lists in lists in lists",
			Query: "{things(first:100){nodes{creator{things(first:100){nodes{creator{things(first:100){nodes{id}}}}}}}}}"},
		{Name: "a batch of 10", Raw: "[" + strings.Repeat(`{"query":"{__typename}"},`, 9) + `{"query":"{__typename}"}]`},
		{Name: "a batch of 10,000", Raw: "[" + strings.Repeat(`{"query":"{__typename}"},`, 9_999) +
			`{"query":"{__typename}"}]`},
		{Name: "a body of brackets", Raw: strings.Repeat("[", 1_000_000)},
		{Name: "a body of escapes", Raw: `{"query":"` + strings.Repeat(`\u0041`, 170_000) + `"}`},
		{Name: "a body that is too large", Raw: `{"query":"` + strings.Repeat(" ", 1<<20) + `"}`},
		{Name: "a hash that is none", Raw: `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` +
			strings.Repeat("f", 1_000_000) + `"}}}`},
		{Name: "an operation name of a megabyte", Raw: `{"query":"{__typename}","operationName":"` +
			strings.Repeat("f", 1_000_000) + `"}`},
	}
	for _, bytes := range []int{600, 5_000, 24_000, 72_000, 130_000, 1 << 20} {
		field := "__typename "
		all = append(all, Request{Name: fmt.Sprintf("one field again and again, %d bytes", bytes), Query: "{" +
			strings.Repeat(field, bytes/len(field)) + "}"})
	}
	return all
}

// numbered formats each of the numbers below n.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// doubling returns n fragments, each of which spreads the next one twice.
func doubling(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "fragment F%d on User{...F%d ...F%d} ", i, i+1, i+1)
	}
	fmt.Fprintf(&b, "fragment F%d on User{id}", n)
	return b.String()
}

// twice nests a selection levels deep, with each selection twice in its parent.
func twice(open, end, inner string, levels int, outermost, outerEnd string) string {
	for range levels {
		inner = strings.Repeat(open+inner+end+" ", 2)
	}
	return strings.Repeat(outermost+inner+outerEnd+" ", 2)
}
