#!/usr/bin/env bash
# Draws the pictures of the documents, docs/pictures/*.svg, from their sources, with Graphviz as WebAssembly (needs Node).
# `pictures.sh --check` only compares: each picture carries the hash of its source and of the program that draws it.

. "$(dirname "$0")/lib.sh"

folder=docs/pictures
hash_of() { cat "$1" $folder/draw.mjs $folder/package.json | sha256sum | cut -c1-64; }

if [ "${1:-}" = --check ]; then
    bad=0
    for source in "$folder"/*.dot; do
        picture=${source%.dot}.svg
        grep -qsF "source: $(hash_of "$source")" "$picture" ||
            { echo "error: $picture is not drawn from $source as it is now: run make pictures and commit it"; bad=1; }
    done
    for picture in "$folder"/*.svg; do
        [ -e "${picture%.svg}.dot" ] || { echo "error: $picture has no source ${picture%.svg}.dot: remove the picture or add its source"; bad=1; }
    done
    [ "$bad" -eq 0 ] && echo "the pictures of $folder are those of their sources"
    exit "$bad"
fi

have npm || stop "missing: Node with npm (bash scripts/setup.sh web)"
place=$TARGET/pictures
mkdir -p "$place"
if ! cmp -s "$folder/package-lock.json" "$place/installed"; then
    cp "$folder/package.json" "$folder/package-lock.json" "$place"
    npm --prefix "$place" ci --silent --no-audit --no-fund
    cp "$folder/package-lock.json" "$place/installed"
fi
jobs=()
for source in "$folder"/*.dot; do jobs+=("$(hash_of "$source")=$source"); done
node "$folder/draw.mjs" "$(cd "$place" && pwd)" "${jobs[@]}"
say "drawn: ${#jobs[@]} pictures in $folder"
