#!/bin/sh
# mark_contract.sh CONTRACT PAGE WHERE: prints docs/driver-contract.md (PAGE) with the state that the
# lines have after a run of driver_contract, whose output is CONTRACT: `verified WHERE` where the
# check held, `fails WHERE` where it did not. What was skipped stays as it is.
set -eu
awk -v where="$3" '
    NR == FNR {
        if ($1 == "ok") state[$2] = "verified " where
        if ($1 == "FAILED") state[$2] = "fails " where
        next
    }
    match($0, /^\| `[a-z.-]+` \|/) {
        id = substr($0, 4, RLENGTH - 6)
        if (id in state)
            sub(/\| [^|]* \|$/, "| " state[id] " |")
    }
    { print }' "$1" "$2"
