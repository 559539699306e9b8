#!/bin/sh
# The lead broker runs this script as its rc1 and its rc3. It runs those of Flux, and notes for start.sh how far they came.
phase=$1 notes=$2
# A broker ignores SIGTERM before rc1, so rc1 of a pod that was terminated by then fails, which ends the broker.
if [ "$phase" = rc1 ] && [ -e "$notes/terminated" ]; then exit 1; fi
: >"$notes/$phase-began"
program=$(flux config builtin "${phase}_path") && eval "$program" || exit
# A broker that did not start completely must not dump what it restored so far.
if [ "$phase" = rc1 ] && [ -e "$notes/dump" ]; then flux setattr content.dump "$(cat "$notes/dump")" || exit; fi
printf '%s' "$FLUX_URI" >"$notes/$phase-done"
