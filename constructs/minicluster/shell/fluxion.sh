#!/bin/sh
# Flux runs this script in rc1. It loads Fluxion if Fluxion is installed and Flux has not loaded it (views, older releases).
[ "$(flux getattr rank)" = 0 ] || exit 0
case $(flux module list) in
*sched-fluxion-qmanager*) exit 0 ;;
esac
flux module load sched-fluxion-resource 2>/dev/null || exit 0
flux module remove -f sched-simple
# Older releases do not have this module.
flux module load sched-fluxion-feasibility 2>/dev/null || :
exec flux module load sched-fluxion-qmanager
