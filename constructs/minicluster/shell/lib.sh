# shellcheck shell=sh
# What start.sh and sidecar.sh share. Sourced by them, with $here the folder and $block the container's blocks.

here=${here:?} block=${block:?}
# Overwritten by settings.sh, which is made for each cluster.
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

# A block of the user's runs in this shell, so that what it exports lasts.
block() {
  [ -e "$block/$1.sh" ] || return 0
  if [ "$strict" = yes ]; then
    # shellcheck disable=SC3040 # where the shell has it
    if (set -o pipefail) 2>/dev/null; then set -eo pipefail; else set -e; fi
  fi
  # shellcheck source=/dev/null
  . "$block/$1.sh"
  set +e
}

# Quiet hides what blocks print, not what they complain about.
quiet_block() {
  if [ "$quiet" = yes ]; then block "$1" >/dev/null; else block "$1"; fi
}

# The image's own Flux comes first, then the view's; a Python of the view's needs the view's modules.
find_flux() {
  if [ "$view" = yes ]; then PATH=$PATH:$mount/view/bin; fi
  PATH=$PATH:/usr/local/bin:/opt/flux/bin
  export PATH
  case ${HOME:-/} in
  /) export HOME="$config/home" ;;
  esac
  mkdir -p "$config/home" || fail "can't write to $mount; it must be a volume this user may write to"
  flux=$(command -v flux) || fail "there is no flux in PATH, and no view of it in $mount/view"
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

# Runs a command so that SIGTERM reaches it: a shell that waits in the foreground would keep it to itself.
# Leaves the exit code in $code; $terminated says that we were told to go.
# shellcheck disable=SC2034 # they read it
child='' terminated='' code=0
trap 'terminated=yes; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null || :' TERM
run() {
  code=0
  "$@" &
  child=$!
  [ -z "$terminated" ] || kill -TERM "$child" 2>/dev/null || :
  wait "$child" || code=$?
  # A signal ends `wait` early; what it waited for is still to come.
  # shellcheck disable=SC2034
  while kill -0 "$child" 2>/dev/null; do
    code=0
    wait "$child" || code=$?
  done
  child=''
}
