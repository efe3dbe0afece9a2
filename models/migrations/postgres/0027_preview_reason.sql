-- Why a preview failed, as a name that clients translate. Those that failed before have none.
ALTER TABLE previews ADD COLUMN reason text NOT NULL DEFAULT '';
