package models

// Admin contains the operations of the command line. They do not check the permissions of a caller,
// so code that serves requests must not use them; a test in package archtest enforces this.
type Admin struct{ store *Store }

// Admin returns the operations of the command line.
func (s *Store) Admin() Admin { return Admin{s} }
