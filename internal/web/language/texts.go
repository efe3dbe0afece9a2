package language

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"

	"github.com/meshyard/meshyard/internal/apierror"
)

// files hold the texts of each language. The browser client reads the same files; see
// web/src/strings.ts.
//
//go:embed texts/*.json
var files embed.FS

// document is the content of a file. The texts in Text are shared with the client, which alone uses
// Sentences, Counts, Printing and Manage. Pages are the texts of package webpage that the client
// does not show, or words in another way.
type document struct {
	Code, Name, Date, Thousands, Decimal string
	Errors                               map[apierror.Code]string
	Inputs                               map[string]string
	Text                                 map[string]any
	Sentences, Counts, Printing, Manage  json.RawMessage
	Pages                                json.RawMessage
	Mails                                Mails
	SignIn                               SignIn
	Viewer                               Viewer
	Developers                           Developers
	GraphiQL                             GraphiQL
}

// load returns the texts of a language. It panics if the file is invalid: it is part of the binary.
func load(code string) *Texts {
	content, err := files.ReadFile("texts/" + code + ".json")
	if err != nil {
		panic(err)
	}
	var d document
	if err := decode(content, &d); err != nil {
		panic(fmt.Sprintf("texts/%s.json: %v", code, err))
	}
	t := &Texts{
		Code: d.Code, Name: d.Name, Date: d.Date, Thousands: d.Thousands, Decimal: d.Decimal,
		Errors: d.Errors, Inputs: d.Inputs, Categories: map[string]string{}, NoPreview: map[string]string{},
		Mails: d.Mails, SignIn: d.SignIn, Viewer: d.Viewer,
		Developers: d.Developers, GraphiQL: d.GraphiQL,
	}
	shared := make(map[string]string)
	for key, value := range d.Text {
		if text, ok := value.(string); ok { // the others are groups of texts, which only the client uses
			shared[key] = text
		}
	}
	if categories, ok := d.Text["categories"].(map[string]any); ok {
		for slug, name := range categories {
			t.Categories[slug], _ = name.(string)
		}
	}
	if reasons, ok := d.Text["noPreviewReasons"].(map[string]any); ok {
		for reason, text := range reasons {
			t.NoPreview[reason], _ = text.(string)
		}
	}
	t.Skip, t.CreateAccount = shared["skip"], shared["signUp"]
	text, err := json.Marshal(shared)
	if err == nil {
		err = json.Unmarshal(text, &t.Gallery)
	}
	if err == nil {
		err = decode(d.Pages, &t.Gallery)
	}
	if err != nil {
		panic(fmt.Sprintf("texts/%s.json: %v", code, err))
	}
	return t
}

