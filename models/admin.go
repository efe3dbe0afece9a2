package models

// Admin contains the operations of the command line. They check no caller, so code that serves
// requests must not use it; a test of package archtest enforces that.
type Admin struct{ store *Store }

// Admin returns the operations of the command line.
func (s *Store) Admin() Admin { return Admin{s} }
