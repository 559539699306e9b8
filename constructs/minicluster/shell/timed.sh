#!/bin/sh
# How long a command takes: GNU time where the image has it, else to the second.
label=$1
shift
if [ -x /usr/bin/time ]; then exec /usr/bin/time -f "FLUXTIME $label wall time %E" "$@"; fi
began=$(date +%s)
"$@"
code=$?
took=$(($(date +%s) - began))
printf 'FLUXTIME %s wall time %d:%02d\n' "$label" $((took / 60)) $((took % 60)) >&2
exit "$code"
