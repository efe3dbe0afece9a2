package textscan

import (
	"strconv"
)

// powers are the powers of ten that float64 represents exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
	1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// ParseFloat parses a decimal number such as -1.5e3. It does not accept infinity, NaN or
// hexadecimal numbers. It does not allocate for input shorter than 32 bytes.
func ParseFloat(b []byte) (x float64, ok bool) {
	i := 0
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		i = 1
	}
	mantissa, digits, fraction, point := uint64(0), 0, 0, false
	for ; i < len(b); i++ {
		c := b[i]
		if digit := c - '0'; digit <= 9 {
			mantissa = mantissa*10 + uint64(digit)
			digits++
			if point {
				fraction++
			}
		} else if c == '.' && !point {
			point = true
		} else {
			break
		}
	}
	// Digits up to 2^53 are exact, so one division by an exact power of ten rounds correctly.
	if i == len(b) && digits > 0 && digits < 19 && mantissa < 1<<53 && fraction < len(powers) {
		x = float64(mantissa) / powers[fraction]
		if b[0] == '-' {
			x = -x
		}
		return x, true
	}
	for ; i < len(b); i++ {
		if c := b[i]; c-'0' > 9 && c != 'e' && c != 'E' && c != '-' && c != '+' {
			return 0, false
		}
	}
	x, err := strconv.ParseFloat(string(b), 64)
	return x, err == nil
}

// ParseInt parses a decimal integer of at most 18 digits with an optional sign.
func ParseInt(b []byte) (n int64, ok bool) {
	digits := b
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if b[0] == '-' {
		n = -n
	}
	return n, true
}
