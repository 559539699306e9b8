#!/bin/sh
# Replaces flux in tests: records every call as one line with all arguments in <>, and does what the scripts wait for.
# FAKE_EXIT is the exit code of the user's job. A broker ignores FAKE_DEAF signals, and needs FAKE_ENDS seconds to end.
{ for word in "$@"; do printf '<%s>' "$word"; done; printf '\n'; } >>"$CALLS"
case "$1 ${2:-}" in
'config builtin') echo /usr/etc/flux/shell/initrc.lua ;;
'R encode') echo '{"version":1}' ;;
'R decode') echo "${FAKE_CORES:-4}" ;;
'getattr rank') echo "$FAKE_RANK" ;;
'module list') echo "$FAKE_MODULES" ;;
'module load') case " $FAKE_INSTALLED " in *" $3 "*) ;; *) exit 1 ;; esac ;;
'batch '*) echo f23 ;;
'job attach') exit "${FAKE_EXIT:-0}" ;;
'submit '*) exit "${FAKE_EXIT:-0}" ;;
'broker '*)
  shift
  none=''
  for option in "$@"; do
    case $option in
    -Scontent.dump=*.tar | -Scontent.dump=*.tar.gz) echo dumped >"${option#-Scontent.dump=}" ;;
    -Scontent.dump=*) echo "No such format '${option#-Scontent.dump=}'" >&2; exit 1 ;;
    esac
  done
  while [ $# -gt 0 ]; do
    case $1 in -Sbroker.rc2_none) none=yes; shift ;; -*) shift ;; *) break ;; esac
  done
  if [ $# -gt 0 ]; then "$@"; exit; fi
  [ "${FAKE_WORKER:-}" = '' ] || [ -n "$none" ] || exit "$FAKE_WORKER"
  deaf=${FAKE_DEAF:-0} ends=''
  trap 'echo TERM >>"$CALLS.signals"; deaf=$((deaf - 1)); [ "$deaf" -ge 0 ] || ends=yes' TERM
  echo up >>"$CALLS.up"
  while [ "$ends" = '' ]; do sleep 0.05; done
  left=$((20 * ${FAKE_ENDS:-0}))
  while [ $((left -= 1)) -ge 0 ]; do sleep 0.05; done
  exit 0
  ;;
esac
