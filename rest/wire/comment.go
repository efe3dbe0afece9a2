package wire

import (
	"strings"

	"github.com/meshyard/meshyard/internal/urls"
)

// CommentSchema is a comment. A deleted comment has an empty body.
type CommentSchema struct {
	ID            ID            `json:"id"`
	URL           string        `json:"url"`
	TargetType    string        `json:"target_type"`
	TargetID      ID            `json:"target_id"`
	PublicURL     string        `json:"public_url"`
	TargetURL     string        `json:"target_url"`
	Body          string        `json:"body"`
	BodyHTML      string        `json:"body_html"`
	User          *UserSummary  `json:"user"`
	Added         Time          `json:"added"`
	Modified      Time          `json:"modified"`
	ParentID      ID            `json:"parent_id"` // 0 for a root comment
	ParentURL     string        `json:"parent_url"`
	ParentUser    *string       `json:"parent_user_name"`
	IsDeleted     bool          `json:"is_deleted"`
	Attachments   []*attachment `json:"attachments"`
	IsRootComment bool          `json:"is_root_comment"`
	HasChildren   bool          `json:"has_children"`
	CanComment    bool          `json:"can_comment"`
	InModeration  bool          `json:"needs_moderation"`
	TopicName     string        `json:"topic_name"` // "": only comments in forums have a topic
	Things        []any         `json:"things"`

	// Input only: cleared by Complete.
	Target     *TargetID `json:"target,omitempty"`
	Parent     *parent   `json:"parent,omitempty"`
	ReplyCount int       `json:"reply_count,omitempty"`
}

type parent struct {
	ID   ID     `json:"id"`
	User *named `json:"user"`
}

type named struct {
	Name string `json:"name"`
}

type attachment struct {
	ID          ID     `json:"id"`
	Name        string `json:"name"`
	DownloadURL string `json:"download_url"`
}

// Complete implements [Completer].
func (c *CommentSchema) Complete(a urls.Builder) {
	c.URL = a.Base + "/comments/" + c.ID.String()
	noun, public := "/things/", "/thing:"
	if c.Target.Type == "Make" {
		noun, public = "/copies/", "/make:"
	}
	c.TargetType, c.TargetID = strings.ToLower(c.Target.Type), c.Target.ID
	c.TargetURL = a.Base + noun + c.TargetID.String()
	c.PublicURL = a.Base + public + c.TargetID.String() + "#comment-" + c.ID.String()
	c.User.Complete(a)
	if c.Parent != nil {
		c.ParentID = c.Parent.ID
		c.ParentURL = a.Base + "/comments/" + c.ParentID.String()
		c.ParentUser = &c.Parent.User.Name
	}
	for _, file := range c.Attachments {
		file.DownloadURL = a.Base + "/files/" + file.ID.String() + "/download"
	}
	c.IsRootComment, c.HasChildren, c.CanComment = c.ParentID == 0, c.ReplyCount > 0, !c.IsDeleted
	c.Things = []any{}
	c.Target, c.Parent, c.ReplyCount = nil, nil, 0
}

// ThreadedSchema groups comments by the ID of their parent ("0" for root comments). Users has the
// authors by ID.
type ThreadedSchema struct {
	Comments map[string][]*ThreadComment `json:"comments"`
	Users    map[string]*ThreadUser      `json:"users"`
}

// ThreadComment is a comment in a thread. In the published interface, it has other names and types
// for some fields than a comment in a list.
type ThreadComment struct {
	*CommentSchema

	AddDate      Time     `json:"add_date"`
	ModifiedDate Time     `json:"modified_date"`
	UserID       ID       `json:"user_id"`
	ParentUser   string   `json:"parent_user_name"` // "" for a root comment
	InModeration Flag     `json:"needs_moderation"`
	Assets       []string `json:"assets"` // the URLs of the attachments
}

// ThreadUser is the author of a comment in a thread.
type ThreadUser struct {
	*UserSummary

	UserName   string `json:"user_name"`
	UserAvatar string `json:"user_avatar"`
	IsAdmin    Flag   `json:"is_admin"`
}

// Threaded groups comments by parent. The comments must be completed already.
func Threaded(comments []*CommentSchema) *ThreadedSchema {
	t := &ThreadedSchema{make(map[string][]*ThreadComment), make(map[string]*ThreadUser)}
	for _, c := range comments {
		of := &ThreadComment{CommentSchema: c, AddDate: c.Added, ModifiedDate: c.Modified, UserID: c.User.ID,
			InModeration: flag(c.InModeration), Assets: []string{}}
		if c.ParentUser != nil {
			of.ParentUser = *c.ParentUser
		}
		for _, file := range c.Attachments {
			of.Assets = append(of.Assets, file.DownloadURL)
		}
		parent := c.ParentID.String()
		t.Comments[parent] = append(t.Comments[parent], of)
		t.Users[c.User.ID.String()] = &ThreadUser{c.User, c.User.Name, c.User.Thumbnail, flag(c.User.IsAdmin)}
	}
	return t
}
