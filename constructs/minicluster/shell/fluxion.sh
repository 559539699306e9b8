#!/bin/sh
# Run by Flux in rc1: loads Fluxion where it is installed and Flux has not loaded it by itself (views, older releases).
[ "$(flux getattr rank)" = 0 ] || exit 0
case $(flux module list) in
*sched-fluxion-qmanager*) exit 0 ;;
esac
flux module load sched-fluxion-resource 2>/dev/null || exit 0
flux module remove -f sched-simple
# Older releases have no such module.
flux module load sched-fluxion-feasibility 2>/dev/null || :
exec flux module load sched-fluxion-qmanager
