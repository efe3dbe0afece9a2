package layout

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// strength is how certain a word in the name of a folder shows that the folder is a part of the
// thing above it.
type strength int

const (
	neutral strength = iota + 1 // such as "files" and "final", which show no variant
	weak                        // such as "Bases", which can also be things
	format                      // such as "STL", which can also be the name of a collection
	strong                      // such as "Supported"
)

// variant is a word or phrase for a variant.
type variant struct {
	label    string // "" shows none
	strength strength
}

// vocabulary lists the words of variants, in lower case and separated by commas.
var vocabulary = []struct {
	label    string
	strength strength
	phrases  string
}{
	{"Presupported", strong, "presupported, pre supported, presupport, pre support, presupports, pre supports, " +
		"presup, pre sup, vorgestützt"},
	{"Unsupported", strong, "unsupported, un supported, non supported, nonsupported, not supported, no support, " +
		"no supports, nosupport, nosupports, without support, without supports, unsup, " +
		"supportless, support free, supportfree, ohne stützen, ohne support, ohne supports, sans support, sans supports, sin soportes, sin soporte, senza supporti, sem suportes, bez podpór"},
	{"Supported", strong, "supported, supports, support, with support, with supports, w supports, sup, gestützt, " +
		"mit stützen, mit support, mit supports, avec support, avec supports, con soportes, soportado, " +
		"soportada, soportados, con supporti, com suportes, z podporami"},
	{"Hollow", strong, "hollow, hollowed, hohl, creux, hueco"},
	{"Solid", strong, "solid, unhollowed, not hollow, massiv, plein"},
	{"Resin", strong, "resin, sla, msla, dlp, resina"},
	{"FDM", strong, "fdm, fff, filament"},
	{"STL", format, "stl, stls"},
	{"OBJ", format, "obj, objs"},
	{"3MF", format, "3mf, 3mfs"},
	{"STEP", format, "step, stp, steps"},
	{"PLY", format, "ply"},
	{"GLB", format, "glb, gltf"},
	{"FBX", format, "fbx"},
	{"LYS", format, "lys, lychee, lychee slicer, lyt"},
	{"Chitubox", format, "chitubox, chitu, chitubox project"},
	{"CTB", format, "ctb"},
	{"G-code", format, "gcode, g code, gcodes"},
	{"Blender", format, "blend, blender"},
	{"CAD", format, "cad, fusion, fusion360, fusion 360, f3d, solidworks, freecad, onshape"},
	{"OpenSCAD", format, "scad, openscad"},
	{"ZBrush", format, "zbrush, ztl"},
	{"PrusaSlicer", format, "prusaslicer, prusa slicer, prusa"},
	{"Bambu Studio", format, "bambu, bambu studio, bambustudio, bambulab, bambu lab"},
	{"Cura", format, "cura"},
	{"Sliced", format, "sliced, slices, presliced, pre sliced"},
	{"", format, "files, file, models, model, model files, print files, 3d files, 3d models, druckdateien, dateien, " +
		"fichiers, archivos"},
	{"Parts", weak, "parts, part, pieces, piece, components, teile, einzelteile, pièces, piezas, partes"},
	{"Split", weak, "split, cut, cuts, multipart, multi part, multi parts, sliced parts, geteilt"},
	{"One piece", weak, "one piece, onepiece, single piece, whole, uncut, complete, full, merged, assembled, " +
		"komplett"},
	{"Print in place", weak, "print in place, pip"},
	{"Bases", weak, "base, bases, sockel, socle, socles, peana, peanas, plinth, plinths"},
	{"Left", weak, "left, linke, gauche, izquierda, lhs"},
	{"Right", weak, "right, rechts, droite, derecha, rhs"},
	{"Top", weak, "top, upper, oben"},
	{"Bottom", weak, "bottom, lower, unten"},
	{"Front", weak, "front, vorne"},
	{"Back", weak, "back, rear, hinten"},
	{"Inner", weak, "inner, inside"},
	{"Outer", weak, "outer, outside"},
	{"Small", weak, "small, klein, mini"},
	{"Medium", weak, "medium, mittel"},
	{"Large", weak, "large, big, groß, gross"},
	{"Alternative", weak, "alt, alternative, alternatives, alternate, variant, variants, variation, variations, " +
		"option, options"},
	{"Extras", weak, "extras, extra, bonus, addons, addon, add ons, bits"},
	{"English", weak, "english, englisch, en, eng"},
	{"German", weak, "german, deutsch, de, ger"},
	{"French", weak, "french, français, francais, fr"},
	{"Spanish", weak, "spanish, español, espanol, es"},
	{"Italian", weak, "italian, italiano, it"},
	{"Portuguese", weak, "portuguese, português, pt"},
	{"Polish", weak, "polish, polski, pl"},
	{"Dutch", weak, "dutch, nederlands, nl"},
	{"Russian", weak, "russian, русский, ru"},
	{"Japanese", weak, "japanese, 日本語, ja, jp"},
	{"Chinese", weak, "chinese, 中文, zh, cn"},
	{"Czech", weak, "czech, česky, čeština, cz"},
	{"", weak, "body, bodies, torso, torsos, head, heads, arm, arms, leg, legs, wing, wings, tail, tails, hand, " +
		"hands, foot, feet, weapon, weapons, shield, shields, helmet, helmets, hair, cape, cloak, " +
		"accessory, accessories, körper, kopf, köpfe, arme, beine, flügel, waffen, hardware, electronics, lid, box body"},
	{"", neutral, "final, new, old, original, the, and, of, for, with, a, 3d, print, printing, printable, ready, " +
		"print ready, project, projects, data, source, sources, src, editable, slicer, scene, scenes, only, set, kit, " +
		"version, versions, scale, scaled, up to"},
	{"", neutral, "images, image, imgs, img, pictures, picture, pics, pic, photos, photo, renders, render, " +
		"renderings, rendering, previews, preview, screenshots, screenshot, gallery, thumbnails, thumbs, bilder, fotos, " +
		"makes"},
	{"", neutral, "docs, doc, documents, documentation, instructions, instruction, manual, manuals, guide, guides, " +
		"assembly, anleitung, license, licence, licenses, readme, info, pdf, textures, texture, tex, maps, materials"},
}

