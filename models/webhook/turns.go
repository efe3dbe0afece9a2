package webhook

import "sync"

// deliveryTurns records the webhooks to which this process is sending messages, so that only one
// goroutine at a time sends to each.
type deliveryTurns struct {
	mu    sync.Mutex
	again map[int64]bool // whether to look for messages again, by webhook
}

// begin reports whether the caller may send messages to a webhook. If another goroutine is already
// sending, begin returns false, and that goroutine will look for messages again.
func (t *deliveryTurns) begin(id int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.again[id]; ok {
		t.again[id] = true
		return false
	}
	if t.again == nil {
		t.again = make(map[int64]bool)
	}
	t.again[id] = false
	return true
}

// end ends the caller's turn and returns false. If begin was called for the webhook in the
// meantime, it returns true instead: the turn continues, and the caller must look for messages
// again.
func (t *deliveryTurns) end(id int64) (again bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if again = t.again[id]; again {
		t.again[id] = false
	} else {
		delete(t.again, id)
	}
	return again
}

// drop ends the caller's turn in any case.
func (t *deliveryTurns) drop(id int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.again, id)
}
