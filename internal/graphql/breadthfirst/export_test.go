package breadthfirst

// SetLong sets the length from which a response is counted before it is written, and returns the
// previous one.
func SetLong(length int) (before int) {
	before, long = long, length
	return before
}
