package wire

import (
	"cmp"
	"strings"

	"github.com/meshyard/meshyard/internal/urls"
)

// UserSummary is a user within another record.
type UserSummary struct {
	ID               ID     `json:"id"`
	Name             string `json:"name"`
	FirstName        string `json:"first_name"`
	LastName         string `json:"last_name"`
	FullName         string `json:"full_name"`
	URL              string `json:"url"`
	PublicURL        string `json:"public_url"`
	Thumbnail        string `json:"thumbnail"`
	CountOfFollowers int    `json:"count_of_followers"`
	CountOfFollowing int    `json:"count_of_following"`
	CountOfDesigns   int    `json:"count_of_designs"`
	CollectionCount  int    `json:"collection_count"`
	MakeCount        int    `json:"make_count"`
	AcceptsTips      bool   `json:"accepts_tips"`
	IsFollowing      bool   `json:"is_following"`
	Location         string `json:"location"`
	Cover            string `json:"cover"`
	IsAdmin          bool   `json:"is_admin"`
	IsModerator      bool   `json:"is_moderator"`
	IsFeatured       bool   `json:"is_featured"`
	IsVerified       bool   `json:"is_verified"`

	// Input only: cleared by Complete.
	Role         string `json:"role,omitempty"`
	Avatar       string `json:"avatar,omitempty"`
	CoverPicture string `json:"cover_picture,omitempty"`
}

// Complete implements [Completer].
func (u *UserSummary) Complete(a urls.Builder) {
	u.URL = a.Base + "/users/" + u.Name
	u.PublicURL = a.Base + "/" + u.Name
	u.FullName = fullName(u.FirstName, u.LastName, u.Name)
	u.Thumbnail, u.Cover = orPlaceholder(a, u.Avatar), orPlaceholder(a, u.CoverPicture)
	u.IsAdmin, u.IsModerator = u.Role == "ADMINISTRATOR", u.Role == "MODERATOR"
	u.Role, u.Avatar, u.CoverPicture = "", "", ""
}

// fullName returns the name of a user that clients show: the given and the family name, or the
// username of a user who has neither.
func fullName(first, last, username string) string {
	return cmp.Or(strings.TrimSpace(first+" "+last), username)
}

// orPlaceholder returns the URL of an image of a user, or of the placeholder if there is none.
func orPlaceholder(a urls.Builder, url string) string {
	if url == "" {
		return a.Placeholder("USER")
	}
	return url
}

// UserSchema is a user's profile. Fields that this server does not store have their empty value.
type UserSchema struct {
	ID               ID           `json:"id"`
	Name             string       `json:"name"`
	FirstName        string       `json:"first_name"`
	LastName         string       `json:"last_name"`
	FullName         string       `json:"full_name"`
	Email            *string      `json:"email,omitzero"` // only for the caller's own profile
	URL              string       `json:"url"`
	PublicURL        string       `json:"public_url"`
	Thumbnail        string       `json:"thumbnail"`
	Bio              string       `json:"bio"`
	BioHTML          string       `json:"bio_html"`
	Level            int          `json:"level"`
	Location         string       `json:"location"`
	Country          string       `json:"country"`
	Registered       Time         `json:"registered"`
	LastActive       Time         `json:"last_active"`
	CoverImage       string       `json:"cover_image"`
	ThingsURL        string       `json:"things_url"`
	CopiesURL        string       `json:"copies_url"`
	LikesURL         string       `json:"likes_url"`
	DefaultLicense   *LicenseCode `json:"default_license,omitzero"` // only the caller's own
	Printers         []any        `json:"printers"`
	Programs         []any        `json:"programs"`
	Types            []any        `json:"types"`
	Groups           []any        `json:"groups"`
	SkillLevel       string       `json:"skill_level"`
	AcceptsTips      bool         `json:"accepts_tips"`
	Website          string       `json:"website"`
	Twitter          *twitter     `json:"twitter"` // null: not stored
	CountOfFollowers int          `json:"count_of_followers"`
	CountOfFollowing int          `json:"count_of_following"`
	CountOfDesigns   int          `json:"count_of_designs"`
	CollectionCount  int          `json:"collection_count"`
	MakeCount        int          `json:"make_count"`
	LikeCount        int          `json:"like_count"`
	HasFavorite      bool         `json:"has_favorite"`
	FavoriteCount    int          `json:"favorite_count"`
	IsAdmin          bool         `json:"is_admin"`
	IsModerator      bool         `json:"is_moderator"`
	IsFeatured       bool         `json:"is_featured"`
	IsVerified       bool         `json:"is_verified"`
	IsFollowing      bool         `json:"is_following"`

	// Input only: cleared by Complete.
	Role         string `json:"role,omitempty"`
	IsViewer     bool   `json:"is_viewer,omitempty"`
	Avatar       string `json:"avatar,omitempty"`
	CoverPicture string `json:"cover_picture,omitempty"`
	Active       *Time  `json:"active,omitempty"`
}

// Complete implements [Completer].
func (u *UserSchema) Complete(a urls.Builder) {
	u.URL = a.Base + "/users/" + u.Name
	u.PublicURL = a.Base + "/" + u.Name
	u.FullName = fullName(u.FirstName, u.LastName, u.Name)
	u.Thumbnail, u.CoverImage = orPlaceholder(a, u.Avatar), orPlaceholder(a, u.CoverPicture)
	u.IsAdmin, u.IsModerator = u.Role == "ADMINISTRATOR", u.Role == "MODERATOR"
	u.Role, u.Avatar, u.CoverPicture = "", "", ""
	u.ThingsURL, u.CopiesURL, u.LikesURL = u.URL+"/things", u.URL+"/copies", u.URL+"/likes"
	if u.LastActive = u.Registered; u.Active != nil {
		u.LastActive, u.Active = *u.Active, nil
	}
	u.Level = normalUser
	u.HasFavorite, u.FavoriteCount = u.LikeCount > 0, u.LikeCount
	u.Printers, u.Programs, u.Types, u.Groups = []any{}, []any{}, []any{}, []any{}
	switch {
	case !u.IsViewer:
		u.DefaultLicense = nil
	case u.Email == nil:
		u.Email = new("")
	}
	u.IsViewer = false
}

// normalUser is the level of a user without privileges.
const normalUser = 10

type twitter struct {
	AccountName string `json:"account_name"`
	AccountURL  string `json:"account_url"`
}
