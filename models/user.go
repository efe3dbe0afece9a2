package models

import (
	"cmp"
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
)

// User is a user with an account.
type User struct {
	bun.BaseModel `bun:"table:users,alias:u"`
	database.Listed

	ID             int64 `bun:",pk,autoincrement"`
	Username       string
	FirstName      string
	LastName       string
	Email          string
	Bio            string // Markdown
	Location       string
	DefaultLicense License
	HidesNSFW      bool `bun:"hides_nsfw"` // in lists of things
	HidesAI        bool `bun:"hides_ai"`   // in lists of things
	IsAdmin        bool
	IsModerator    bool
	CreatedAt      time.Time
	LastActiveAt   *time.Time // the hour of the last authenticated request; nil: never

	DeletedAt *time.Time // see account.go; nil: not deleted
	AvatarID  int64      // the image file; 0: none
	CoverID   int64      // the image file; 0: none

	SuspendedAt      *time.Time // nil: not suspended
	SuspensionReason string

	ThingCount      int64   `reads:"Changes"`
	MakeCount       int64   `reads:"Changes"`
	LikeCount       int64   `reads:"Changes"`
	CollectionCount int64   `reads:"Changes"`
	FollowerCount   int64   `reads:"Changes"`
	FollowingCount  int64   `reads:"Changes"`
	HeldBytes       int64   `reads:"Changes"` // of files, as quotas count them
	Changes         Changes `bun:",scanonly"`

	Avatar   *File  `bun:",scanonly"`               // with its preview; nil: none
	Followed bool   `bun:",scanonly"`               // by the caller
	ShownBio string `bun:",scanonly" reads:"Stale"` // see Store.HTML
	Stale    bool   `bun:",scanonly"`
}

// UserFields is a set of fields of a user.
type UserFields = fieldset.Set[User]

var (
	// avatarFields and avatarPreviewFields are the fields of an avatar that are read with its user.
	avatarFields        = fieldset.Of[File]("ID", "Name", "Kind", "State", "ThingID", "PreviewID", "CreatedAt")
	avatarPreviewFields = fieldset.Of[Preview]("ID", "SHA256", "Subject", "Version", "State", "ImageFormat", "Width",
		"Height")
)

var users = database.NewTable(func(u *User) (int64, *database.Listed) { return u.ID, &u.Listed },
	database.Computed{Fields: []string{"Avatar"}, Add: func(q *bun.SelectQuery, r database.Row) *bun.SelectQuery {
		q = q.Join("LEFT JOIN files AS av ON av.id = u.avatar_id").Join("LEFT JOIN previews AS avp ON avp.id = av.preview_id")
		q = database.AddColumns(q, r.Builder, avatarFields, "av", "avatar__")
		return database.AddColumns(q, r.Builder, avatarPreviewFields, "avp", "avatar__preview__")
	}},
	database.Computed{Fields: []string{"Followed"}, OfCaller: true,
		Add: func(q *bun.SelectQuery, r database.Row) *bun.SelectQuery {
			return q.ColumnExpr(
				"(SELECT true FROM follows AS fw WHERE fw.followed_id = u.id AND fw.follower_id = ?) IS NOT NULL AS followed",
				r.Caller)
		}},
	pending("users", "u"), shown("ShownBio", "bio", "u"), stale("u"),
)

// AllUserFields has all fields of a user.
var AllUserFields = users.All()

// UserAccess has the fields that decide what a user may do.
var UserAccess = fieldset.Of[User]("Username", "IsAdmin", "IsModerator", "DeletedAt", "SuspendedAt")

// Role returns the role of the user.
func (u *User) Role() auth.Role { return RoleOf(u.IsAdmin, u.IsModerator) }

func RoleOf(admin, moderator bool) auth.Role {
	switch {
	case admin:
		return auth.Administrator
	case moderator:
		return auth.Moderator
	}
	return auth.Member
}

// AfterScanRow adds the pending count changes to the stored counts, and reduces LastActiveAt to the
// hour, because everyone can read it: the exact times would reveal when a user signs in. It returns
// TooLarge if the operation has read more bytes of texts than allowed.
func (u *User) AfterScanRow(ctx context.Context) error {
	if err := readText(ctx, len(u.Bio)+len(u.ShownBio)); err != nil {
		return err
	}
	if u.LastActiveAt != nil {
		u.LastActiveAt = new(u.LastActiveAt.Truncate(time.Hour))
	}
	return u.Changes.addTo(map[string]*int64{
		"thing_count": &u.ThingCount, "make_count": &u.MakeCount, "like_count": &u.LikeCount,
		"collection_count": &u.CollectionCount,
		"follower_count":   &u.FollowerCount, "following_count": &u.FollowingCount, "held_bytes": &u.HeldBytes,
	})
}

