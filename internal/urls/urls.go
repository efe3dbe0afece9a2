// Package urls builds the absolute addresses that answers carry and clients follow as they are.
package urls

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/signing"
)

// Builder builds addresses below one base.
type Builder struct {
	Base string // scheme, host and path that clients see, with no slash at the end
	Key  signing.Key
}

const blobPurpose = "blob"

// Public is where anybody gets the bytes of a published file, and nothing is recorded.
func (a Builder) Public(fileID int64) string {
	return a.Base + "/download:" + strconv.FormatInt(fileID, 10)
}

// Blob is where the bytes of a published file are.
func (a Builder) Blob(fileID int64, name string) string {
	return a.Base + "/blobs/" + strconv.FormatInt(fileID, 10) + "/" + url.PathEscape(name)
}

// Derived is where something is that was derived of a public file: a rendering, three.js JSON or GLB. tag names its bytes.
func (a Builder) Derived(kind string, fileID int64, tag, name string) string {
	return a.Base + "/" + kind + "/" + strconv.FormatInt(fileID, 10) + "/" + tag + "/" + name
}

// Sized is where a rendering is in another size.
func Sized(rendering, size string) string {
	path, query, _ := strings.Cut(rendering, "?")
	folder, name := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '.'):]
	if query != "" {
		query = "?" + query
	}
	return folder + size + name + query
}

// Signed lets an address of a file's bytes, or of what is derived of them, work for whoever holds it, until it expires.
func (a Builder) Signed(address string, fileID int64, expires time.Time) string {
	at := strconv.FormatInt(expires.Unix(), 10)
	q := url.Values{"expires": {at}, "signature": {a.Key.Sign(blobPurpose, strconv.FormatInt(fileID, 10), at)}}
	return address + "?" + q.Encode()
}

// SignedBlob is where the bytes of any file are for whoever holds the address, until it expires.
func (a Builder) SignedBlob(fileID int64, name string, expires time.Time) string {
	return a.Signed(a.Blob(fileID, name), fileID, expires)
}

// Verified tells whether the query of a blob's address carries a signature that holds now.
func (a Builder) Verified(fileID int64, query url.Values, now time.Time) bool {
	at := query.Get("expires")
	expires, err := strconv.ParseInt(at, 10, 64)
	return err == nil && now.Unix() < expires && a.Key.Verify(query.Get("signature"), blobPurpose, strconv.FormatInt(fileID, 10), at)
}

// UploadForm is where upload forms are posted.
func (a Builder) UploadForm() string { return a.Base + "/upload_file_storage" }

// Finalize is where a client of the REST face finalizes a staged upload.
func (a Builder) Finalize(fileID int64) string {
	return a.Base + "/files/" + strconv.FormatInt(fileID, 10) + "/finalize"
}

// Picture is the picture that stands for a kind of object of which there is no picture of its own.
func (a Builder) Picture(kind string) string {
	return a.Base + "/renders/default/" + strings.ToLower(kind) + ".png"
}
