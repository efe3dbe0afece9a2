// Package address builds the absolute addresses that answers carry and clients follow as they are.
package address

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/signing"
)

// Addresses builds addresses below one base.
type Addresses struct {
	Base string // scheme, host and path that clients see, with no slash at the end
	Key  signing.Key
}

const blobPurpose = "blob"

// Public is where anybody gets the bytes of a published file, and nothing is recorded.
func (a Addresses) Public(fileID int64) string {
	return a.Base + "/download:" + strconv.FormatInt(fileID, 10)
}

// Blob is where the bytes of a published file are.
func (a Addresses) Blob(fileID int64, name string) string {
	return a.Base + "/blobs/" + strconv.FormatInt(fileID, 10) + "/" + url.PathEscape(name)
}

// SignedBlob is where the bytes of any file are for whoever holds the address, until it expires.
func (a Addresses) SignedBlob(fileID int64, name string, expires time.Time) string {
	at := strconv.FormatInt(expires.Unix(), 10)
	q := url.Values{"expires": {at}, "signature": {a.Key.Sign(blobPurpose, strconv.FormatInt(fileID, 10), at)}}
	return a.Blob(fileID, name) + "?" + q.Encode()
}

// Signed tells whether the query of a blob's address carries a signature that holds now.
func (a Addresses) Signed(fileID int64, query url.Values, now time.Time) bool {
	at := query.Get("expires")
	expires, err := strconv.ParseInt(at, 10, 64)
	return err == nil && now.Unix() < expires && a.Key.Verify(query.Get("signature"), blobPurpose, strconv.FormatInt(fileID, 10), at)
}

// UploadForm is where upload forms are posted.
func (a Addresses) UploadForm() string { return a.Base + "/upload_file_storage" }

// Finalize is where a client of the REST face finalizes a staged upload.
func (a Addresses) Finalize(fileID int64) string {
	return a.Base + "/files/" + strconv.FormatInt(fileID, 10) + "/finalize"
}

// Picture is the picture that stands for a kind of object of which there is no picture of its own.
func (a Addresses) Picture(kind string) string {
	return a.Base + "/renders/default/" + strings.ToLower(kind) + ".png"
}
