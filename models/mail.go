package models

// LinkPurpose is the purpose of a link that a person receives by e-mail or from an administrator.
type LinkPurpose string

// The purposes of links.
const (
	InvitationLink   LinkPurpose = "invitation"
	SignUpLink       LinkPurpose = "sign_up"
	ConfirmationLink LinkPurpose = "confirmation"
	ResetLink        LinkPurpose = "reset"
)

// Mail is the payload of a job that writes an e-mail. It has no secret: the link is created when
// the e-mail is written.
type Mail struct {
	Purpose      LinkPurpose
	Name         string // for a reset: the username or the e-mail address that the visitor entered
	Email        string // for a sign-up
	UserID       int64  // for a confirmation, and for a reset instead of Name
	InvitationID int64
}
