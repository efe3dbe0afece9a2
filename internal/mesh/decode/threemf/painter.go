package threemf

import (
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
)

// painter replaces unpainted colors with those of extruders. Objects that several extruders print
// are duplicated; the copies share everything but their colors.
type painter struct {
	*file
	items      []uint32                      // the color of each item
	components map[*geometry.Object][]uint32 // the color of each instance in an object, or unpainted
	done       map[paintedObject]*geometry.Object
}

// paintedObject is an object that an extruder of a certain color prints.
type paintedObject struct {
	object *geometry.Object
	color  uint32
}

// item notes the color of an item of the build.
func (c *painter) item(l reference) {
	if c.filaments == nil {
		return
	}
	extruder := int64(1)
	if e := c.filaments.objects[l.to.id]; e != nil && e.own > 0 {
		extruder = e.own
	}
	c.items = append(c.items, c.filaments.color(extruder))
}

// component notes the color of a component, which is the last instance of its owner.
func (c *painter) component(l reference) {
	if c.filaments == nil {
		return
	}
	if c.components == nil {
		c.components = map[*geometry.Object][]uint32{}
	}
	color := uint32(unpainted)
	if extruder := c.filaments.objects[l.from.id].ofPart(l.to.id, len(c.components[l.owner])); extruder > 0 {
		color = c.filaments.color(extruder)
	}
	c.components[l.owner] = append(c.components[l.owner], color)
}

// paint replaces the objects of the items with painted ones.
func (c *painter) paint(items []geometry.Instance) (err error) {
	c.done = map[paintedObject]*geometry.Object{}
	for i := range c.items {
		if items[i].Object, err = c.object(items[i].Object, c.items[i]); err != nil {
			return err
		}
	}
	return nil
}

// object returns an object in a color. It counts the copies towards the limit of elements.
func (c *painter) object(o *geometry.Object, color uint32) (*geometry.Object, error) {
	key := paintedObject{o, color}
	if there := c.done[key]; there != nil {
		return there, nil
	}
	if err := c.countElement(); err != nil {
		return nil, err
	}
	copied := &geometry.Object{Shape: withColor(o.Shape, color)}
	c.done[key] = copied // also of an object that contains itself, which is an error later
	for i, u := range o.Instances {
		if err := c.countElement(); err != nil {
			return nil, err
		}
		own := color
		if of := c.components[o]; of[i] != unpainted {
			own = of[i]
		}
		inner, err := c.object(u.Object, own)
		if err != nil {
			return nil, err
		}
		copied.Instances = append(copied.Instances, geometry.Instance{Object: inner, Transform: u.Transform})
	}
	return copied, nil
}

// withColor returns a shape whose unpainted vertices have a color.
func withColor(s *geometry.Shape, color uint32) *geometry.Shape {
	if s == nil || s.Colors == nil {
		return s
	}
	copied := *s
	copied.Colors = make([]uint32, len(s.Colors))
	for i, own := range s.Colors {
		if copied.Colors[i] = own; own == unpainted {
			copied.Colors[i] = color
		}
	}
	return &copied
}
