-- The search index: the words of each object, weighted by the field in which they occur (A name, B tags, C creator, D text), and a
-- vocabulary of all words that have ever occurred, from which misspelled words are corrected.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE TABLE thing_documents (id bigint PRIMARY KEY, words tsvector NOT NULL);
CREATE TABLE make_documents (id bigint PRIMARY KEY, words tsvector NOT NULL);
CREATE TABLE user_documents (id bigint PRIMARY KEY, words tsvector NOT NULL);
CREATE TABLE collection_documents (id bigint PRIMARY KEY, words tsvector NOT NULL);
-- fastupdate is off, because every search would scan the whole pending list of the index.
CREATE INDEX thing_documents_words ON thing_documents USING gin (words) WITH (fastupdate = off);
CREATE INDEX make_documents_words ON make_documents USING gin (words) WITH (fastupdate = off);
CREATE INDEX user_documents_words ON user_documents USING gin (words) WITH (fastupdate = off);
CREATE INDEX collection_documents_words ON collection_documents USING gin (words) WITH (fastupdate = off);

CREATE TABLE vocabulary (
    noun text COLLATE "C" NOT NULL CHECK (noun IN ('thing', 'make', 'user', 'collection')),
    word text COLLATE "C" NOT NULL,
    PRIMARY KEY (noun, word)
);
CREATE INDEX vocabulary_trigrams ON vocabulary USING gin (word gin_trgm_ops);

CREATE INDEX users_popular ON users (thing_count, id);
CREATE INDEX users_followed ON users (follower_count, id);
CREATE INDEX makes_popular ON makes (like_count, id) WHERE state = 'published';
CREATE INDEX collections_popular ON collections (thing_count, id);
