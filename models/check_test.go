package models_test

import (
	"testing"

	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/fsck"
)

func init() {
	models.CheckStore = func(t *testing.T, s *models.Store) {
		t.Helper()
		_, err := catalogue.New(s.DB, s.Bucket, catalogue.Options{Options: s.Options}, s.Enqueue).
			Fsck.Check(t.Context(), fsck.Options{Rehash: true, ObjectsOnly: true}, func(p fsck.Problem) { t.Error(p) })
		if err != nil {
			t.Error(err)
		}
	}
}
