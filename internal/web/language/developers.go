package language

// Developers are the texts of the pages of package pages.
type Developers struct {
	Title, Heading, Pages, Developers, Reference, Migration, Lead, Account, SentFromBoth      string
	SentFromReference, YourTokens, NotSignedIn, SignInForBoth, SignInForReference, ByOperator string
	Tools, GraphiQLText, RestReference, ReferenceText, Guide, GuideText, Schema, SchemaText   string
	OpenAPI, OpenAPIText, OAuth, OAuthText, Liveness, Readiness, ProbesText, ExampleRequests  string
	YourToken, ReferenceLead, SentAs, SignInOrToken, LoadingReference, ReferenceNeedsScript   string
	NotShown, Contents, InEnglish                                                             string
}

// GraphiQL are the texts of the page of package graphiql, without those of GraphiQL itself, which
// is in English. Its script reads them as JSON.
type GraphiQL struct {
	Token, InsteadOfAccount, PasteHere, Show, Hide, Forget, YourTokens, SignInInstead        string
	NotSignedIn, SignedInAs, Checking, BadToken, UnknownToken, FileToUpload, FileFor, Remove string
	FileNote, FileSent, FileMissing, Examples, OpenOne, Loading, NeedsScript, Answered       string
	MissingID, NewTab                                                                        string
}
