package maintenance

import (
	"context"
	"errors"
	"fmt"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// The errors of a bucket that seems to belong to another database.
var (
	ErrNoContents = errors.New("the bucket has none of the files of the database")
	ErrUsedBucket = errors.New("the database is new, but the bucket has files")
)

// sampledContents is the number of contents that CheckBucket looks up at most.
const sampledContents = 20

// CheckBucket returns an error if the bucket seems to belong to another database, whose files would
// be garbage for this one: ErrNoContents if it has none of some contents that the database refers
// to, and ErrUsedBucket if the database has no users and the bucket has contents.
func (s *Store) CheckBucket(ctx context.Context) error {
	var sums []string
	// The rows of contents that are only in libraries have no size.
	if err := s.core.DB.Read.NewSelect().Table("contents").Column("sha256").Where("size > 0").Limit(sampledContents).
		Scan(ctx, &sums); err != nil {
		return err
	}
	for _, sum := range sums {
		if has, err := s.core.Bucket.Has(ctx, bucket.ContentKey(sum)); has || err != nil {
			return err
		}
	}
	if len(sums) > 0 {
		return fmt.Errorf("%w that were looked up, such as %s", ErrNoContents, bucket.ContentKey(sums[0]))
	}
	if used, err := s.core.DB.Read.NewSelect().Model((*models.User)(nil)).Exists(ctx); used || err != nil {
		return err
	}
	for o, err := range s.core.Bucket.Objects(ctx, bucket.ContentPrefix) {
		if err == nil {
			err = fmt.Errorf("%w, such as %s", ErrUsedBucket, o.Key)
		}
		return err
	}
	return nil
}
