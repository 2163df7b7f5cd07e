#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kills a recording with SIGKILL and finishes it with --recover: at most its last second is lost.
#   recover.sh OMEN
# With OMEN_SHOW_BREAK=1 the log loses its last three seconds before it is recovered.
set -eu
omen=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
now_ns() { awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime; }

"$omen" profile --with telemetry.host --no-plot -q -o "$work/run.omt" --duration 60s &
pid=$!
log=$work/run.omt.partial/recording.log
tries=0
until [ -s "$log" ]; do
  tries=$((tries + 1))
  [ $tries -lt 300 ] || { echo "no log after 30 s"; exit 1; }
  sleep 0.1
done
begin=$(now_ns)
sleep 3
[ -z "${OMEN_SHOW_BREAK:-}" ] || cp "$log" "$work/early.log"
sleep 3
kill -9 $pid
end=$(now_ns)
wait $pid 2>/dev/null || true
[ -z "${OMEN_SHOW_BREAK:-}" ] || cp "$work/early.log" "$log"

"$omen" profile --no-plot -q --recover "$work/run.omt" -o "$work/run.csv"
[ ! -e "$work/run.omt.partial" ] || { echo "the log was not taken away"; exit 1; }
awk -F, -v lived=$((end - begin)) '
  NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
  $at["t_ns"] > last { last = $at["t_ns"] }
  END {
    lost = (lived - last) * 1e-9
    printf "SHOW recover_lost_seconds %.3f s goal <= 1\n", lost
    printf "SHOW recover_kept_rows %d rows goal > 0\n", NR - 1
    exit !(lost <= 1 && NR > 1)
  }' "$work/run.csv"
