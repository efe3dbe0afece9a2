package thumbnail

// Size is one of the sizes in which an image is available.
type Size struct {
	Kind, Name    string // as in the legacy API
	Width, Height int    // in pixels
	Crop          bool   // fill the size and crop the rest; otherwise fit into it
}

// Sizes are the fifteen sizes of the legacy API, in its order. The legacy API does not document
// their dimensions; these fit the layouts of its clients.
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

// Full is the name of the uncropped image among the sizes.
const Full = "full"

// String returns the name of the size in URLs.
func (s Size) String() string { return s.Kind + "_" + s.Name }

// SizeNamed returns the size with a name, which may be Full.
func SizeNamed(name string) (Size, bool) {
	if name == Full {
		return fullSize, true
	}
	for _, s := range Sizes {
		if s.String() == name {
			return s, true
		}
	}
	return Size{}, false
}

// Of returns the dimensions of an image in the size. Images are never enlarged.
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
