package models

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
)

// Tag is a label that creators assign to their things.
type Tag struct {
	bun.BaseModel `bun:"table:tags,alias:g"`
	database.Listed

	ID         int64 `bun:",pk,autoincrement"`
	Name       string
	Slug       string  // lower case, spaces as underscores
	ThingCount int64   `reads:"Changes"`
	Changes    Changes `bun:",scanonly"`
}

// TagFields is a set of fields of a tag.
type TagFields = fieldset.Set[Tag]

var tags = database.NewTable(func(g *Tag) (int64, *database.Listed) { return g.ID, &g.Listed }, pending("tags", "g"))

// AllTagFields has all fields of a tag.
var AllTagFields = tags.All()

// AfterScanRow adds the pending count changes to the stored count.
func (g *Tag) AfterScanRow(context.Context) error {
	return g.Changes.addTo(map[string]*int64{"thing_count": &g.ThingCount})
}

type thingTag struct {
	bun.BaseModel `bun:"table:thing_tags,alias:tt"`

	ThingID  int64 `bun:",pk"`
	TagID    int64 `bun:",pk"`
	Position int
	Name     string // in the spelling of the thing's creator
}

// TagSlug returns the slug of a tag. All spellings of a tag have the same slug.
func TagSlug(name string) string {
	var slug strings.Builder
	slug.Grow(len(name))
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool {
		return r == '_' ||
			unicode.IsSpace(r)
	}) {
		if slug.Len() > 0 {
			slug.WriteByte('_')
		}
		slug.WriteString(word)
	}
	return slug.String()
}

// CleanTags trims tags, and removes blank tags and tags whose slug occurred before. It returns
// BadInput if a tag is too long or not a valid text, or if there are too many tags.
func CleanTags(tags []string) ([]string, error) {
	var clean []string
	seen := make(map[string]bool)
	for i, tag := range tags {
		tag = strings.Join(strings.Fields(tag), " ")
		if err := CheckText(fmt.Sprintf("tags[%d]", i), tag, MaxTag); err != nil {
			return nil, err
		}
		if slug := TagSlug(tag); slug != "" && !seen[slug] {
			seen[slug] = true
			clean = append(clean, tag)
		}
	}
	if len(clean) > MaxTags {
		return nil, TooMany("tags", len(clean), MaxTags)
	}
	return clean, nil
}

// newTags returns the tags that the thing is to have, or nil if they do not change. The thing is
// locked.
func (c *checkedChange) newTags(ctx context.Context, tx bun.Tx) ([]string, error) {
	if c.Tags != nil {
		return append([]string{}, c.tags...), nil
	}
	if len(c.AddTags) == 0 && len(c.RemoveTags) == 0 {
		return nil, nil
	}
	before, err := TagNames(ctx, tx, c.ID)
	if err != nil {
		return nil, err
	}
	removed := make(map[string]bool, len(c.RemoveTags))
	for _, name := range c.RemoveTags {
		removed[TagSlug(name)] = true
	}
	after := slices.DeleteFunc(slices.Clone(before), func(name string) bool { return removed[TagSlug(name)] })
	if after, err = CleanTags(append(after, c.AddTags...)); err != nil || slices.Equal(before, after) {
		return nil, err
	}
	return append([]string{}, after...), nil
}

// TagNames returns the tags of a thing in their order.
func TagNames(ctx context.Context, tx bun.Tx, thingID int64) (names []string, err error) {
	err = tx.NewSelect().Model((*thingTag)(nil)).Column("tt.name").Where("tt.thing_id = ?", thingID).Order("tt.position").
		Scan(ctx, &names)
	return names, err
}

// SetTags replaces the tags of a locked thing.
func SetTags(ctx context.Context, tx bun.Tx, t *Thing, names []string) error {
	before, err := tagIDs(ctx, tx, t.ID)
	if err != nil {
		return err
	}
	after := make([]int64, len(names))
	if len(names) > 0 {
		tags := make([]*Tag, len(names))
		for i, name := range names {
			tags[i] = &Tag{Name: name, Slug: TagSlug(name)}
		}
		// Tags are inserted in the order of their slugs, so that two transactions do not deadlock.
		inOrder := slices.SortedFunc(slices.Values(tags), func(a, b *Tag) int { return strings.Compare(a.Slug, b.Slug) })
		if _, err := tx.NewInsert().Model(&inOrder).Column("name", "slug").On("CONFLICT (slug) DO UPDATE").
			Set("slug = EXCLUDED.slug").Returning("id").Exec(ctx); err != nil {
			return err
		}
		for i, g := range tags {
			after[i] = g.ID
		}
	}
	if _, err := tx.NewDelete().Model((*thingTag)(nil)).Where("thing_id = ?", t.ID).Exec(ctx); err != nil {
		return err
	}
	if len(names) > 0 {
		rows := make([]thingTag, len(names))
		for i, name := range names {
			rows[i] = thingTag{ThingID: t.ID, TagID: after[i], Position: i, Name: name}
		}
		if _, err := tx.NewInsert().Model(&rows).Exec(ctx); err != nil {
			return err
		}
	}
	if t.State != Published {
		return nil
	}
	return AddCounts(ctx, tx, TagThings.By(-1, before...), TagThings.By(1, after...))
}

