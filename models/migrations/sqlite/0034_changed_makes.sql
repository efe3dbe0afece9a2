-- When a make or its list of files last changed; null: not since it was created.
ALTER TABLE makes ADD COLUMN modified_at TEXT;
