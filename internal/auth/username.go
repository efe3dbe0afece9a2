package auth

import "regexp"

var username = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// IsUsername reports whether a text has the form of a username: 1 to 64 ASCII letters, digits,
// '_', '.' or '-', starting with a letter or a digit.
func IsUsername(text string) bool { return username.MatchString(text) }
