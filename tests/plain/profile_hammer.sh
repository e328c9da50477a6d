#!/bin/sh
# Runs profile_hammer in a fresh folder: two processes with so many updates each, then two with two
# threads and a fifth of them each. Usage: profile_hammer.sh PROGRAM UPDATES
set -u
folder=$(mktemp -d "${TMPDIR:-.}/profile-hammer-XXXXXX") || exit 2
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/one" "$folder/two"
"$1" "$folder/one" 2 1 "$2" && "$1" "$folder/two" 2 2 $(($2 / 5))
