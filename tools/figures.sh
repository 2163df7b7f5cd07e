#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts measured figures into the file that documents are compared with; others in it stay.
#   tools/figures.sh RECORDS FILE COMMAND
# RECORDS/TRACK.CHECK.txt hold lines "ok SHOW name value unit goal op bound"; see tests/show.
set -euo pipefail
records=$1 file=$2 command=$3
new=$(mktemp)
trap 'rm -f "$new"' EXIT
for record in "$records"/*.txt; do
  [ -f "$record" ] || continue
  track=$(basename "$record")
  awk -v track="${track%%.*}" -v date="$(date -u +%F)" -v command="$command" '
    { goal = $7 == "none" ? "none" : $7 " " $8
      printf "  {\"name\": \"%s.%s\", \"value\": %s, \"unit\": \"%s\", \"goal\": \"%s\", ", track, $3, $4, $5, goal
      printf "\"date\": \"%s\", \"command\": \"%s\"}\n", date, command }' "$record"
done >"$new"
[ -s "$new" ] || exit 0
# The later of two lines about one figure stays.
{ grep '^  {"name"' "$file" 2>/dev/null | sed 's/,$//' || true; cat "$new"; } |
  awk -F'"' '{ line[$4] = $0 } END { for (name in line) print line[name] }' | LC_ALL=C sort |
  awk 'BEGIN { print "{\"format_version\": 1, \"figures\": [" } NR > 1 { print last "," }
    { last = $0 } END { print last; print "]}" }' >"$file.new"
mv "$file.new" "$file"
