package thumbnail

// Size is one of the sizes in which a picture can be had.
type Size struct {
	Kind, Name    string // as the old API calls it
	Width, Height int    // pixels
	Crop          bool   // whether the picture fills them, and loses what is beside; else it fits in
}

// Sizes are the fifteen sizes of the old API, in its order. How many pixels each has it does not say; these fit what pages of its clients show.
var Sizes = []Size{
	{"thumb", "large", 250, 250, true},
	{"thumb", "medium", 128, 128, true},
	{"thumb", "small", 64, 64, true},
	{"thumb", "tiny", 32, 32, true},
	{"preview", "featured", 628, 472, true},
	{"preview", "card", 340, 255, true},
	{"preview", "large", 512, 384, true},
	{"preview", "medium", 256, 192, true},
	{"preview", "small", 160, 120, true},
	{"preview", "birdwing", 300, 225, true},
	{"preview", "tiny", 80, 60, true},
	{"preview", "tinycard", 72, 54, true},
	{"display", "large", 1200, 900, false},
	{"display", "medium", 800, 600, false},
	{"display", "small", 400, 300, false},
}

// Full names the whole picture among the sizes.
const Full = "full"

// String names the size in addresses.
func (s Size) String() string { return s.Kind + "_" + s.Name }

// SizeNamed gives the size of a name.
func SizeNamed(name string) (Size, bool) {
	for _, s := range Sizes {
		if s.String() == name {
			return s, true
		}
	}
	return Size{}, false
}

// Of gives the pixels that a picture of so many has in the size. Nothing is made larger than it is.
func (s Size) Of(width, height int) (int, int) {
	if s.Crop {
		return s.Width, s.Height
	}
	if width <= s.Width && height <= s.Height {
		return width, height
	}
	if width*s.Height > height*s.Width {
		return s.Width, max(1, (height*s.Width+width/2)/width)
	}
	return max(1, (width*s.Height+height/2)/height), s.Height
}
