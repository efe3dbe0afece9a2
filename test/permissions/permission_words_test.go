package permissions_test

// The text of docs/permissions.md. TestPermissions generates its tables.
const (
	permissionsAre = `# Permissions

This page says which callers can use each operation, and on which objects. A test generates it: see
[the end](#how-this-page-is-made).

## How to read the tables

Each column is a caller. Each row is an operation or a field, and the object that it is called with.
The object belongs to the caller in the column *owner*.

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

A cell contains the HTTP status of REST, which corresponds to the code of GraphQL:

| Status | Code of GraphQL |
|---|---|
| 200 | none |
| 400 | one such as ` + "`BAD_USER_INPUT`" + `: the request is invalid, such as liking one's own thing |
| 401 | ` + "`UNAUTHENTICATED`" + ` |
| 403 | ` + "`FORBIDDEN`" + ` |
| 404 | ` + "`NOT_FOUND`" + ` |

The objects that were returned are listed after a colon: *published*, *draft*, *unlisted* and *taken
down* ones. Those with *zoe's* belong to Zoe, a third user. If other cells of a row have such a list,
a 200 without one means null or an empty list.

## Rules for all operations

**Anonymous reading** is on by default. GraphQL queries without a token then have the results of the
column *application*, except that fields that need a user fail with ` + "`UNAUTHENTICATED`" + `. REST needs
a token, except that ` + "`GET /things/{thing_id}/images/{image_id}`" + ` redirects to a public image without one.

**Hidden existence.** It is not secret that a draft or a private collection exists: the result is
403. Pending uploads and access tokens are visible to their owner only. For others, each operation
responds as if they did not exist, with the same message and the same number of statements.

**Applications** that a user authorizes by OAuth 2 get a token of that user with the scopes ` + "`read`" + `
and ` + "`write`" + `, or one of them. It has the same permissions as the user's own token, but it cannot
create tokens, can revoke only itself, and can neither see nor change webhooks and printers.
Suspended users cannot sign in, so they cannot authorize applications.

**The archive** of an account, ` + "`GET /login/archive`" + `, needs a browser session or a token of the user
with the scope ` + "`read`" + `. The token of an application gets 403.

**The e-mail address** is where links to reset the password are sent. So only a browser session can
change it, or a token of the user that does not expire and has the scopes ` + "`read`" + ` and ` + "`write`" + `, and
` + "`admin`" + ` if the user is a moderator or an administrator. Other tokens get 403.
`
	lookingIs = `A row is about one object requested by its ID, or about one of its fields.

- Files, makes and comments of a hidden object are hidden with it.
- Unlisted things are requested without their key. With it, the cells are those of published things.
- The creator of a make can see it even if its thing was taken down. This does not apply to
  comments.`
	catalogueIs = `Each row is a list of objects of one type. ` + "`totalCount`" + ` is always the number of objects returned.

The test catalogue contains published and unlisted things, drafts and things taken down, of the
owner and of Zoe. The owner liked, made, downloaded and collected them while they were visible.`
	changingIs = `- A token with the scope ` + "`write` but not `read`" + ` sees what it changed and nothing else: a user's
  lists and e-mail address need ` + "`read`" + `.
- Recording a download needs ` + "`read`" + ` too, and suspended users can still download.
- Downloads of files of a thing that was taken down are not recorded but refused.`
	takingPartIs = `- Authors cannot change a comment if it, or the thing or make that it is on, is hidden from them.
- Moderators, administrators and the owner of that thing or make can delete the comment.
- Moderators and administrators can delete the things, files, makes and comments of others, but not
  change them.`
	moderationIs = `Moderators act on members, administrators on everyone. Both need a token with the scope ` + "`admin`" + `.
They lose these permissions when they are suspended or their role changes.

Moderators cannot decide on their own content: featuring, taking down and restoring it requires
another moderator, or an administrator. Administrators can decide on their own content.`

	addressesAre = `Files and previews are requested by URL:

| URL | Returns |
|---|---|
| ` + "`/download:`, `/blobs`" + ` | the content of a file |
| ` + "`/view`" + ` | its page with the 3D viewer |
| ` + "`/renders`, `/glb`, `/threejs`" + ` | its previews |

**Signed URLs.** Everyone who can see a file that is not public gets signed URLs of it. They are
valid for an hour to an hour and a quarter. A takedown of the thing ends those that were issued
before it. URLs of public files are *not signed*.

**The table** is about a server with anonymous reading. No token is needed there, and a token makes
no difference.

**With ` + "`--no-anonymous-read`" + `,** URLs of public files are signed as well. A request for a public file
without a valid signature then needs an access token with the scope ` + "`read`" + ` or a browser session.
Otherwise the result is 401, or 403 if the signature is not valid.`
	routesAre = `Each path has the results of the rows with these operations and fields in the tables above. HEAD of
a download reads the file and records nothing.`

	generatedIs = `
## How this page is made

A test makes each call by GraphQL and, where a path exists, by REST, on SQLite and on PostgreSQL. It
records the result, and checks that rejected calls change nothing. Another test fails if an
operation, or a field that can return hidden objects, has no row. After an intended change,
regenerate the page with ` + "`go test ./test/permissions -run 'Permissions$' -update`" + `.
`
)
