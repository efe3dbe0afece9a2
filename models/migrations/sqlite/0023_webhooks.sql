-- Webhooks, and the log of their deliveries, which is also the queue of waiting deliveries.
CREATE TABLE webhooks (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id         INTEGER NOT NULL REFERENCES users (id),
    is_global        INTEGER NOT NULL DEFAULT 0, -- receives the events of all users
    url              TEXT NOT NULL,
    description      TEXT NOT NULL DEFAULT '',
    events           TEXT NOT NULL, -- the event types, separated by spaces
    secret           TEXT NOT NULL, -- whsec_…; not hashed, because it is needed to sign messages
    old_secret       TEXT NOT NULL DEFAULT '', -- the previous secret, which also signs messages until old_secret_until
    old_secret_until TEXT,
    failing_since    TEXT, -- the first failure after the last success
    disabled_at      TEXT,
    disabled_reason  TEXT NOT NULL DEFAULT '',
    created_at       TEXT NOT NULL,
    modified_at      TEXT NOT NULL
);
CREATE INDEX webhooks_owner ON webhooks (owner_id, id);
CREATE INDEX webhooks_global ON webhooks (id) WHERE is_global;

CREATE TABLE webhook_deliveries (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id      INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    message_id      TEXT NOT NULL,
    event           TEXT NOT NULL,
    payload         TEXT NOT NULL, -- the body that is signed and sent
    state           TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
    attempts        INTEGER NOT NULL DEFAULT 0,
    status_code     INTEGER NOT NULL DEFAULT 0, -- of the last attempt; 0: no response
    error           TEXT NOT NULL DEFAULT '', -- of the last attempt
    next_attempt_at TEXT, -- during an attempt: the time after which the attempt is considered lost
    attempted_at    TEXT,
    created_at      TEXT NOT NULL
);
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_state ON webhook_deliveries (webhook_id, state, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_created ON webhook_deliveries (created_at);
