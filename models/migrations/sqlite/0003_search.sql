-- The search index: the words of each object by the field in which they occur, and a vocabulary of all words that have ever occurred, from
-- which misspelled words are corrected. The program folds and splits the words, so the tokenizer only has to keep the marks of scripts that
-- need them.
CREATE VIRTUAL TABLE thing_documents USING fts5 (name, tags, creator, body, content = '', contentless_delete = 1, detail = column, prefix = '2 3', tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'");
CREATE VIRTUAL TABLE make_documents USING fts5 (name, tags, creator, body, content = '', contentless_delete = 1, detail = column, prefix = '2 3', tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'");
CREATE VIRTUAL TABLE user_documents USING fts5 (name, tags, creator, body, content = '', contentless_delete = 1, detail = column, prefix = '2 3', tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'");
CREATE VIRTUAL TABLE collection_documents USING fts5 (name, tags, creator, body, content = '', contentless_delete = 1, detail = column, prefix = '2 3', tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'");

CREATE TABLE vocabulary (
    id   INTEGER PRIMARY KEY,
    noun TEXT NOT NULL CHECK (noun IN ('thing', 'make', 'user', 'collection')),
    word TEXT NOT NULL,
    UNIQUE (noun, word)
);
CREATE VIRTUAL TABLE vocabulary_trigrams USING fts5 (word, content = '', detail = none, tokenize = 'trigram');
CREATE TRIGGER vocabulary_grows AFTER INSERT ON vocabulary BEGIN
    INSERT INTO vocabulary_trigrams (rowid, word) VALUES (new.id, new.word);
END;

CREATE INDEX users_popular ON users (thing_count, id);
CREATE INDEX users_followed ON users (follower_count, id);
CREATE INDEX makes_popular ON makes (like_count, id) WHERE state = 'published';
CREATE INDEX collections_popular ON collections (thing_count, id);
