package rest

import "net/http"

// route maps one documented operation onto the stored document of the same name.
type route struct {
	method, path string
	operation    string
	answer       answer
	deprecated   *deprecation
}

const (
	get  = http.MethodGet // and HEAD, which is answered like GET unless that would change something
	head = http.MethodHead
	post = http.MethodPost
)

// routes is the whole face: every path answers with and without a slash at its end. The form upload, which streams
// and carries no token, is the one operation besides; form.go has it.
var routes = []route{
	{post, "/files/0/uploadFile", "post_files_0_upload_file", inside[IDSchema](), nil},
	{post, "/files/0/FinalizeFiles", "post_files_0_finalize_files", one[OKSchema](), toGraphQL},
	{get, "/files/{file_id}", "get_files_file_id", one[FileSchema](), nil},
	{get, "/files/{file_id}/download", "get_files_file_id_download", redirect, nil},
	{head, "/files/{file_id}/download", "head_files_file_id_download", lookedAt, nil},
	{get, "/files/{file_id}/finalize", "get_files_file_id_finalize", fileOrImage, toFinalizeFiles},
	{post, "/files/{file_id}/finalize", "post_files_file_id_finalize", fileOrImage, toFinalizeFiles},

	{post, "/things", "post_things", inside[ThingSchema](), nil},
	{get, "/things/{thing_id}", "get_things_thing_id", one[ThingSchema](), nil},
	{post, "/things/{thing_id}/publish", "post_things_thing_id_publish", inside[ThingSchema](), nil},
	{get, "/things/{thing_id}/files", "get_things_thing_id_files", listInside[FileSchema](), nil},
	{post, "/things/{thing_id}/files", "post_things_thing_id_files", inside[FormSchema](), nil},
	{post, "/things/{thing_id}/copies", "post_things_thing_id_copies", inside[FormSchema](), nil},
	{post, "/copies/{copy_id}/images", "post_copies_copy_id_images", inside[FormSchema](), nil},

	{get, "/users/{username}/downloads", "get_users_username_downloads", page[ThingSchema](), nil},
}

// Operations names the operations of all routes, in the order of the table.
func Operations() []string {
	names := make([]string, len(routes))
	for i, r := range routes {
		names[i] = r.operation
	}
	return names
}
