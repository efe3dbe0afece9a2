#!/bin/sh
# Downloads the npm packages that GraphiQL consists of and copies their built files into assets. Run it as `go generate` in this folder. To use
# other versions, change them here and in assets/README.md. Review the new files, and then update the checksums:
#   cd assets && sha256sum *.min.* plugin-explorer.* > SHA256SUMS
set -eu
cd "$(dirname "$0")/assets"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Copies a file of a package: take PACKAGE VERSION FILE-IN-PACKAGE NEW-NAME
take() {
	folder="$scratch/$1@$2"
	if [ ! -d "$folder" ]; then
		mkdir -p "$folder"
		archive=$(npm pack --silent --pack-destination "$scratch" "$1@$2")
		tar -xzf "$scratch/$archive" -C "$folder"
	fi
	install -m 644 "$folder/package/$3" "$4"
}

take graphiql 4.1.2 graphiql.min.js graphiql.min.js
take graphiql 4.1.2 graphiql.min.css graphiql.min.css
take react 18.3.1 umd/react.production.min.js react.production.min.js
take react-dom 18.3.1 umd/react-dom.production.min.js react-dom.production.min.js
take @graphiql/plugin-explorer 4.0.6 dist/index.umd.js plugin-explorer.umd.js
take @graphiql/plugin-explorer 4.0.6 dist/style.css plugin-explorer.css

sha256sum -c SHA256SUMS
