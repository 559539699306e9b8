#!/bin/sh
# Replaces flux in tests: records every call as one line with all arguments in <>, and does what the scripts wait for.
# FAKE_EXIT is the exit code of the user's job. A broker ignores FAKE_DEAF signals, and needs FAKE_ENDS seconds to end.
# A lead broker ignores signals until the file of the test `calls.go` exists if FAKE_LOADS is set, runs rc1, and runs rc3
# at its end, which fails with FAKE_RC3 or waits for that file with FAKE_HANGS.
{ for word in "$@"; do printf '<%s>' "$word"; done; printf '\n'; } >>"$CALLS"
export FLUX_URI=local:///fake
case "$1 ${2:-}" in
'config builtin')
  case $3 in shell_initrc) echo /usr/etc/flux/shell/initrc.lua ;; *_path) echo "flux modprobe ${3%_path}" ;; esac
  ;;
'setattr content.dump') printf '%s' "$3" >"$CALLS.dump" ;;
'modprobe rc3')
  dump=''
  [ ! -e "$CALLS.dump" ] || dump=$(cat "$CALLS.dump")
  rm -f "$CALLS.dump"
  case $dump in
  '') ;;
  *.tar | *.tar.gz) echo dumped >"$dump" ;;
  *) echo "No such format '$dump'" >&2; exit 1 ;;
  esac
  [ -z "${FAKE_HANGS:-}" ] || until [ -e "$CALLS.go" ]; do sleep 0.05 || exit 1; done
  exit "${FAKE_RC3:-0}"
  ;;
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
  none='' rc1=: rc3=: code=0
  while [ $# -gt 0 ]; do
    case $1 in
    -Sbroker.rc2_none) none=yes ;;
    -Sbroker.rc1_path=*) rc1=${1#*=} ;;
    -Sbroker.rc3_path=*) rc3=${1#*=} ;;
    -*) ;;
    *) break ;;
    esac
    shift
  done
  if [ -n "${FAKE_LOADS:-}" ]; then
    trap 'echo TERM >>"$CALLS.signals"' TERM
    echo up >>"$CALLS.up"
    until [ -e "$CALLS.go" ]; do sleep 0.05 || exit 1; done
  fi
  eval "$rc1" || { code=$?; eval "$rc3"; exit "$code"; }
  if [ $# -gt 0 ]; then "$@" || code=$?; eval "$rc3"; exit "$code"; fi
  [ "${FAKE_WORKER:-}" = '' ] || [ -n "$none" ] || exit "$FAKE_WORKER"
  deaf=${FAKE_DEAF:-0} ends=''
  trap 'echo TERM >>"$CALLS.signals"; deaf=$((deaf - 1)); [ "$deaf" -ge 0 ] || ends=yes' TERM
  echo up >>"$CALLS.up"
  while [ "$ends" = '' ]; do sleep 0.05 || exit 1; done
  left=$((20 * ${FAKE_ENDS:-0}))
  while [ $((left -= 1)) -ge 0 ]; do sleep 0.05 || exit 1; done
  eval "$rc3"
  exit 0
  ;;
esac
