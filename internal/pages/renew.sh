#!/bin/sh
# Fetches the npm package that the reference is made of and copies its built files into assets. Run it as `go generate` in this folder. To take
# another version, change it here and in assets/README.md, read what changed in its list of licences, and write the new sums, once read and
# trusted, with
#   cd assets && sha256sum swagger-ui* > SHA256SUMS
# The package is packed and not installed: what it depends on reports installations to a third party, and none of that is in the built files.
set -eu
cd "$(dirname "$0")/assets"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

archive=$(npm pack --silent --pack-destination "$scratch" swagger-ui-dist@5.35.0)
tar -xzf "$scratch/$archive" -C "$scratch"
for file in swagger-ui-bundle.js swagger-ui.css; do
	install -m 644 "$scratch/package/$file" "$file"
done

sha256sum -c SHA256SUMS