// textureFolders and textureWords are words of folders and pictures that belong to a model.
var (
	textureFolders = set("textures texture tex maps materials")
	textureWords   = set(
		"diffuse albedo basecolor normal normals roughness metallic metalness specular ao occlusion emissive displacement bump opacity height texture")
	coverWords = []string{"cover", "thumbnail", "thumb", "title", "hero", "main", "poster", "front", "preview", "folder",
		"default", "feature", "featured"}
	renderWords = set("render renders rendering rendered beauty promo")
)

func set(words string) map[string]bool {
	s := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		s[word] = true
	}
	return s
}

var (
	phrases    = map[string]variant{}
	maxPhrase  = 1
	scaleWord  = regexp.MustCompile(`^(\d+([.,]\d+)?)mm$`)
	numberWord = regexp.MustCompile(`^(v?\d+([.,]\d+)*|[a-h]|i{1,3}|iv|xs|s|m|l|x+l|\d+(cm|in|inch|percent|pcs|x))$`)
)

func init() {
	for _, v := range vocabulary {
		for phrase := range strings.SplitSeq(v.phrases, ", ") {
			phrases[phrase] = variant{v.label, v.strength}
			maxPhrase = max(maxPhrase, strings.Count(phrase, " ")+1)
		}
	}
}

