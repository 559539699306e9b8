#!/bin/sh
# Measures how long a command takes, with GNU time if the image has it, otherwise in whole seconds.
label=$1
shift
if [ -x /usr/bin/time ]; then exec /usr/bin/time -f "FLUXTIME $label wall time %E" "$@"; fi
began=$(date +%s)
"$@"
code=$?
took=$(($(date +%s) - began))
printf 'FLUXTIME %s wall time %d:%02d\n' "$label" $((took / 60)) $((took % 60)) >&2
exit "$code"