// decode decodes JSON, and rejects names that v does not have.
func decode(content []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// Texts are the texts of one language. %s and %d are placeholders. A text that contains HTML is
// shown with [Fill].
type Texts struct {
	Code, Name string // the language: its ISO 639-1 code, and its own name for it
	Date       string // the layout of a date, as in package time
	Thousands  string // the separator of thousands
	Decimal    string // the decimal separator
	// Errors are sentences for the codes of errors, and Inputs for those of inputs, by the name of
	// the input and the code. English has none: the messages of errors are English.
	Errors map[apierror.Code]string
	Inputs map[string]string

	// Categories are the names of the categories of a new server by slug.
	Categories map[string]string

	// NoPreview are sentences for the reasons why a file has no preview, by their names in the
	// GraphQL schema.
	NoPreview map[string]string

	Skip          string // the link to the content
	CreateAccount string
	Mails         Mails
	SignIn        SignIn
	Gallery       Gallery
	Viewer        Viewer
	Developers    Developers
	GraphiQL      GraphiQL
}

// Mails are the texts of mails, which contain the name of the site and the username.
type Mails struct {
	Invitation, InvitationText     string
	SignUp, SignUpText             string
	Confirmation, ConfirmationText string
	Reset, ResetText               string
	Expires, Ignore                string
}

// SignIn are the texts of the pages of package signin.
type SignIn struct {
	SignIn, SignOut, SignedIn, SignedInAs string
	GoTo                                  string // the name of the site
	Username, Password                    string
	Provider                              string
	NoAccount, HaveAccount                string
	Forgotten, NoPassword                 string

	UsernameRule, PasswordRule string
	Email, EmailOptional       string
	LinkFollows, SendLink      string

	Reset, NameOrEmail, NewPassword, SetPassword, SignsOut string
	ConfirmEmail, ConfirmQuestion, Confirm                 string
	Done, Continue                                         string
	Refused                                                string

	BackToSettings, Account                              string
	CurrentPassword, ChangePassword, ChangeEffect        string
	ResetIt, NoEmail                                     string
	IsConfirmed, NotConfirmed, UntilConfirmed, SendCheck string

	AllowTitle, AllowHeading, Requests, ReadScope, WriteScope string
	CodeFollows, SentTo, MayRevoke                            string
	Deny, Allow, NotYou, OtherUser                            string
	CopyCode, PasteCode, Code, KeepCode                       string

	Tokens, CopyToken, NewToken, ShownOnce string
	TokenPurpose, Name, Example            string
	Permissions                            string
	TokenRead, TokenWrite, TokenAdmin      string
	Expires, InDays, Never                 string
	CreateToken, Valid, None               string
	Nameless, OfApplication                string
	Created, ExpiresOn, NeverExpires       string
	LastUsed, NeverUsed                    string
	Revoke, RevokeNamed, RevokeNameless    string
	SignedInShort                          string

	PasswordChanged, CheckSent, SignUpSent, ResetSent, EmailConfirmed string

	FormUnreadable, FormExpired, DecisionExpired, OtherSite string
	NoMail, NoMailReset                                     string
	TooManyAttempts, WrongPassword, BadEmail, NameBlank     string
	OtherPurpose, NeedsInvitation                           string
	Internal, PageFailed                                    string
	RequestTooLong, RequestInvalid                          string
	UnknownApplication, UnknownRedirect, Denied             string
	NotStartedHere, ProviderRejected, ProviderRefused       string
	NotAdmitted, ProviderDown                               string

	UnknownHost                                                  string
	LinkAccount, LinkQuestion, LinkIt, NewInstead, NewIsSeparate string
}

// Gallery are the texts of the pages of package webpage. Most are those of the client with the same
// name.
type Gallery struct {
	Search, SignIn                                                      string
	Explore, Upload, Feed, Notifications, Settings                      string
	Moderation, Edit, Drafts, Problems                                  string
	NeedsScript, MoreWithScript                                         string
	TryAgain                                                            string
	NotFound, NotFoundText, HomePage                                    string
	NoAccess, TooManyRequests, Busy, Failed                             string
	By, MakeOf, License, Counts                                         string
	Lists                                                               string
	Makes, Collections, Followers                                       string
	Things                                                              string `json:"designs"`
	Likes                                                               string `json:"likedTab"`
	Following                                                           string `json:"followingTab"`
	Categories                                                          string `json:"browseCategories"`
	Instructions, Files, DownloadAll, Tags                              string
	Featured, Popular, Nothing                                          string
	Pages, Previous, Next                                               string
	Developers                                                          string
	Newest                                                              string
	Site, All, SearchTitle, SearchText                                  string
	ThingBy, MakeTitle, MakeBy, ThingsBy, WithTag, InCategory, Selected string
}

// Viewer are the texts of the pages of package viewer. Its script reads them as JSON.
type Viewer struct {
	NoModel                                      string
	OfThing, ItsThing                            string
	Size, Detail                                 string
	View3D, Keys, Picture                        string
	Progress, NeedsScript                        string
	Toolbar                                      string
	Reset, ResetHint, Wireframe, WireframeHint   string
	Full, FullHint, Fullscreen, Download         string
	Waiting, Running, Loading, CannotShow, No3D  string
	OneTriangle, Triangles, Points               string
	LoadingBytes, Shown, Grid, LoadFailed, Empty string
	Answers, StateFailed, NoAnswer               string
	GraphicsLost, NoWebGL                        string
}