// split returns the words of a name in lower case. A change from lower to upper case separates
// words, too.
func split(name string) (words []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, norm.NFC.String(word.String()))
			word.Reset()
		}
	}
	runes := []rune(norm.NFC.String(name))
	for i, r := range runes {
		inNumber := (r == '.' || r == ',') && i > 0 && i+1 < len(runes) && unicode.IsDigit(runes[i-1]) &&
			unicode.IsDigit(runes[i+1])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !inNumber {
			end()
			continue
		}
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(runes[i-1]) {
			end()
		}
		word.WriteRune(unicode.ToLower(r))
	}
	end()
	return words
}

// part is a run of words of a name: a phrase of the vocabulary, or a word that is in none.
type part struct {
	words []string
	variant
	known bool
}

// parse finds the phrases of the vocabulary in words, the longest ones first.
func parse(words []string) (parts []part) {
	for i := 0; i < len(words); {
		n, v, known := 1, variant{}, false
		for length := min(maxPhrase, len(words)-i); length > 0 && !known; length-- {
			if v, known = phrases[strings.Join(words[i:i+length], " ")]; known {
				n = length
			}
		}
		switch {
		case known:
		case words[i] == "pose" || words[i] == "posed" || words[i] == "poses":
			known, v = true, variant{"Pose", weak}
			if i+1 < len(words) && numberWord.MatchString(words[i+1]) {
				n, v.label = 2, "Pose "+strings.ToUpper(words[i+1])
			}
		case scaleWord.MatchString(words[i]):
			known, v = true, variant{words[i], strong}
		case i+1 < len(words) && words[i+1] == "mm" && scaleWord.MatchString(words[i]+"mm"):
			known, n, v = true, 2, variant{words[i] + "mm", strong}
		case numberWord.MatchString(words[i]):
			known, v = true, variant{"", neutral}
		}
		parts = append(parts, part{words[i : i+n], v, known})
		i += n
	}
	return parts
}

// without removes the words of the name above from those of a name, if they are at its beginning or
// at its end: "Dragon Supported" in "Dragon" is "Supported".
func without(words, above []string) []string {
	if len(above) == 0 || len(words) <= len(above) {
		return words
	}
	if rest, ok := cutWords(words, above); ok {
		return rest
	}
	if n := len(words) - len(above); strings.Join(words[n:], " ") == strings.Join(above, " ") {
		return words[:n]
	}
	return words
}

func cutWords(words, prefix []string) (rest []string, ok bool) {
	if len(words) < len(prefix) || strings.Join(words[:len(prefix)], " ") != strings.Join(prefix, " ") {
		return words, false
	}
	return words[len(prefix):], true
}

// partOf returns how certain the name of a folder shows that it is a part of the folder above; 0 if
// it has other words than those of variants.
func partOf(name, above string) strength {
	own := split(name)
	rest := without(own, split(above))
	best := strength(0)
	for _, p := range parse(rest) {
		if !p.known {
			return 0
		}
		best = max(best, p.strength)
	}
	return best
}

// labels returns the variants that a name shows, in their order.
func labels(name, above string, least strength) (found []string) {
	for _, p := range parse(without(split(name), split(above))) {
		if p.known && p.label != "" && p.strength >= least {
			found = append(found, p.label)
		}
	}
	return found
}

// stem returns the words of a name without those of variants, pictures and, in a name of a picture,
// numbers at its end. It is the same for the files and folders of one thing.
func stem(name string, picture bool) string {
	var kept []string
	parts := parse(split(name))
	for len(parts) > 0 {
		last := parts[len(parts)-1]
		variant := last.known && (last.strength >= format || last.strength == neutral && !isNumber(last.words))
		if !variant && (!picture || !last.known || last.strength != neutral) {
			break
		}
		parts = parts[:len(parts)-1]
	}
	for _, p := range parts {
		if !p.known || p.strength < strong || p.label == "" {
			kept = append(kept, p.words...)
		}
	}
	return strings.Join(kept, " ")
}

func isNumber(words []string) bool { return len(words) == 1 && numberWord.MatchString(words[0]) }
