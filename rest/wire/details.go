package wire

import (
	"encoding/json"
	"slices"
	"strings"
)

// Parts is a list of objects that the server stores and does not interpret, which a response
// completes by the texts of the thing. In GraphQL it is the text of a JSON array.
type Parts string

// UnmarshalJSON reads the text of the array.
func (p *Parts) UnmarshalJSON(b []byte) error {
	var text string
	err := json.Unmarshal(b, &text)
	*p = Parts(text)
	return err
}

// MarshalJSON writes the array.
func (p Parts) MarshalJSON() ([]byte, error) {
	if p == "" {
		return []byte("[]"), nil
	}
	return []byte(p), nil
}

// textPart is a part that the server makes from a text of a thing.
type textPart struct {
	Type     string        `json:"type"`
	Name     string        `json:"name"`
	Required string        `json:"required,omitempty"`
	Data     []partContent `json:"data"`
}

type partContent struct {
	Content string `json:"content"`
}

// textParts returns the parts that are made from the HTML of the description and the instructions
// of a thing. Blank texts have none.
func textParts(description, instructions string) (parts []textPart) {
	if strings.TrimSpace(description) != "" {
		parts = append(parts, textPart{"summary", "Summary", "required", []partContent{{inDiv(description)}}})
	}
	if strings.TrimSpace(instructions) != "" {
		parts = append(parts, textPart{"tips", "Instructions", "", []partContent{{inDiv(instructions)}}})
	}
	return parts
}

func inDiv(html string) string { return "<div>" + html + "</div>" }

// described returns the stored parts and those of the texts of the thing, summary first, because
// clients read the texts from there. A stored part is never changed, and takes the place of one of
// the same type.
func (p Parts) described(description, instructions string) Parts {
	made := textParts(description, instructions)
	if len(made) == 0 {
		return p
	}
	var stored []json.RawMessage
	if p != "" && p != "[]" {
		if json.Unmarshal([]byte(p), &stored) != nil {
			return p
		}
	}
	has := make(map[string]bool, len(stored))
	for _, part := range stored {
		var of struct{ Type any }
		if json.Unmarshal(part, &of) == nil {
			if kind, ok := of.Type.(string); ok {
				has[kind] = true
			}
		}
	}
	all := make([]json.RawMessage, 0, len(stored)+len(made))
	for _, part := range made {
		if has[part.Type] {
			continue
		}
		text, err := json.Marshal(part)
		if err != nil {
			return p // not reached: a string always has an encoding
		}
		all = append(all, text)
	}
	at := 0
	if len(all) > 0 && made[0].Type == "summary" && !has["summary"] {
		at = 1
	}
	text, err := json.Marshal(slices.Insert(all, at, stored...))
	if err != nil {
		return p // not reached: the parts were decoded from JSON
	}
	return Parts(text)
}

// WithoutTextParts returns the parts that a client sends, without those that a response added. They
// are recognized by the HTML beside them: clients send back the complete thing that they received.
// If they were stored, they would stay as they are when the description changes.
func WithoutTextParts(parts []any, descriptionHTML, instructionsHTML string) []any {
	made := textParts(descriptionHTML, instructionsHTML)
	return slices.DeleteFunc(slices.Clone(parts), func(part any) bool {
		sent, ok := part.(map[string]any)
		return ok && slices.ContainsFunc(made, func(m textPart) bool {
			data, _ := sent["data"].([]any)
			if sent["type"] != m.Type || sent["name"] != m.Name || len(data) != 1 {
				return false
			}
			content, _ := data[0].(map[string]any)
			return len(content) == 1 && content["content"] == m.Data[0].Content
		})
	})
}
