package urls

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// openPurpose is the purpose of the signatures of URLs for programs.
const openPurpose = "open in a program"

// openPrefix is the prefix of the paths of URLs for programs.
const openPrefix = "/blobs/open/"

// Opening is the permission to read the content of a file at a URL that a user has passed to a
// program on their computer.
type Opening struct {
	FileID  int64
	UserID  int64 // whose download it is; 0: nobody's
	Expires time.Time
	Token   string // identifies the URL
}

// Open returns a URL of the content of a file for a program. It needs no header, has no query,
// because some programs would take that for a part of the file name, and ends in the name of the
// file. It is signed for this purpose alone.
func (a Builder) Open(fileID, userID int64, name string, expires time.Time) string {
	// A number has no dot, and neither has base64url.
	signed := strconv.FormatInt(fileID, 10) + "." + strconv.FormatInt(userID, 10) + "." +
		strconv.FormatInt(expires.UnixMicro(), 10)
	return a.Base + openPrefix + signed + "." + a.Key.Sign(openPurpose, signed) + "/" + url.PathEscape(name)
}

// Opened returns the permission of a token in a URL that Open has returned. ok is false if the
// signature is not valid, or if it has expired.
func (a Builder) Opened(token string, now time.Time) (o Opening, ok bool) {
	at := strings.LastIndexByte(token, '.')
	if at < 0 || !a.Key.Verify(token[at+1:], openPurpose, token[:at]) {
		return Opening{}, false
	}
	parts := strings.Split(token[:at], ".")
	var numbers [3]int64
	if len(parts) != len(numbers) {
		return Opening{}, false
	}
	for i, part := range parts {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return Opening{}, false
		}
		numbers[i] = n
	}
	o = Opening{FileID: numbers[0], UserID: numbers[1], Expires: time.UnixMicro(numbers[2]), Token: token}
	return o, now.Before(o.Expires)
}

// Loggable returns a path without the secret that the path of a URL for a program contains.
func Loggable(path string) string {
	rest, ok := strings.CutPrefix(path, openPrefix)
	if !ok {
		return path
	}
	_, name, _ := strings.Cut(rest, "/")
	return openPrefix + "…/" + name
}
