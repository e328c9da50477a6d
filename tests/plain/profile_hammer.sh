#!/bin/sh
# Runs profile_hammer in a fresh folder: two processes with 1,000 updates each, then two with two
# threads each. Usage: profile_hammer.sh PROGRAM
set -u
folder=$(mktemp -d "${TMPDIR:-.}/profile-hammer-XXXXXX") || exit 2
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/one" "$folder/two"
"$1" "$folder/one" 2 1 1000 && "$1" "$folder/two" 2 2 200
