#!/bin/sh
# Downloads the npm package that displays the API reference and copies its built files into assets. Run it as `go generate` in this folder. To
# use another version, change it here and in assets/README.md. Review the new files and the changes in its list of licences, and then update
# the checksums:
#   cd assets && sha256sum swagger-ui* > SHA256SUMS
# The package is downloaded with npm pack and not installed, because a dependency reports installations to a third party. The built files do not
# need the dependencies.
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
