package sliced

import "strings"

// units are the beginnings of the units of time, in seconds.
var units = []struct {
	name    string
	seconds float64
}{{"d", 86_400}, {"h", 3_600}, {"m", 60}, {"s", 1}, {"", 1}}

// seconds returns a duration such as "1d 2h 3m 4s", "1 hour 16 minutes", "332.83 minutes",
// "1h:20m:36s" or "4980", rounded to seconds, or 0 if the text is none.
func seconds(text string) int64 {
	total := 0.
	for text = strings.ToLower(text); ; {
		text = strings.TrimLeft(text, " \t:,")
		digits := text
		text = strings.TrimLeft(text, "0123456789.")
		n := Number(digits)
		if len(digits) == len(text) {
			break
		}
		text = strings.TrimLeft(text, " ")
		unit := text
		text = strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz")
		unit = unit[:len(unit)-len(text)]
		for _, u := range units {
			if strings.HasPrefix(unit, u.name) {
				total += n * u.seconds
				break
			}
		}
	}
	const longest = 10 * 365 * 86_400
	if total > longest {
		return 0
	}
	return int64(total + 0.5)
}
