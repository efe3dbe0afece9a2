package rest

import "github.com/meshyard/meshyard/internal/address"

// UserSummary is a user as others' records show him.
type UserSummary struct {
	ID               ID     `json:"id"`
	Name             string `json:"name"`
	FirstName        string `json:"first_name"`
	LastName         string `json:"last_name"`
	URL              string `json:"url"`
	PublicURL        string `json:"public_url"`
	Thumbnail        string `json:"thumbnail"`
	CountOfFollowers int    `json:"count_of_followers"`
	CountOfFollowing int    `json:"count_of_following"`
	CountOfDesigns   int    `json:"count_of_designs"`
	MakeCount        int    `json:"make_count"`
	AcceptsTips      bool   `json:"accepts_tips"`
	IsFollowing      bool   `json:"is_following"`
	Location         string `json:"location"`
	Cover            string `json:"cover"`
	IsAdmin          bool   `json:"is_admin"`
	IsModerator      bool   `json:"is_moderator"`
	IsFeatured       bool   `json:"is_featured"`
	IsVerified       bool   `json:"is_verified"`
}

func (u *UserSummary) complete(a address.Addresses) {
	u.URL = a.Base + "/users/" + u.Name
	u.PublicURL = a.Base + "/" + u.Name
	u.Thumbnail = a.Picture("USER")
	u.Cover = a.Picture("USER")
}
