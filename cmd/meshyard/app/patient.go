package app

import (
	"io"
	"net/http"
	"time"
)

// patience is how long a client may send nothing in the middle of a body.
const patience = time.Minute

// patient ends bodies that stall: each read has a deadline of its own, so an upload may take as long as it makes progress.
func patient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = stalling{r.Body, http.NewResponseController(w)}
		}
		next.ServeHTTP(w, r)
	})
}

type stalling struct {
	io.ReadCloser
	connection *http.ResponseController
}

func (s stalling) Read(p []byte) (int, error) {
	// Where the connection knows no deadlines there is nothing to be done; the server's own always does.
	_ = s.connection.SetReadDeadline(time.Now().Add(patience))
	return s.ReadCloser.Read(p)
}
