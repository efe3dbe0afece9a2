package rest

import (
	"maps"
	"slices"

	"github.com/meshyard/meshyard/internal/image/thumbnail"
)

// tagTexts describe the groups of operations, by the first segment of their paths.
var tagTexts = map[string]string{
	"things":      "Shareable designs with their files, images, tags, likes and comments.",
	"files":       "Uploading, finalizing and downloading files.",
	"featured":    "The featured things.",
	"newest":      "The newest things.",
	"popular":     "The most popular things.",
	"search":      "Searching things, makes, users and collections.",
	"users":       "Users, and what is theirs. The name me is the caller.",
	"copies":      "Makes: reports that a user printed or built a thing. This API calls them copies.",
	"comments":    "Comments on things and makes, and replies to them.",
	"categories":  "The tree of categories.",
	"tags":        "The tags of things.",
	"collections": "Lists of things that users put together.",
	"thingops":    "Copying, moving and removing many things among collections at once.",
	"events":      "The notifications of the caller.",
	"groups":      "Groups, which this server does not have. The list is always empty.",
	"printers":    "Printers, which this server does not have. The lists are always empty.",
	"programs":    "Programs, which this server does not have. The list is always empty.",
}

// parameterTexts describe the parameters of paths, queries and bodies, by name.
var parameterTexts = map[string]string{
	"after":                "The cursor of a position in the list, as the Link to the next page has it. It takes the place of page, unless page is the number of another page.",
	"ancestors":            "The ids of the things that it is a remix of, at most 20.",
	"bio":                  "The user's description of themselves in Markdown.",
	"body":                 "The text in Markdown.",
	"category":             "The name, the slug or the id of a category.",
	"category_id":          "Things in this category or below it.",
	"collected_by":         "Things in a collection of the user with this id.",
	"collection_id":        "The id of a collection.",
	"comment_id":           "The id of a comment.",
	"copy_id":              "The id of a make, which this API calls a copy.",
	"default_license":      "The license that programs preselect for new things.",
	"description":          "The description in Markdown.",
	"details_parts":        "Sections of details such as print settings, stored as they are.",
	"endDate":              "The last day: 2026-01-31, or a date relative to now such as now-7d.",
	"featured":             "True makes it the first image.",
	"featured_thing_id":    "The id of a thing in the collection that stands for it; 0 for none.",
	"file":                 "The bytes.",
	"file_id":              "The id of a file.",
	"filename":             "The name of the file that will be uploaded with the form.",
	"files":                "Pending uploads to attach to the new thing.",
	"first_name":           "The given name.",
	"has_makes":            "1 for things with makes, 0 for things without.",
	"id":                   "The id of the event.",
	"ids":                  "The ids of things, separated by commas.",
	"image_id":             "The id of an image of the thing or the copy.",
	"instructions":         "How to print and assemble the thing, in Markdown.",
	"is_ai":                "Whether the thing was made with artificial intelligence.",
	"is_derivative":        "1 for remixes, 0 for other things.",
	"is_featured":          "1 for featured things, 0 for others. No collection is featured.",
	"is_nsfw":              "Whether the thing is not safe for work.",
	"is_remix":             "Whether the thing is a remix.",
	"is_wip":               "Whether the thing is work in progress.",
	"last_name":            "The family name.",
	"license_id":           "The SPDX identifier of the license, such as CC-BY-3.0. It has precedence over license.",
	"license":              "The code of a license. Its long name, and the code without hyphens, are accepted as well.",
	"liked_by":             "Things and collections that the user with this id likes.",
	"location":             "Where the user lives, as they write it.",
	"made_by":              "Things that the user with this id has made.",
	"name":                 "The name.",
	"page":                 "The number of the page, from 1.",
	"parent_id":            "The id of the comment to reply to; 0 for none.",
	"pending_uploads":      "The uploads to attach: the id of each, and its rank among the files.",
	"per_page":             "The number of entries on a page.",
	"posted_after":         "Published at this date or later: 2026-01-31, or relative to now such as now-7d.",
	"posted_before":        "Published before this date: 2026-01-31, or relative to now such as now-1M/d.",
	"rank":                 "The place in the list, ascending.",
	"return":               "complete nests the children of each category.",
	"size":                 "Images in this size only.",
	"slug":                 "The slug of a category.",
	"sort":                 "The order. An unknown word is relevant.",
	"source_collection_id": "The id of the collection to take the things from.",
	"startDate":            "The first day: 2026-01-31, or a date relative to now such as now-7d.",
	"tag":                  "A tag, in any spelling.",
	"tags":                 "The tags: a list, or a text that separates them by commas.",
	"target_collection_id": "The id of the collection to put the things into.",
	"target_id":            "The id of the object that target_type is the type of.",
	"target_type":          "The type of the object. copy is another word for make.",
	"term":                 "The words to search for. The id of a thing, or its URL, finds that thing first.",
	"thing_id":             "The id of a thing.",
	"timestamp":            "Count events since this time only.",
	"type":                 "The type of what is wanted.",
	"user_id":              "Things, makes and collections of the user with this id.",
	"username":             "The name of a user; me is the caller.",
}

// imageWords are the allowed values of the query parameters that responders read themselves.
var imageWords = func() map[string][]string {
	kinds, sizes := make(map[string]bool), make(map[string]bool)
	for _, size := range thumbnail.Sizes {
		kinds[size.Kind], sizes[size.Name] = true, true
	}
	return map[string][]string{"type": slices.Sorted(maps.Keys(kinds)), "size": slices.Sorted(maps.Keys(sizes)),
		"return": {"complete"}}
}()

var (
	ignoredBySearch = []string{
		"customizable", "show_customized", "is_challenge_winner", "is_fis_challenge_winnereatured", "is_edu_approved",
		"subjects", "grades", "standards",
		"users_thing_count", "users_user_types", "skill_level", "programs",
	}
	// ignored are parameters of the published interface that are accepted and have no effect, because
	// the server lacks the feature that they belong to.
	ignored = map[string][]string{
		"get_search": ignoredBySearch, "get_search_term": ignoredBySearch,
		"get_collections_collection_id_things": {"sort", "search", "image_type", "image_size"},
		"get_categories":                       {"per_page"}, // all categories are one page
		"get_printers_0_brands":                {"include_user_defined"},
		"get_printers_0_models":                {"include_user_defined", "brand"},
	}
)

// parameter describes a path or query parameter.
func parameter(name, in string, schema object) object {
	described := object{"name": name, "in": in, "required": in == "path", "schema": schema}
	if text := parameterTexts[name]; text != "" {
		described["description"] = text
	}
	return described
}

// ignoredParameter describes a parameter that has no effect.
func ignoredParameter(name string) object {
	return object{"name": name, "in": "query", "required": false, "schema": object{"type": "string"},
		"description": "Accepted and ignored."}
}
