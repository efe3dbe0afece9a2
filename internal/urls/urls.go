// Package urls builds the absolute URLs in responses: of files, images, pages and the REST API. All
// of them begin with the base URL of the server. URLs of content that is not public are signed and
// expire.
package urls

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/urls/signing"
)

// Builder builds URLs below a base URL.
type Builder struct {
	Base string // scheme, host and path as clients see them, without a trailing slash
	Key  signing.Key
}

// The purposes of signatures for files. A takedown ends the URLs that were issued before it,
// because URLs of files that are taken down are signed for another purpose.
const (
	blobPurpose     = "blob"
	takedownPurpose = "blob of a takedown"

	thingPurpose = "thing" // of the keys of unlisted things
)

// Public returns the download URL of a published file. Requests to it are not recorded as
// downloads.
func (a Builder) Public(fileID int64) string {
	return a.Base + "/download:" + strconv.FormatInt(fileID, 10)
}

// Blob returns the URL of the bytes of a published file.
func (a Builder) Blob(fileID int64, name string) string {
	return a.Base + "/blobs/" + strconv.FormatInt(fileID, 10) + "/" + url.PathEscape(name)
}

// Derived returns the URL of an object derived from a published file: an image, three.js JSON or
// GLB. tag identifies its content.
func (a Builder) Derived(kind string, fileID int64, tag, name string) string {
	return a.Base + "/" + kind + "/" + strconv.FormatInt(fileID, 10) + "/" + tag + "/" + name
}

// Sized returns the URL of a rendering in another size.
func Sized(rendering, size string) string {
	path, query, _ := strings.Cut(rendering, "?")
	folder, name := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '.'):]
	if query != "" {
		query = "?" + query
	}
	return folder + size + name + query
}

// Named returns the URL of the content of a file or of a rendering with a name as its last segment.
// The server ignores the name. Clients that save the content can take it from there.
func Named(address, name string) string {
	path, query, isSigned := strings.Cut(address, "?")
	if segment := "/" + url.PathEscape(name); !strings.HasSuffix(path, segment) {
		path += segment
	}
	if isSigned {
		path += "?" + query
	}
	return path
}

// Signed adds a signature to the URL of a file or of an object derived from it. Until it expires,
// anyone who has the URL can use it. takenDown is whether the thing of the file is taken down: the
// URL of a file that is not stops working when it is.
func (a Builder) Signed(address string, fileID int64, takenDown bool, expires time.Time) string {
	at, purpose := strconv.FormatInt(expires.Unix(), 10), blobPurpose
	if takenDown {
		purpose = takedownPurpose
	}
	// Neither a number nor base64url needs escaping.
	return address + "?expires=" + at + "&signature=" + a.Key.Sign(purpose, strconv.FormatInt(fileID, 10), at)
}

// SignedBlob returns a signed URL of the bytes of any file, which expires.
func (a Builder) SignedBlob(fileID int64, name string, takenDown bool, expires time.Time) string {
	return a.Signed(a.Blob(fileID, name), fileID, takenDown, expires)
}

// Verified reports whether the query contains a valid signature for the file, and whether the
// signature is valid while the thing of the file is taken down.
func (a Builder) Verified(fileID int64, query url.Values, now time.Time) (signed, takenDown bool) {
	at := query.Get("expires")
	expires, err := strconv.ParseInt(at, 10, 64)
	if err != nil || now.Unix() >= expires {
		return false, false
	}
	id, signature := strconv.FormatInt(fileID, 10), query.Get("signature")
	takenDown = a.Key.Verify(signature, takedownPurpose, id, at)
	return takenDown || a.Key.Verify(signature, blobPurpose, id, at), takenDown
}

// ThingPage returns the URL of the page of a thing.
func (a Builder) ThingPage(thingID int64) string {
	return a.Base + "/thing:" + strconv.FormatInt(thingID, 10)
}

// WithKey adds the key of an unlisted thing to a URL without a query. A request to it can see the
// thing, and everything that belongs to it. The key does not change and does not expire. It is the
// ID of the thing and its signature, so nothing is stored, and no other key follows from it.
func (a Builder) WithKey(address string, thingID int64) string {
	id := strconv.FormatInt(thingID, 10)
	return address + "?" + KeyParameter + "=" + id + "." + a.Key.Sign(thingPurpose, id)
}

// KeyParameter is the query parameter with the key of an unlisted thing. Every URL of the server
// can have it.
const KeyParameter = "key"

// ThingOf returns the ID of the thing that a key opens. ok is false if the key is not valid.
func (a Builder) ThingOf(key string) (thingID int64, ok bool) {
	id, signature, _ := strings.Cut(key, ".")
	thingID, err := strconv.ParseInt(id, 10, 64)
	if err != nil || strconv.FormatInt(thingID, 10) != id || !a.Key.Verify(signature, thingPurpose, id) {
		return 0, false
	}
	return thingID, true
}

// UploadForm returns the URL to which upload forms are posted.
func (a Builder) UploadForm() string { return a.Base + "/upload_file_storage" }

// Resumable returns the URL of an upload in the tus protocol.
func (a Builder) Resumable(fileID int64) string {
	return a.Base + "/files/0/tus/" + strconv.FormatInt(fileID, 10)
}

// Finalize returns the URL at which a REST client finalizes a staged upload.
func (a Builder) Finalize(fileID int64) string {
	return a.Base + "/files/" + strconv.FormatInt(fileID, 10) + "/finalize"
}

// Placeholder returns the URL of the placeholder image for a kind of object.
func (a Builder) Placeholder(kind string) string {
	return a.Base + "/renders/default/" + strings.ToLower(kind) + ".png"
}

// Invitation returns the URL at which the recipient of an invitation creates an account. secret is
// the secret of the invitation.
func (a Builder) Invitation(secret string) string {
	return a.Base + InvitationPath + "?" + url.Values{"token": {secret}}.Encode()
}

// InvitationPath is the path of the page for invitations.
const InvitationPath = "/login/invitation"
