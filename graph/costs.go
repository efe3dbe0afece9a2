package graph

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/internal/tokenize"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/bulk"
)

// declaredCost is what the directives @cost and @listSize of a field declare.
type declaredCost struct {
	weight  int      // 0: it has no @cost
	length  int      // the maximum length of the list; 0: it has no @listSize
	slicing []string // the arguments that limit the length further
}

// declaredCosts returns the declared costs of the fields of a schema, by Type.field.
func declaredCosts(schema *ast.Schema) map[string]declaredCost {
	costs := make(map[string]declaredCost)
	for _, definition := range schema.Types {
		for _, field := range definition.Fields {
			var declared declaredCost
			if d := field.Directives.ForName("cost"); d != nil {
				declared.weight = intArgument(d.ArgumentMap(nil), "weight", 0)
			}
			if d := field.Directives.ForName("listSize"); d != nil {
				arguments := d.ArgumentMap(nil)
				declared.length = intArgument(arguments, "assumedSize", 0)
				slicing, _ := arguments["slicingArguments"].([]any)
				for _, name := range slicing {
					declared.slicing = append(declared.slicing, name.(string)) // the schema is valid
				}
			}
			if declared.weight > 0 || declared.length > 0 {
				costs[definition.Name+"."+field.Name] = declared
			}
		}
	}
	return costs
}

const (
	connectionCost  = 10    // a page, without its entries
	totalCountCost  = 60    // counting a list
	searchWordCost  = 100   // each search word, in the list and in its count
	maxSearchWords  = 10    // used by a search
	filterCost      = 500   // a list with a filter
	modelFilterCost = 2_000 // filter conditions on model files, in addition
	rowsPerCost     = 70    // rows skipped before a numbered page, per unit
	markdownPerCost = 40    // bytes of rendered Markdown, per unit
	mutationCost    = 60    // a transaction on an object, which is read with its long texts
)

// fieldCost implements graphqlhttp.FieldCost. A list is charged for its maximum length. An argument
// above its maximum is charged as the maximum, because the resolver refuses it.
func fieldCost(field string, arguments map[string]any) graphqlhttp.Cost {
	declared := publicSchema().costs[field]
	cost := graphqlhttp.Cost{Own: max(declared.weight, 1), Entries: 1}
	switch field {
	case "Query.search", "Query.suggestions":
		cost.Own += searchCost(arguments)
	case "Query.nodes":
		ids, _ := arguments["nodeIds"].([]any)
		n := max(len(ids), 1)
		return graphqlhttp.Cost{Own: publicSchema().costs["Query.node"].weight * n, Entries: n}
	case "Mutation.finalizeFiles":
		// The payload has a list of as many files, which does not know the length.
		input, _ := arguments["input"].(map[string]any)
		files, _ := input["files"].([]any)
		cost.Entries = len(files)
	case "Mutation.updateThings":
		// Each thing is changed in a transaction of its own.
		input, _ := arguments["input"].(map[string]any)
		ids, _ := input["ids"].([]any)
		cost.Entries = len(ids)
		cost.Own += mutationCost * len(ids)
	case "Mutation.undoThingsUpdate":
		cost.Entries = bulk.MaxThings
		cost.Own += mutationCost * bulk.MaxThings
	case "Mutation.createStagedUploads", "Mutation.completeStagedUploads":
		// Each upload is a transaction.
		input, _ := arguments["input"].(map[string]any)
		uploads, _ := input["uploads"].([]any)
		cost.Entries = len(uploads)
		cost.Own += mutationCost * len(uploads)
	case "Query.renderMarkdown":
		text, _ := arguments["text"].(string)
		cost.Own += connectionCost + len(text)/markdownPerCost
	case "SearchConnection.totalCount":
		return graphqlhttp.Cost{Own: 3 * searchWordCost, Entries: 1, Once: true}
	case "SearchConnection.facets":
		return graphqlhttp.Cost{Own: cost.Own, Entries: min(intArgument(arguments, "first", 10), maxFirst), Once: true}
	}
	if strings.HasPrefix(field, "Mutation.") {
		cost.Own += mutationCost + inputSize(arguments)/markdownPerCost
	}
	switch {
	case strings.HasSuffix(field, "Connection.totalCount"):
		return graphqlhttp.Cost{Own: totalCountCost, Entries: 1, Once: true}
	case strings.HasSuffix(field, "Connection.pageInfo"):
		cost.Once = true
	case declared.length > 0:
		cost.Entries = listLength(arguments, declared.slicing, declared.length)
	case isConnection(field):
		cost.Own += connectionCost
		cost.Entries = listLength(arguments, connectionSlicing, maxFirst)
	}
	cost.Entries = min(max(cost.Entries, 1), models.MaxFiles)
	page := intArgument(arguments, "page", 1) // of a deprecated listing
	if after, ok := arguments["after"].(string); ok {
		page = pageNumber(&after)
	}
	if page > 1 {
		cost.Own += min(page, graphqlhttp.MaxCost) * cost.Entries / rowsPerCost
	}
	cost.Own += costOfFilter(arguments["filter"])
	return cost
}

