package models

import "time"

const (
	// PopularityHalfLife is the time in days in which the weight of an action halves.
	PopularityHalfLife = 14.0
	// PopularityUnit is a doubling of the popularity: the stored value is in millionths of one.
	PopularityUnit = 1e6
)

// PopularityEpoch is the time that the stored value refers to, before all actions.
var PopularityEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// PopularityAt returns the stored popularity of a thing with one action at a time.
func PopularityAt(at time.Time) int64 {
	return int64(PopularityUnit * at.Sub(PopularityEpoch).Hours() / 24 / PopularityHalfLife)
}
