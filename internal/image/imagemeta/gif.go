package imagemeta

import (
	"io"
)

// gifKept are the application extensions that define the image: how often it is repeated, and its
// colors.
var gifKept = map[string]bool{"NETSCAPE2.0": true, "ANIMEXTS1.0": true, "ICCRGBG1012": true}

// gifHeader handles the header and the global color table (GIF89a, sections 17 to 19).
func gifHeader(s *stripper) error {
	head, err := s.r.Peek(13)
	if err != nil {
		return err
	}
	s.copy, s.next = 13+colorTable(head[10]), gifBlock
	return nil
}

// colorTable returns the size of a color table by the flags before it.
func colorTable(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// gifBlock handles an image, an extension or the end.
func gifBlock(s *stripper) error {
	head, err := s.r.Peek(1)
	if err != nil {
		return err
	}
	switch head[0] {
	case 0:
		s.copy = 1 // decoders ignore it
	case ',':
		if head, err = s.r.Peek(10); err != nil {
			return err
		}
		s.copy, s.next = 10+colorTable(head[9])+1, gifBlocks(true)
	case '!':
		if head, err = s.r.Peek(3); err != nil {
			return err
		}
		const plainText, graphicControl, application = 0x01, 0xf9, 0xff
		keep := head[1] == plainText || head[1] == graphicControl
		if head[1] == application {
			if head, err = s.r.Peek(14); err != nil {
				return err
			}
			keep = head[2] == 11 && gifKept[string(head[3:14])]
		}
		if s.next = gifBlocks(keep); keep {
			s.copy = 2
		} else {
			s.skip = 2
		}
	case ';':
		s.copy, s.next = 1, func(s *stripper) error { s.end(); return nil }
	default:
		return io.EOF
	}
	return nil
}

// gifBlocks handles a sequence of data blocks, which an empty one ends.
func gifBlocks(keep bool) func(*stripper) error {
	return func(s *stripper) error {
		size, err := s.r.Peek(1)
		if err != nil {
			return err
		}
		if size[0] == 0 {
			s.next = gifBlock
		}
		if keep {
			s.copy = 1 + int64(size[0])
		} else {
			s.skip = 1 + int64(size[0])
		}
		return nil
	}
}