// connectionSlicing are the arguments that limit the length of a page. Giving both is invalid.
var connectionSlicing = []string{"first", "last"}

// listLength returns the maximum length of a list: the largest of its slicing arguments that are
// given, defaultFirst if none is, and at most most.
func listLength(arguments map[string]any, slicing []string, most int) (length int) {
	if len(slicing) == 0 {
		return most
	}
	given := false
	for _, name := range slicing {
		if arguments[name] != nil {
			length, given = max(length, intArgument(arguments, name, defaultFirst)), true
		}
	}
	if !given {
		length = defaultFirst
	}
	return min(length, most)
}

// costOfFilter returns what a filter adds to the cost of a list.
func costOfFilter(filter any) int {
	if filter == nil {
		return 0
	}
	conditions, _ := filter.(map[string]any)
	for _, name := range []string{"formats", "minSize", "maxSize", "fitsBed", "minTriangles", "maxTriangles",
		"isWatertight"} {
		if conditions[name] != nil {
			return filterCost + modelFilterCost
		}
	}
	return filterCost
}

// inputSize returns the number of bytes that the input of a mutation has. Every text counts like
// Markdown: most long ones are, and all are stored. A number counts like a short text, because it
// is usually the ID of an object that the mutation reads or changes.
func inputSize(value any) (bytes int) {
	const number = markdownPerCost
	switch v := value.(type) {
	case string:
		return max(len(v), number)
	case []any:
		for _, entry := range v {
			bytes += inputSize(entry)
		}
	case map[string]any:
		for _, entry := range v {
			bytes += inputSize(entry)
		}
	case nil:
	default:
		return number
	}
	return bytes
}

// searchCost returns the cost of looking up the search words.
func searchCost(arguments map[string]any) int {
	query, _ := arguments["query"].(string)
	return searchWordCost * min(len(tokenize.Query(query)), maxSearchWords)
}

// isConnection reports whether the field "Type.name" is a connection.
func isConnection(field string) bool {
	typeName, name, _ := strings.Cut(field, ".")
	definition := publicSchema().Types[typeName]
	if definition == nil {
		return false
	}
	f := definition.Fields.ForName(name)
	return f != nil && strings.HasSuffix(f.Type.Name(), "Connection")
}

// intArgument returns an integer argument that has not been validated, or otherwise if it is not an
// integer.
func intArgument(arguments map[string]any, name string, otherwise int) int {
	switch n := arguments[name].(type) {
	case int64:
		return int(n)
	case int:
		return n
	case json.Number:
		if i, err := strconv.Atoi(n.String()); err == nil {
			return i
		}
	case string: // the Int scalar accepts strings
		if i, err := strconv.Atoi(n); err == nil {
			return i
		}
	}
	return otherwise
}
