package server_test

// What docs/permissions.md says besides its tables.
const (
	permissionsAre = `# Who may do what

This document is written by a test, which makes each of these calls by GraphQL and, where there is a path for it, by REST, on SQLite and on PostgreSQL: they all must end as it says
here. It also sees that what is refused changes nothing. After a change that is meant, ` + "`go test ./cmd/meshyard/server -run 'Permissions$' -update`" + ` writes it anew; an operation of either
face, or a field that leads to what may be hidden, that has no row here fails the test.

**Who calls.** The columns are callers, and what a row is about belongs to the owner.

| Column | Who |
|---|---|
| anonymous | nobody: no access token |
| other | another member, whose token reads and writes |
| owner | the member to whom it belongs, whose token reads and writes |
| moderator, administrator | one of the staff, whose token has the scope ` + "`admin`" + ` as well; without it the staff are members |
| suspended | the owner, who is suspended; for what needs the scope ` + "`admin`" + `, a moderator who is |
| wrong scope | the owner, whose token lacks the scope that is needed: it only writes where that is ` + "`read`" + `, and only reads where that is ` + "`write`" + `; for ` + "`admin`" + `, an administrator without it |
| expired | the owner, whose token is over; one that is unknown or was revoked is answered alike |
| application | an application's own token, which stands for nobody and reads what is public |

**How it ends.** A cell is the status of the REST face, which is also that of the code of GraphQL: 200 it is done, or shown; 400 it makes no sense, such as liking one's own; 401
` + "`UNAUTHENTICATED`" + `; 403 ` + "`FORBIDDEN`" + `; 404 ` + "`NOT_FOUND`" + `. After a colon stands what was shown: objects are called by their state, *published*, *draft* or *taken down*,
and those of a third user, Zoe, *zoe's*. Where there is 200 and nothing behind it though other cells of the row show something, a field is null or a list is empty.

**What is nobody's business.** That a draft is there may be known: 403 says so. An upload that is not finalized is known to its owner alone, and so is an access token: for
anybody else each operation answers that it does not exist, in the words and with as many statements to the database as for one that never was. Collections are public.

**What applications get of a user** by OAuth 2 is a token of that user with the scopes ` + "`read`" + ` and ` + "`write`" + `, or one of them. It may what the user's own may, but makes no tokens and
ends none but itself. A suspended user signs in no more, and so lets no application in.
`
	lookingIs = "A row is about one object that is asked for by its id, or about a field of it. What hangs on something hidden is hidden with it: files, makes, comments. A make shows itself to whoever " +
		"made it, even where its thing was taken down; a comment does not."
	catalogueIs = "A row shows all that its owner has of a kind, or that there is: published things, drafts and things taken down, own and Zoe's, which the owner also likes, has made, downloaded while they " +
		"were shown, and put into a collection. `totalCount` is always the number of what is shown."
	changingIs = "A token that writes and does not read is shown what it has changed, and nothing further: the lists of a user, and the e-mail address, need the scope `read`. Recording a download needs that " +
		"scope, too, and is no change: those who are suspended go on downloading. Nobody downloads what hangs on a thing taken down."
	takingPartIs = "Where a comment, or what it is on, is hidden from its author, it cannot be changed before it is shown again; the staff deletes it all the same. Things, files, makes and comments of others are " +
		"deleted by the staff, and changed by nobody."
	staffIs = "Moderators decide on members, and administrators on everybody. Both need a token with the scope `admin`, and lose all of this at once when they are suspended or given another role."

	addressesAre = "The bytes of a file, the page that shows it, its pictures and what else is derived of it are fetched by addresses. They need no token, and none would help. Signed addresses are handed to " +
		"whoever may see the file, for an hour; that a thing is taken down ends them."
	routesAre = "Each path ends as the rows do that stand beside it. HEAD of a download looks at the file, and records nothing."
)
