package rest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/graph"
)

// object is a JSON object of the OpenAPI description.
type object map[string]any

// OpenAPI returns the OpenAPI 3.1 description of the REST API, generated from the routes, the
// stored documents and the wire structs. base is the URL of the server in it.
func OpenAPI(g *graph.Graph, base string) ([]byte, error) {
	schema := g.Schema()
	_, operations, err := loadOperations(schema)
	if err != nil {
		return nil, err
	}
	d := describer{schema: schema, components: object{}}
	paths := object{}
	for _, r := range routes {
		if r.method == head {
			continue // same as GET, without the body
		}
		at, ok := paths[r.path].(object)
		if !ok {
			at = object{}
			paths[r.path] = at
		}
		at[strings.ToLower(r.method)] = d.operation(r, operations[r.operation])
	}
	paths["/upload_file_storage"] = object{"post": d.formOperation()}
	d.schemaOf(errorType)
	return json.MarshalIndent(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Meshyard REST API", "version": "1",
			"description": "The REST API of Meshyard for existing clients. Every path works with and without a trailing slash. A JSON body is accepted with any content type. " +
				"To add a file to a thing, call POST /files/0/uploadFile and then POST /files/0/FinalizeFiles, which is marked as deprecated in favor of GraphQL and stays available. " +
				"Each operation runs a stored GraphQL document, which is in x-graphql.",
			"license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers":  []object{{"url": base}},
		"security": []object{{"bearer": []string{}}, {"access_token": []string{}}},
		"tags":     tags(),
		"paths":    paths,
		"components": object{
			"schemas":   d.components,
			"responses": errorResponses(),
			"securitySchemes": object{
				"bearer":       object{"type": "http", "scheme": "bearer"},
				"access_token": object{"type": "apiKey", "in": "query", "name": "access_token"},
			},
		},
	}, "", "  ")
}

// tags returns the groups of operations, by the first segment of their paths.
func tags() []object {
	var names []string
	for _, r := range routes {
		if name := tagOf(r.path); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	list := make([]object, len(names))
	for i, name := range names {
		list[i] = object{"name": name, "description": tagTexts[name]}
	}
	return list
}

func tagOf(path string) string { return strings.Split(path, "/")[1] }

// operation returns the description of one route.
func (d *describer) operation(r route, op *operation) object {
	description := op.description
	summary, _, _ := strings.Cut(description+" ", ". ")
	described := object{
		"operationId": r.operation, "tags": []string{tagOf(r.path)}, "summary": summary, "description": description,
		"responses": d.responses(r, op), "x-graphql": text(op.OperationDefinition), "x-scope": string(op.scope),
	}
	if r.deprecated != nil {
		described["deprecated"] = true
		described["x-successor"] = r.deprecated.successor
		described["description"] = description + "\n\n" + r.notice(op)
	}
	parameters, properties, required := []object{}, object{}, []string{}
	for _, v := range op.VariableDefinitions {
		value, in := d.inputOf(v.Type), "query"
		switch {
		case strings.Contains(r.path, "{"+v.Variable+"}"):
			in = "path"
		case r.method == post, r.method != get && op.mutates():
			if op.field.Name == "createComment" && v.Variable == "target_type" { // replies name a parent_id
				value["enum"] = []string{copyTarget, "make", "thing"}
			}
			properties[v.Variable] = withText(v.Variable, value)
			if v.Type.NonNull {
				required = append(required, v.Variable)
			}
			continue
		}
		if r.responder.schema == searchPage.schema && v.Type.Elem != nil {
			value = d.inputOf(v.Type.Elem) // a search takes one value, which becomes a list of one
		}
		if v.Variable == "per_page" && op.variables["after"] != nil { // a page number becomes a cursor
			parameters = append(parameters, parameter("page", in, pageBounds("page", nil)))
		}
		parameters = append(parameters, parameter(v.Variable, in, pageBounds(v.Variable, value)))
	}
	for _, name := range r.responder.query {
		parameters = append(parameters,
			parameter(name, "query", pageBounds(name, object{"type": "string", "enum": imageWords[name]})))
	}
	for _, name := range ignored[r.operation] {
		parameters = append(parameters, ignoredParameter(name))
	}
	if len(parameters) > 0 {
		described["parameters"] = parameters
	}
	if len(properties) > 0 {
		described["requestBody"] = requestBody(op, properties, required)
	}
	return described
}

// withText returns the schema of a body field, with its description.
func withText(name string, schema object) object {
	described := object{"description": parameterTexts[name]}
	if jsonTexts[name] {
		return object{"type": "array", "items": object{"type": "object"}, "description": parameterTexts[name]}
	}
	for key, value := range schema {
		if key != "description" {
			described[key] = value
		}
	}
	return described
}

// pageBounds returns the schemas of the paging parameters, and value for other parameters.
func pageBounds(name string, value object) object {
	switch name {
	case "page":
		return object{"type": "integer", "minimum": 0, "default": 1}
	case "per_page":
		return object{"type": "integer", "minimum": 1, "maximum": maxPerPage, "default": defaultPerPage}
	case "after":
		return object{"type": "string"}
	}
	return value
}

func requestBody(op *operation, properties object, required []string) object {
	body := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		body["required"] = required
	}
	content := object{"application/json": object{"schema": body},
		"application/x-www-form-urlencoded": object{"schema": body}}
	if takesFile(op) {
		content = object{"multipart/form-data": object{"schema": body}}
	}
	return object{"required": len(required) > 0, "content": content}
}