// ForbiddenUsername matches names that users cannot choose: "me" is the caller in URLs, digits
// would be read as an ID, and deleted users are named deleted-ID.
var ForbiddenUsername = regexp.MustCompile(`^(?i:me|[0-9]+|deleted-[0-9]+)$`)

// CreateUser creates a user. Names are unique, ignoring case. It returns BadInput if the name is
// not allowed, and Conflict if it is taken. It opens a transaction.
func (a Admin) CreateUser(ctx context.Context, name string, admin bool) (*User, error) {
	s := a.store
	if err := s.CheckUsername(name); err != nil {
		return nil, err
	}
	u := &User{Username: name, DefaultLicense: CC, IsAdmin: admin, CreatedAt: Now()}
	err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.InsertUser(ctx, tx, u); err != nil || !admin {
			return err
		}
		return s.Record(ctx, tx, auth.Caller{}, ModerationEntry{Action: SetUserRole, UserID: u.ID, Role: auth.Administrator,
			Reason: ByOperator})
	})
	if database.IsUnique(err) {
		return nil, UsernameIsTaken(name)
	}
	if err != nil {
		return nil, err
	}
	return u, nil
}

// FoldUsername returns the text by which usernames are compared: the column sort_name of a user
// with that name. It does not depend on the locale of the database. As usernames have ASCII letters
// only, other letters are not converted: a name with them is that of no user.
func FoldUsername(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, name)
}

// CheckUsername returns BadInput if new users cannot have a name.
func (s *Store) CheckUsername(name string) error {
	if s.IsReserved(name) {
		return Invalid("username", "username %q: is reserved for a path of the server", name)
	}
	return CheckUsername(name)
}

// CheckUsername returns BadInput if a name does not have the form of a username.
func CheckUsername(name string) error {
	if !auth.IsUsername(name) || ForbiddenUsername.MatchString(name) {
		return Invalid("username",
			"username %.60q: must be 1 to 64 letters, digits, '_', '.' or '-', beginning with a letter or digit, not digits alone and not \"me\"", name)
	}
	return nil
}

func UsernameIsTaken(name string) error {
	e := Fail(Conflict, "username %q is taken", name)
	e.Field = "username"
	return e
}

// IsReserved reports whether a name is reserved, so that new users cannot have it.
func (s *Store) IsReserved(name string) bool {
	return s.Options.Reserved != nil && s.Options.Reserved(name)
}

func (s *Store) InsertUser(ctx context.Context, tx bun.Tx, u *User) error {
	// The biography is empty, and so is its HTML.
	if _, err := new(RenderedHTML).Insert(tx.NewInsert().Model(u)).Exec(ctx); err != nil {
		return err
	}
	return s.DB.Index(ctx, tx, UserIndex, u.ID)
}

// UserIDIn returns the ID that stands in the place of a username. A username has at least one
// character that is no digit.
func UserIDIn(name string) (id int64, ok bool) {
	id, err := strconv.ParseInt(name, 10, 64)
	return id, err == nil && id > 0 && strconv.FormatInt(id, 10) == name
}

// UsersNamed returns the names of the users whose names, ignoring case, are among the given
// lower-case names.
func (s *Store) UsersNamed(ctx context.Context, names []string) (taken []string, err error) {
	err = s.DB.Read.NewSelect().Model((*User)(nil)).Column("u.username").Where("u.sort_name IN (?)", bun.List(names)).
		Scan(ctx, &taken)
	return taken, err
}

// userNameKey reads the user with the name in argument 0; argument 1 is the caller.
type userNameKey struct {
	fields   UserFields
	signedIn bool
}

// Text implements [database.Key].
func (k userNameKey) Text(b *database.Builder) (string, error) {
	q := database.AddFields(b.Select().Model((*User)(nil)), b, k.fields, k.signedIn, 1)
	return b.Text(q.Where("u.sort_name = ? AND u.deleted_at IS NULL", b.Arg(0)))
}

