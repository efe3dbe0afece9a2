package databasetest

import (
	"hash/crc32"
	"testing"

	"github.com/meshyard/meshyard/internal/database"
)

// Engines returns the engines that a test runs on: both, or in short mode, as under the race
// detector, one of them, depending on the name of the test.
func Engines(t testing.TB) []database.Engine {
	engines := []database.Engine{database.SQLite, database.Postgres}
	if testing.Short() {
		chosen := crc32.ChecksumIEEE([]byte(t.Name())) % 2
		engines = engines[chosen : chosen+1]
	}
	return engines
}

// Tests build the text of each statement again whenever it runs.
func init() { database.CheckTexts = true }