// responses returns the possible responses of an operation. A 400 is possible only for an operation
// with a body or other parameters that can be invalid, or for a page whose texts exceed the maximum
// size of a response.
func (d *describer) responses(r route, op *operation) object {
	success := object{"description": "Done."}
	status := http.StatusOK
	if r.responder.schema != nil {
		success["content"] = object{"application/json": object{"schema": d.schemaOf(r.responder.schema)}}
	} else {
		status = http.StatusFound
		success = object{"description": "The URL of the bytes, which needs no token.",
			"headers": object{"Location": header("string")}}
	}
	if r.responder.paged {
		success["headers"] = object{"Link": header("string"), "Total-Count": header("integer")}
	} else if r.responder.total {
		success["headers"] = object{"Total-Count": header("integer")}
	}
	statuses := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests,
		http.StatusServiceUnavailable}
	if op.mutates() {
		statuses = append(statuses, http.StatusInsufficientStorage, http.StatusUnsupportedMediaType)
	}
	if op.canReturnBadRequest(r) || r.responder.paged {
		statuses = append(statuses, http.StatusBadRequest)
	}
	all := object{strconv.Itoa(status): success}
	if r.responder.anonymous != nil {
		all["302"] = object{"description": "Without a token, if the image is public and the server permits anonymous reading: the URL of its bytes.", "headers": object{"Location": header("string")}}
	}
	if !op.mutates() && r.responder.schema != nil {
		all["304"] = object{"description": "Not modified: If-None-Match contains the current ETag."}
	}
	for _, s := range statuses {
		all[strconv.Itoa(s)] = object{"$ref": "#/components/responses/" + errorName(s)}
	}
	return all
}

// canReturnBadRequest reports whether an operation can reject its input: it has parameters other
// than IDs in the path and paging parameters, or it runs a mutation that returns BadInput for some
// IDs.
func (op *operation) canReturnBadRequest(r route) bool {
	if slices.Contains([]string{"publishThing", "likeThing", "likeMake", "toggle", "followUser", "unfollowUser",
		"deleteFile", "deleteImage", "deleteAccount", "reportSpam", "restoreComment", "finalizeFile", "addToCollection"},
		op.field.Name) {
		return true
	}
	for name, v := range op.variables {
		inPath := strings.Contains(r.path, "{"+name+"}") && name != "term" && name != "tag" && v.Type.Elem == nil &&
			v.Type.NamedType != "DateTime"
		if !inPath && !slices.Contains([]string{"per_page", "after"}, name) {
			return true
		}
	}
	return false
}

func header(kind string) object { return object{"schema": object{"type": kind}} }

func errorName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

func errorResponses() object {
	all := object{}
	for _, status := range []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests,
		http.StatusServiceUnavailable, http.StatusInsufficientStorage, http.StatusUnsupportedMediaType,
	} {
		all[errorName(status)] = object{
			"description": http.StatusText(status), "headers": object{"X-Error": header("string")},
			"content": object{"application/json": object{"schema": object{"$ref": "#/components/schemas/" + errorType.Name()}}},
		}
	}
	return all
}

// formOperation describes the upload by form, the only operation without a stored document.
func (d *describer) formOperation() object {
	return object{
		"operationId": "post_upload_file_storage", "tags": []string{"files"}, "summary": "Post the bytes of a staged upload",
		"description": "The unchanged fields of the signed form, followed by the part `file`. No token is needed, because the form is signed.",
		"security":    []object{},
		"requestBody": object{"required": true, "content": object{"multipart/form-data": object{"schema": object{
			"type": "object", "required": []string{"key", "policy", "signature", "file"},
			"properties": object{
				"key":       object{"type": "string", "description": "From the signed form: where the bytes are stored."},
				"policy":    object{"type": "string", "description": "From the signed form: what may be uploaded, and until when."},
				"signature": object{"type": "string", "description": "From the signed form: the signature of the policy."},
				"file": object{"type": "string", "contentMediaType": "application/octet-stream",
					"description": "The bytes, as the last part."},
			},
		}}}},
		"responses": object{
			"200": object{
				"description": "Stored. Location is the URL to finalize the upload.",
				"headers":     object{"Location": header("string")},
				"content":     object{"application/json": object{"schema": d.schemaOf(ok.schema)}},
			},
			"400": object{"$ref": "#/components/responses/BadRequest"},
			"403": object{"$ref": "#/components/responses/Forbidden"},
			"415": object{"$ref": "#/components/responses/UnsupportedMediaType"},
			"503": object{"$ref": "#/components/responses/ServiceUnavailable"},
			"507": object{"$ref": "#/components/responses/InsufficientStorage"},
		},
	}
}
