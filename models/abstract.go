package models

// Node is an object with a node ID.
type Node interface{ NodeID() string }

// These interfaces group the objects that can stand in the same place. The unexported methods have
// no effect: they make it an error of the compiler to put another object there.
type (
	// Attachable is an object that files can be attached to.
	Attachable interface {
		Node
		attachable()
	}
	// Commentable is an object that can be commented on.
	Commentable interface {
		Node
		commentable()
	}
	// Likeable is an object that can be liked and watched.
	Likeable interface {
		Node
		likeable()
	}
	// FeedItem is an object of an entry of a feed.
	FeedItem interface {
		Node
		feedItem()
	}
	// SearchHit is an object that can be searched.
	SearchHit interface {
		Node
		searchHit()
	}
	// ReportTarget is an object that can be reported.
	ReportTarget interface {
		Node
		reportTarget()
	}
	// NotificationTarget is an object that a notification can be about.
	NotificationTarget interface {
		Node
		notificationTarget()
	}
)

func (*Thing) attachable()   {}
func (*Make) attachable()    {}
func (*Comment) attachable() {}

func (*Thing) commentable() {}
func (*Make) commentable()  {}

func (*Thing) likeable()      {}
func (*Make) likeable()       {}
func (*Collection) likeable() {}

func (*Thing) feedItem()      {}
func (*Make) feedItem()       {}
func (*Collection) feedItem() {}

func (*Thing) searchHit()      {}
func (*Make) searchHit()       {}
func (*Collection) searchHit() {}
func (*User) searchHit()       {}

func (*Thing) reportTarget()      {}
func (*Make) reportTarget()       {}
func (*Comment) reportTarget()    {}
func (*Collection) reportTarget() {}
func (*User) reportTarget()       {}

func (*Thing) notificationTarget()      {}
func (*Make) notificationTarget()       {}
func (*Comment) notificationTarget()    {}
func (*Collection) notificationTarget() {}
func (*User) notificationTarget()       {}
func (*File) notificationTarget()       {}
