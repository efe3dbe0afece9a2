#!/bin/sh
# Downloads the npm package three and copies the modules that the page loads into assets, at the paths at which they import each other. Run it
# as `go generate` in this folder. To use another version, change it here and in assets/README.md. Review the new files, and then update the
# checksums:
#   cd assets && sha256sum */*.js LICENSE-three.txt | grep -v ' viewer/' > SHA256SUMS
set -eu
cd "$(dirname "$0")/assets"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

archive=$(npm pack --silent --pack-destination "$scratch" three@0.185.1)
tar -xzf "$scratch/$archive" -C "$scratch"

# Copies a file of the package: take FILE-IN-PACKAGE NEW-NAME
take() {
	mkdir -p "$(dirname "$2")"
	install -m 644 "$scratch/package/$1" "$2"
}

take LICENSE LICENSE-three.txt
for name in three.module.min.js three.core.min.js; do
	take "build/$name" "three/$name"
done
for name in controls/OrbitControls.js loaders/GLTFLoader.js utils/BufferGeometryUtils.js utils/SkeletonUtils.js; do
	take "examples/jsm/$name" "$name"
done

sha256sum -c SHA256SUMS
