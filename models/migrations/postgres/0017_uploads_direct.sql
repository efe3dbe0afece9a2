-- Whether clients may send parts to S3 directly, so that the hashes of the bytes are not known.
ALTER TABLE uploads ADD COLUMN direct boolean NOT NULL DEFAULT false;
