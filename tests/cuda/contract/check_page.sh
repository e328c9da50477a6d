#!/bin/sh
# check_page.sh DRIVER_CONTRACT PAGE: the page lists exactly the checks that there are.
set -eu
listed=$(mktemp) page=$(mktemp)
trap 'rm -f "$listed" "$page"' EXIT
"$1" --list | cut -f1 | sort >"$listed"
sed -n 's/^| `\([a-z.-]*\)` | .* | .* |$/\1/p' "$2" | sort >"$page"
[ -s "$listed" ] && diff "$listed" "$page"
