package model

import "github.com/meshyard/meshyard/models"

// Deleted is the payload of a mutation that deletes an object.
type Deleted struct {
	Type      string // the type of the object, such as Thing
	DeletedID int64
}

// DeletedNodeID returns the node ID of the object.
func (d *Deleted) DeletedNodeID() string {
	return models.NodeRef{Type: d.Type, ID: d.DeletedID}.NodeID()
}

// DeletedFile is the payload of a mutation that deletes a file or an image.
type DeletedFile struct {
	Deleted
	File *models.File // as it was
}

// DeletedContent is the payload of a mutation that deletes a thing or a make.
type DeletedContent struct {
	Deleted
	OwnerID       int64
	ThingID       int64   // that was made
	CategoryID    int64   // that the thing was in
	AncestorIDs   []int64 // of the thing
	CollectionIDs []int64 // of the caller, that the thing was in
}

// DeletedCollection is the payload of deleteCollection.
type DeletedCollection struct {
	Deleted
	ThingIDs []int64 // that were in it
}

// Collected is the payload of a mutation that adds a thing to a collection or removes it.
type Collected struct {
	Collection *models.Collection
	ThingID    int64
}