// IsUnused is the condition that no thing has a tag.
const IsUnused = "NOT EXISTS (SELECT 1 FROM thing_tags AS tt WHERE tt.tag_id = g.id)"

func tagIDs(ctx context.Context, tx bun.Tx, thingID int64) (ids []int64, err error) {
	err = tx.NewSelect().Model((*thingTag)(nil)).Column("tt.tag_id").Where("tt.thing_id = $1").
		Conn(database.Bind(tx, thingID)).Scan(ctx, &ids)
	return ids, err
}

// tagSlugKey reads the tag with the slug in argument 0.
type tagSlugKey struct{ fields TagFields }

// Text implements [database.Key].
func (k tagSlugKey) Text(b *database.Builder) (string, error) {
	return b.Text(database.AddFields(b.Select().Model((*Tag)(nil)), b, k.fields, false, 0).Where("g.slug = ?", b.Arg(0)))
}

// Tag returns the tag with a name, in any spelling, with the given fields. It returns NotFound if
// no published thing has the tag.
func (s *Store) Tag(ctx context.Context, fields TagFields, name string) (*Tag, error) {
	fields = fields.With(tagCount)
	if CheckText("name", name, MaxTag) != nil { // no tag has such a name
		return nil, Fail(NotFound, "tag %.60q does not exist", name)
	}
	var found []*Tag
	if err := database.Read(ctx, s.DB.DB, tagSlugKey{fields}, &found, TagSlug(name)); err != nil {
		return nil, err
	}
	if len(found) == 0 || found[0].ThingCount == 0 {
		return nil, Fail(NotFound, "tag %.60q does not exist", name)
	}
	return found[0], nil
}

// TagsByID returns the tags with the given IDs.
func (s *Store) TagsByID(ctx context.Context, fields TagFields, ids []int64) (map[int64]*Tag, error) {
	return tags.ByIDs(ctx, s.DB.DB, 0, fields, ids)
}

// tagCount is the number of things with a tag.
var tagCount = fieldset.Of[Tag]("ThingCount")

// CountWithTags returns the number of published things with each of the tags.
func (s *Store) CountWithTags(ctx context.Context, ids []int64) (map[int64]int64, error) {
	found, err := s.TagsByID(ctx, tagCount, ids)
	counts := make(map[int64]int64, len(found))
	for id, g := range found {
		counts[id] = g.ThingCount
	}
	return counts, err
}

// tagsOfKey reads the tags of the things in argument 0.
type tagsOfKey struct{ counts bool }

// Text implements [database.Key].
func (k tagsOfKey) Text(b *database.Builder) (string, error) {
	q := b.Select().TableExpr("thing_tags AS tt").ColumnExpr("tt.thing_id, tt.tag_id AS id, tt.name")
	if k.counts {
		q = q.ColumnExpr("g.thing_count, "+AnyPending+" AS pending", "tags")
		if b.Dialect.HasLateral() {
			// OFFSET 0 prevents a hash join, for which PostgreSQL would read the whole table of tags.
			q = q.Join("CROSS JOIN LATERAL (SELECT thing_count FROM tags WHERE id = tt.tag_id OFFSET 0) AS g")
		} else {
			q = q.Join("JOIN tags AS g ON g.id = tt.tag_id")
		}
	}
	return b.Text(q.Where("tt.thing_id ?", b.InList(0)).Order("tt.thing_id", "tt.position"))
}

// TagsOf returns the tags of things, with the names and in the order that the creators of the
// things chose.
func (s *Store) TagsOf(ctx context.Context, fields TagFields, thingIDs []int64) (map[int64][]*Tag, error) {
	if len(thingIDs) == 0 {
		return nil, nil
	}
	var rows []struct {
		ThingID    int64
		ID         int64
		Name       string
		ThingCount int64
		Pending    bool // any tag has count changes that are not folded yet
	}
	err := database.Read(ctx, s.DB.DB, tagsOfKey{fields.Has(tagCount)}, &rows, thingIDs)
	if err != nil {
		return nil, err
	}
	// A popular tag may have many count changes, and most things of a page may have that tag.
	// Therefore its changes are added up once for all things.
	var counted map[int64]*Tag
	if len(rows) > 0 && rows[0].Pending {
		ids := make([]int64, len(rows))
		for i, row := range rows {
			ids[i] = row.ID
		}
		slices.Sort(ids)
		if counted, err = s.TagsByID(ctx, tagCount, slices.Compact(ids)); err != nil {
			return nil, err
		}
	}
	made, all, tags := make([]Tag, len(rows)), make([]*Tag, len(rows)), make(map[int64][]*Tag, len(thingIDs))
	first := 0 // index of the first tag of the thing
	for i, row := range rows {
		made[i], all[i] = Tag{ID: row.ID, Name: row.Name, Slug: TagSlug(row.Name), ThingCount: row.ThingCount}, &made[i]
		if now := counted[row.ID]; now != nil {
			made[i].ThingCount = now.ThingCount
		}
		if next := i + 1; next == len(rows) || rows[next].ThingID != row.ThingID {
			tags[row.ThingID], first = all[first:next:next], next
		}
	}
	return tags, nil
}

var likeEscapes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// LikePattern escapes a text so that LIKE matches it literally, with the escape character \.
func LikePattern(text string) string { return likeEscapes.Replace(text) }
