package rest

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dateLayouts are the ISO 8601 formats that clients send.
var dateLayouts = []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime, time.DateOnly, "2006-01", "2006"}

// dateSteps matches what may follow now, or a date and ||: +1d, -1M, or /d, which rounds down to
// the start of the day.
var dateSteps = regexp.MustCompile(`^(?:[+-]\d{1,4}[yMwdhHms]|/[yMwdhHms])*$`)

var dateStep = regexp.MustCompile(`[+-]\d{1,4}[yMwdhHms]|/[yMwdhHms]`)

// parseDate parses a date, Unix time, or Elasticsearch date math, which the original service
// accepted: now-7d, now-1M/d, 2026-01-31||+1w. A space counts as a plus sign too, because that is
// what a plus sign in a query becomes if it is not escaped. It returns false if the text is invalid
// or the result is outside the years 1 to 9999.
func parseDate(text string, now time.Time) (time.Time, bool) {
	text = strings.TrimSpace(text)
	at, steps := now.UTC(), ""
	switch before, after, cut := strings.Cut(text, "||"); {
	case strings.HasPrefix(text, "now"):
		steps = text[len("now"):]
	default:
		var ok bool
		if at, ok = parseAbsolute(before); !ok {
			return at, false
		}
		if cut {
			steps = after
		}
	}
	steps = strings.ReplaceAll(steps, " ", "+")
	if !dateSteps.MatchString(steps) {
		return at, false
	}
	for _, step := range dateStep.FindAllString(steps, 20) {
		unit := step[len(step)-1]
		if step[0] == '/' {
			at = truncateTime(at, unit)
			continue
		}
		n, _ := strconv.Atoi(step[:len(step)-1])
		at = moveBy(at, n, unit)
	}
	return at, at.Year() >= 1 && at.Year() <= 9999
}

// unixTime matches Unix time in seconds or in milliseconds since 1973.
var unixTime = regexp.MustCompile(`^\d{9,10}(?:\d{3})?$`)

// parseAbsolute parses a date in ISO 8601 format, or Unix time.
func parseAbsolute(text string) (time.Time, bool) {
	if unixTime.MatchString(text) {
		n, err := strconv.ParseInt(text, 10, 64)
		if len(text) <= 10 {
			n *= 1000
		}
		return time.UnixMilli(n).UTC(), err == nil
	}
	for _, layout := range dateLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at, at.Year() >= 1
		}
	}
	if at, err := time.Parse(time.RFC3339, strings.Replace(text, " ", "+", 1)); err == nil {
		return at, at.Year() >= 1
	}
	return time.Time{}, false
}

func moveBy(at time.Time, n int, unit byte) time.Time {
	switch unit {
	case 'y':
		return at.AddDate(n, 0, 0)
	case 'M':
		return at.AddDate(0, n, 0)
	case 'w':
		return at.AddDate(0, 0, 7*n)
	case 'd':
		return at.AddDate(0, 0, n)
	case 'h', 'H':
		return at.Add(time.Duration(n) * time.Hour)
	case 'm':
		return at.Add(time.Duration(n) * time.Minute)
	}
	return at.Add(time.Duration(n) * time.Second)
}

func truncateTime(at time.Time, unit byte) time.Time {
	year, month, day := at.Date()
	switch unit {
	case 'y':
		return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	case 'M':
		return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	case 'w':
		return time.Date(year, month, day-(int(at.Weekday())+6)%7, 0, 0, 0, 0, time.UTC)
	case 'd':
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	case 'h', 'H':
		return at.Truncate(time.Hour)
	case 'm':
		return at.Truncate(time.Minute)
	}
	return at.Truncate(time.Second)
}
