# shellcheck shell=sh
# Functions of start.sh and sidecar.sh, which source it with the folder of the scripts in $here and the folder of the
# container's user scripts in $user_scripts.

here=${here:?} user_scripts=${user_scripts:?}
# The settings.sh of the cluster overwrites these defaults.
mount='' view='' quiet='' strict='' socket='' python_path=''
# shellcheck source=/dev/null
. "$here/cluster/settings.sh"
config=$mount/config
shell=$(command -v bash || command -v sh)
export shell

say() { [ "$quiet" = yes ] || printf 'MiniCluster: %s\n' "$*" >&2; }

fail() {
  printf 'MiniCluster: %s\n' "$*" >&2
  exit 1
}

# Runs a user script in this shell, so that the variables that it exports are kept.
run_script() {
  [ -e "$user_scripts/$1.sh" ] || return 0
  if [ "$strict" = yes ]; then
    block=$1 failed=''
    trap 'failed=$?; [ "$failed" = 0 ] || printf "MiniCluster: %s failed with code %s\n" "$block" "$failed" >&2' EXIT
    # shellcheck disable=SC3040 # only shells that have pipefail run it
    if (set -o pipefail) 2>/dev/null; then set -eo pipefail; else set -e; fi
  fi
  # shellcheck source=/dev/null
  . "$user_scripts/$1.sh"
  set +e
  trap - EXIT
}

# In quiet mode the output of user scripts is hidden, their errors are not.
run_script_quietly() {
  if [ "$quiet" = yes ]; then run_script "$1" >/dev/null; else run_script "$1"; fi
}

# Finds Flux in the image first, then in the view. Flux from the view needs the Python modules of the view.
find_flux() {
  if [ "$view" = yes ]; then PATH=$PATH:$mount/view/bin; fi
  PATH=$PATH:/usr/local/bin:/opt/flux/bin
  export PATH
  case ${HOME:-/} in
  /) export HOME="$config/home" ;;
  esac
  # A sidecar may have another user than the broker, and creates these folders first. As in /tmp, each keeps what it has there.
  # shellcheck disable=SC2174 # both folders are named
  (umask 0 && mkdir -p -m 1777 "$config" "$config/home") ||
    fail "cannot write to $mount; make it a volume that the user of the container can write to"
  flux=$(command -v flux) || fail "flux is neither in PATH nor in $mount/view"
  case $flux in
  "$mount"/*)
    for modules in "$mount"/view/lib/python3*/site-packages; do
      [ -d "$modules" ] || [ -n "$python_path" ] || continue
      export PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}${python_path:-$modules}"
    done
    ;;
  esac
  export fluxsocket="$socket"
}

# Runs a command and forwards SIGTERM to it, which a shell with a command in the foreground does not do.
# $code is then its exit code; $terminated is set if SIGTERM came.
# shellcheck disable=SC2034 # start.sh and sidecar.sh read them
child='' terminated='' code=0
stop_child() { kill -TERM "$child" 2>/dev/null || :; }
trap 'terminated=yes; [ -z "$child" ] || stop_child' TERM
run() {
  code=0
  "$@" &
  child=$!
  [ -z "$terminated" ] || stop_child
  wait "$child" || code=$?
  # A signal interrupts `wait` while the command is still running.
  # shellcheck disable=SC2034
  while kill -0 "$child" 2>/dev/null; do
    code=0
    wait "$child" || code=$?
  done
  child=''
}
