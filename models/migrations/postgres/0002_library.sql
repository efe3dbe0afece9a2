-- The folder of the file inside of its thing, such as Supported/32mm. Empty: the top.
ALTER TABLE files ADD COLUMN folder text NOT NULL DEFAULT '';
