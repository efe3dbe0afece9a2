package breadthfirst

// SetLong changes the length from which an answer is counted first, and returns the one before.
func SetLong(length int) (before int) {
	before, long = long, length
	return before
}
