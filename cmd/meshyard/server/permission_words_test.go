package server_test

// The text of docs/permissions.md. TestPermissions generates its tables.
const (
	permissionsAre = `# Permissions

A test writes this document. It makes each call by GraphQL and, where a path exists, by REST, on SQLite and on
PostgreSQL, and records the outcome; it also checks that refused calls change nothing. An operation, or a field that
leads to hidden data, without a row here fails the test. After an intended change, regenerate the document with
` + "`go test ./cmd/meshyard/server -run 'Permissions$' -update`" + `.

**Callers.** Each column is a caller. The object of a row belongs to the owner.

| Column | Caller |
|---|---|
| anonymous | no access token, on a server that runs with ` + "`--no-anonymous-read`" + ` |
| other | another member, with a token that reads and writes |
| owner | the member who owns the object, with a token that reads and writes |
| moderator, administrator | a user with that role and a token with the scope ` + "`admin`" + `; without that scope they have the permissions of a member |
| suspended | the owner, suspended; for operations with the scope ` + "`admin`" + `, a suspended moderator |
| wrong scope | the owner, with a token that lacks the required scope |
| expired | the owner, with an expired token; unknown and revoked tokens have the same result |
| application | an application's own token, which belongs to no user and reads public data |

**Anonymous reading** is on by default. GraphQL queries without a token then have the results of the column
*application*, except that fields that need a user fail with ` + "`UNAUTHENTICATED`" + `. REST always needs a token.

**Results.** A cell is the HTTP status of REST, which corresponds to the code of GraphQL: 200 success, 400 an invalid
request (such as liking one's own thing), 401 ` + "`UNAUTHENTICATED`" + `, 403 ` + "`FORBIDDEN`" + `, 404 ` + "`NOT_FOUND`" + `. After a colon
follows what was returned: *published*, *draft*, *unlisted* or *taken down* objects, and *zoe's*, which belong to a third user. A
200 without such a list, in a row where other cells have one, means null or an empty list.

**Hidden existence.** That a draft exists is not secret: the result is 403. Pending uploads and access tokens are
visible to their owner only. For others each operation answers as if they did not exist, with the same message and the
same number of statements. That a private collection exists is not secret either.

**Applications** that a user authorizes by OAuth 2 get a token of that user with the scopes ` + "`read`" + ` and ` + "`write`" + `, or one of
them. It has the same permissions as the user's own token, but it cannot create tokens, can revoke only itself, and can neither see
nor change webhooks.
Suspended users cannot sign in, and so cannot authorize applications.
`
	lookingIs = "A row is about one object requested by its id, or about one of its fields. Files, makes and comments of a hidden object are hidden with it. The creator of a make can see it " +
		"even if its thing was taken down; this does not apply to comments."
	catalogueIs = "A row lists objects of one type: published and unlisted things, drafts and things taken down, of the owner and of Zoe. The owner has also liked, made, downloaded and collected them while they " +
		"were visible. `totalCount` is always the number of objects returned."
	changingIs = "A token with the scope `write` but not `read` sees what it changed and nothing else: a user's lists and e-mail address need `read`. Recording a download needs `read`, too, and " +
		"suspended users can still download. Files of a thing that was taken down cannot be downloaded."
	takingPartIs = "A comment that is hidden from its author, or whose target is, cannot be changed by them; moderators and administrators can delete it, and so can the owner of the thing or the make that it is on. Moderators and administrators can delete the things, files, makes and comments of " +
		"others but not change them."
	staffIs = "Moderators act on members, administrators on everyone. Both need a token with the scope `admin`, and lose these permissions when they are suspended or their role changes."

	addressesAre = "The bytes of a file, its page, its images and other renditions are fetched by URL. They need no token, and a token makes no difference. Signed URLs are given to everyone " +
		"who can see the file and are valid for an hour; a takedown of the thing ends them."
	routesAre = "Each path has the result of the rows beside it. HEAD of a download reads the file and records nothing."
)
