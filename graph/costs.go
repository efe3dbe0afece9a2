package graph

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/graphqlhttp"
	"github.com/meshyard/meshyard/internal/tokenize"
	"github.com/meshyard/meshyard/models"
)

// listLengths has the maximum length of each list of objects that is not a connection: a fixed
// number, or the name of the argument that limits it. Connections are limited by first and last.
// TestListLengths has the lists that need no entry.
var listLengths = map[string]listLength{
	"Query.featured":        {argument: "perPage", most: maxFirst},
	"Query.newest":          {argument: "perPage", most: maxFirst},
	"Query.popular":         {argument: "perPage", most: maxFirst},
	"Query.deprecatedCalls": {argument: "first"},
	"Query.categories":      {fixed: 10},
	"Query.applications":    {fixed: maxFirst},
	"Query.invitations":     {fixed: maxFirst},
	"Query.sessions":        {fixed: maxFirst},
	"Category.children":     {fixed: 10},
	"Popularity.days":       {fixed: maxFirst},
	"Thing.files":           {argument: "first"},
	"Attachable.files":      {argument: "first"},
	"Make.files":            {argument: "first"},
	"Comment.files":         {argument: "first"},
	"Thing.images":          {argument: "first"},
	"Make.images":           {argument: "first"},
	"Thing.tags":            {fixed: 20},
	"Thing.collections":     {fixed: maxFirst},
	"Query.randomThings":    {argument: "first", most: maxFirst},
	"User.recommendedTags":  {fixed: 20},
	"User.stats":            {fixed: maxFirst},

	"SearchEdge.highlights":                      {fixed: 22}, // the name, the description and 20 tags
	"ReorderFilesPayload.files":                  {fixed: models.MaxFiles},
	"ReorderImagesPayload.images":                {fixed: models.MaxFiles},
	"MoveThingsPayload.fromCollections":          {fixed: maxFirst},
	"DeleteCollectionPayload.things":             {fixed: maxFirst},
	"MoveThingsPayload.things":                   {fixed: maxFirst},
	"RemoveThingsPayload.fromCollections":        {fixed: maxFirst},
	"RemoveThingsPayload.things":                 {fixed: maxFirst},
	"MarkNotificationsReadPayload.notifications": {fixed: maxFirst},
	"UpdateThingPayload.fromAncestors":           {fixed: 20},
	"DeleteThingPayload.ancestors":               {fixed: 20},
	"DeleteThingPayload.fromCollections":         {fixed: maxFirst},
	"ResolveReportPayload.closedReports":         {fixed: maxFirst},
	"DismissReportPayload.closedReports":         {fixed: maxFirst},
}

type listLength struct {
	fixed    int
	argument string
	most     int // that the argument may be; 0: models.MaxFiles
}

// ownCosts has the costs of fields that do not cost 1. They are chosen so that an operation takes
// at most 0.2 ms of CPU time and 10 KiB of memory for each unit of its cost. In total it takes at
// most 2 s and 64 MiB, so an operation of the maximum cost takes at most 0.04 ms for each unit.
// `bench -only amplification-sqlite` measures both limits.
var ownCosts = map[string]int{
	// Long texts have up to 256 KiB, and their HTML up to 320 KiB.
	"Thing.description":          50,
	"Thing.instructions":         50,
	"Make.description":           50,
	"Comment.body":               50,
	"Collection.description":     50,
	"User.bio":                   50,
	"Thing.descriptionHtml":      90,
	"Thing.instructionsHtml":     90,
	"Make.descriptionHtml":       90,
	"Collection.descriptionHtml": 90,
	"Comment.bodyHtml":           90,
	"User.bioHtml":               90,
	// Objects are read with their long texts.
	"Query.node":       60,
	"Query.thing":      60,
	"Query.make":       60,
	"Query.comment":    60,
	"Query.collection": 60,
	"Query.user":       60,
	"Query.file":       10,
	"Query.tag":        20,
	"Query.category":   20,
	"Query.me":         10,
	"Query.webhook":    10,
	// These need statements of their own.
	"Query.makes":                  40,
	"Query.comments":               40,
	"User.usage":                   30,
	"User.unreadNotificationCount": 20,
	"User.feed":                    300, // sorts everything that the followed users published
	// These read a large part of the database for each object.
	"Query.randomThings":               150,
	"Query.categories":                 30,
	"Thing.popularity":                 50,
	"Thing.collections":                30,
	"Thing.printSettings":              10,
	"Category.things":                  200,
	"Mesh.duplicates":                  300,
	"User.recommendedThings":           3_000,
	"User.recommendedTags":             500,
	"User.downloadedThings":            600,
	"User.likedThingIds":               1_000, // 10,000 IDs
	"DeleteCollectionPayload.thingIds": 100,   // 10,000 IDs, which the mutation has read
	"User.collectedThingIds":           1_000,
	"User.stats":                       1_000,
	"SearchEdge.highlights":            5,
	"SearchConnection.facets":          4_000, // up to five counts: each facet ignores its own filter
	// These make the server send a request to any receiver on the internet.
	"Mutation.pingWebhook":      1_000,
	"Mutation.redeliverWebhook": 1_000,
	// This adds a row for each call, however often the caller has downloaded the file.
	"Mutation.recordDownload": 1_000,
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
	cost := graphqlhttp.Cost{Own: max(ownCosts[field], 1), Entries: 1}
	switch field {
	case "Query.search", "Query.suggestions":
		cost.Own += searchCost(arguments)
	case "Query.nodes":
		ids, _ := arguments["nodeIds"].([]any)
		n := max(len(ids), 1)
		return graphqlhttp.Cost{Own: ownCosts["Query.node"] * n, Entries: n}
	case "Mutation.finalizeFiles":
		// The payload has a list of as many files, which does not know the length.
		input, _ := arguments["input"].(map[string]any)
		files, _ := input["files"].([]any)
		cost.Entries = len(files)
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
	length, ok := listLengths[field]
	switch {
	case strings.HasSuffix(field, "Connection.totalCount"):
		return graphqlhttp.Cost{Own: totalCountCost, Entries: 1, Once: true}
	case strings.HasSuffix(field, "Connection.pageInfo"):
		cost.Once = true
	case ok && length.argument != "":
		cost.Entries = min(intArgument(arguments, length.argument, defaultFirst), cmp.Or(length.most, models.MaxFiles))
	case ok:
		cost.Entries = length.fixed
	case isConnection(field):
		// first or last, whichever is given; giving both is invalid.
		name := "first"
		if arguments["last"] != nil {
			name = "last"
		}
		cost.Own += connectionCost
		cost.Entries = min(intArgument(arguments, name, defaultFirst), maxFirst)
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

// costOfFilter returns what a filter adds to the cost of a list.
func costOfFilter(filter any) int {
	if filter == nil {
		return 0
	}
	conditions, _ := filter.(map[string]any)
	for _, name := range []string{"formats", "minSize", "maxSize", "minTriangles", "maxTriangles", "isWatertight"} {
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
