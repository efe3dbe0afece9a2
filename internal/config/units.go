package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes, written with a unit: 250MiB, 5MB, 1048576B. 0 needs none.
type Size int64

var units = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// UnmarshalText parses a size.
func (s *Size) UnmarshalText(text []byte) error {
	digits, unit := strings.TrimSpace(string(text)), int64(0)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(digits, u.name); ok {
			digits, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > 0 && unit == 0 || unit > 0 && n > (1<<62)/unit {
		return fmt.Errorf("size %q: must be a number with a unit, such as 250MiB or 5MB", text)
	}
	*s = Size(n * unit)
	return nil
}

// ParseDuration is like [time.ParseDuration], but also accepts days of 24 hours, such as 2d and
// 1d12h, and rejects negative durations.
func ParseDuration(text string) (time.Duration, error) {
	var total time.Duration
	rest := text
	if days, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 64)
		if err != nil || n > maxDays {
			return 0, errDuration(text)
		}
		total, rest = time.Duration(n)*24*time.Hour, after
		if rest == "" {
			return total, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || rest != text && rest[0] == '+' || d > maxDays*24*time.Hour {
		return 0, errDuration(text)
	}
	return total + d, nil
}

const maxDays = 36_500

func errDuration(text string) error {
	return fmt.Errorf("duration %q: must be a number with a unit, such as 90s, 12h or 2d, not negative, and at most %dd",
		text, maxDays)
}

// Lifetime is a duration of more than 0.
type Lifetime time.Duration

// UnmarshalText parses a lifetime.
func (l *Lifetime) UnmarshalText(text []byte) error {
	d, err := ParseDuration(string(text))
	if err != nil || d <= 0 {
		return fmt.Errorf("lifetime %q: must be days or hours, such as 90d or 12h, and at most %dd", text, maxDays)
	}
	*l = Lifetime(d)
	return nil
}

// Day is a date without a time: 2027-06-30. The zero value means that there is no date.
type Day struct{ time.Time }

// UnmarshalText parses a day.
func (d *Day) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		return fmt.Errorf("date %q: must be one such as 2027-06-30", text)
	}
	d.Time = at
	return nil
}

// Color is a color of the pages. The zero value means that none was chosen.
type Color struct {
	Red, Green, Blue uint8
	set              bool
}

// UnmarshalText parses a color such as #1b6ac9.
func (c *Color) UnmarshalText(text []byte) error {
	digits, ok := strings.CutPrefix(string(text), "#")
	n, err := strconv.ParseUint(digits, 16, 24)
	if !ok || err != nil || len(digits) != 6 {
		return fmt.Errorf("color %q: must be six hexadecimal digits, such as #1b6ac9", text)
	}
	*c = Color{uint8(n >> 16), uint8(n >> 8), uint8(n), true}
	return nil
}

// IsSet reports whether a color was chosen.
func (c Color) IsSet() bool { return c.set }

// String returns the color as #1b6ac9, or "" if none was chosen.
func (c Color) String() string {
	if !c.set {
		return ""
	}
	return fmt.Sprintf("#%02x%02x%02x", c.Red, c.Green, c.Blue)
}