// User returns the user with a name, ignoring case, with the given fields; "me" is the caller, and
// digits alone are an ID. It returns NotFound if there is no such user.
func (s *Store) User(ctx context.Context, caller auth.Caller, fields UserFields, name string) (*User, error) {
	if name == "me" {
		if err := RequireUser(caller); err != nil {
			return nil, err
		}
		if u, err := s.UserByID(ctx, caller, fields, caller.UserID); CodeOf(err) != NotFound {
			return u, err
		}
		return nil, Fail(NotFound, "user %.60q does not exist", name)
	}
	if id, ok := UserIDIn(name); ok {
		return s.UserByID(ctx, caller, fields, id)
	}
	if !auth.IsUsername(name) {
		return nil, Fail(NotFound, "user %.60q does not exist", name)
	}
	var found []*User
	if err := database.Read(ctx, s.DB.DB, userNameKey{fields, caller.UserID != 0}, &found, FoldUsername(name),
		caller.UserID); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, Fail(NotFound, "user %.60q does not exist", name)
	}
	return found[0], nil
}

// IsDeleted reports whether the account was deleted.
func (u *User) IsDeleted() bool { return u.DeletedAt != nil }

// UserByID returns the user with an ID, whatever the name is now. It returns NotFound if there is
// no such user, or if the user is deleted.
func (s *Store) UserByID(ctx context.Context, caller auth.Caller, fields UserFields, id int64) (*User, error) {
	found, err := s.UsersByID(ctx, caller, fields.With(UserAccess), []int64{id})
	if u := found[id]; err != nil || u != nil && !u.IsDeleted() {
		return u, err
	}
	return nil, NoSuch("user", id)
}

// UsersByID returns the users with the given IDs. Users that do not exist are missing in the map.
func (s *Store) UsersByID(ctx context.Context, caller auth.Caller, fields UserFields,
	ids []int64) (map[int64]*User, error) {
	return users.ByIDs(ctx, s.DB.DB, caller.UserID, fields, ids)
}

// LockAccount reads a user who is not deleted, and locks the row until tx ends. It returns NotFound
// if there is no such user.
func (s *Store) LockAccount(ctx context.Context, tx bun.Tx, id int64) (*User, error) {
	u := new(User)
	err := s.DB.ForUpdate(tx.NewSelect().Model(u).Where("u.id = ? AND u.deleted_at IS NULL", id)).Scan(ctx)
	return u, NoSuchIfNoRows(err, "user", id)
}

// LockActive is like lockAccount, and returns Forbidden if the user is suspended. Whatever issues
// or renews a credential calls it in the transaction that stores the credential. A suspension locks
// the same row and then ends the credentials, so none that is stored at the same time remains.
func (s *Store) LockActive(ctx context.Context, tx bun.Tx, id int64) (*User, error) {
	u, err := s.LockAccount(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	return u, u.CheckActive()
}

// CheckActive returns Forbidden if the user is suspended.
func (u *User) CheckActive() error {
	if u.SuspendedAt == nil {
		return nil
	}
	return Fail(Forbidden, "this account is suspended: %s", cmp.Or(u.SuspensionReason, "no reason was given"))
}

// administratorsLock is the key of the advisory lock that is held while an administrator
// is removed. Without it, the last two administrators could remove each other at the same time,
// because each removal would still find the other administrator.
const administratorsLock = 0x61646d6e

// CheckNotLastAdministrator returns BadInput if u is the only administrator who is not suspended.
func (s *Store) CheckNotLastAdministrator(ctx context.Context, tx bun.Tx, u *User) error {
	if !u.IsAdmin {
		return nil
	}
	if err := s.DB.AdvisoryLock(ctx, tx, administratorsLock); err != nil {
		return err
	}
	others, err := tx.NewSelect().Model((*User)(nil)).Where("u.is_admin AND u.id <> ? AND u.suspended_at IS NULL", u.ID).
		Exists(ctx)
	if err != nil || others {
		return err
	}
	return Invalid("username", "username: %s is the last administrator", u.Username)
}

// Unsuspend ends the suspension of the user, and reports whether there was one.
func (u *User) Unsuspend() bool {
	if u.SuspendedAt == nil {
		return false
	}
	u.SuspendedAt, u.SuspensionReason = nil, ""
	return true
}

// SetRole sets the role of the user, and reports whether it was another one.
func (u *User) SetRole(role auth.Role) bool {
	if u.Role() == role {
		return false
	}
	u.IsAdmin, u.IsModerator = role == auth.Administrator, role == auth.Moderator
	return true
}
