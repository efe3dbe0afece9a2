package server

import "time"

// OnStatement calls observe after each statement, in its goroutine, instead of counting it in the
// metrics.
func (a *Server) OnStatement(observe func(verb string, took time.Duration, err error)) {
	a.db.OnStatement(observe)
}
