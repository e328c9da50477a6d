#!/bin/sh
# systemd's own opinion of the units, the service's command being the one that was built.
#
#   check_units.sh STEELYARD SERVICE TIMER
command -v systemd-analyze >/dev/null || exit 77
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
sed "s|^ExecStart=\"[^\"]*\"|ExecStart=\"$(realpath "$1")\"|" "$2" >"$folder/steelyard-reprofile.service"
cp "$3" "$folder" || exit 1
grep -q "^ExecStart=\"/.*\" reprofile --if-older-than 7d" "$folder/steelyard-reprofile.service" || exit 1
mkdir -m 700 "$folder/runtime"
export XDG_RUNTIME_DIR="$folder/runtime" HOME="$folder"
# It does not always tell by its exit code what it has printed about a file.
systemd-analyze verify --user --man=no "$folder"/steelyard-reprofile.* >"$folder/said" 2>&1
code=$?
cat "$folder/said"
[ $code = 0 ] && ! grep -q "$folder" "$folder/said"
