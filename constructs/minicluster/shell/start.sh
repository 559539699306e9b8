#!/bin/sh
# One broker of a MiniCluster. Pod 0 leads: it runs the command and ends with its exit code. The other pods
# serve the lead for as long as they are let. What one cluster has of its own is in cluster/ and runner/.
here=${0%/*}
block=$here/runner
# The user's blocks may be written for bash, so it runs all of this where the image has it.
if [ -z "${BASH_VERSION:-}" ] && command -v bash >/dev/null; then exec bash "$0" "$@"; fi
certificate='' run='' affinity='' timed='' logs='' resources='' hosts='' hostname='' joins='' complete='' archive='' dump=''
# shellcheck source=lib.sh
. "$here/lib.sh"
rank=${JOB_COMPLETION_INDEX:?is the number of this pod}

# The broker refuses a certificate that others may read, which a mounted Secret always is for users but root.
place_certificate() {
  [ -n "$certificate" ] || return 0
  (
    umask 077
    cat "$certificate" >"$run/curve.cert.new" && chmod 0400 "$run/curve.cert.new" &&
      mv -f "$run/curve.cert.new" "$run/curve.cert"
  ) || fail "can't read the certificate $certificate"
  ln -sf "$run/curve.cert" "$config/curve/curve.cert"
}

# Files for shells that come later: the environment of Flux, and Flux's own prompt.
write_environment() {
  cat >"$mount/flux-view.sh" <<EOF
export PATH="$PATH"
export PYTHONPATH="${PYTHONPATH:-}"
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}:$mount/view/lib"
export fluxsocket="$socket"
. "$here/cluster/environment.sh"
EOF
  cat >"$mount/flux-connect.sh" <<EOF
. "$mount/flux-view.sh"
exec flux proxy "\$fluxsocket" "\${@:-$shell}"
EOF
}

# Without CPUs of their own in the spec the pods offer their node's, also those that are not there yet.
write_resources() {
  [ "$resources" = local ] || return 0
  flux R encode --local --hosts="$hosts" >"$config/etc/flux/system/R" || fail "can't find out this node's resources"
}

# Flux would pin the first task of every pod to the node's first core.
release_cores() {
  [ "$affinity" != yes ] || return 0
  builtin=$(flux config builtin shell_initrc) || return 0
  printf 'source("%s")\nif shell.options["cpu-affinity"] == nil then shell.options["cpu-affinity"] = "off" end\n' \
    "$builtin" >"$config/initrc.lua"
}

lead() {
  quiet_block brokerPre
  say "this pod leads: $*"
  began=$(date +%s)
  run "$@"
  took=$(($(date +%s) - began))
  [ "$timed" != yes ] || printf 'FLUXTIME fluxstart wall time %d:%02d\n' $((took / 60)) $((took % 60)) >&2
  # A dump that was cut off must not take the place of the last good one.
  if [ -n "$dump" ] && [ -e "$dump" ]; then mv -f "$dump" "$archive"; fi
}

# A worker that ended well would not be replaced any more, also when the lead starts anew: it stays until it is told to go.
work() {
  quiet_block workerPre
  say "this pod works for the lead: $*"
  while [ -z "$terminated" ]; do
    run "$@"
    if [ "$complete" = yes ] || { [ "$joins" = yes ] && [ "$code" = 0 ]; }; then return; fi
    [ -n "$terminated" ] || say "broker left with $code, again in a second"
    run sleep 1
  done
}

quiet_block init
find_flux
mkdir -p "$config/curve" "$config/etc/flux/system" "$config/run/flux" "$config/var/lib/flux"
if [ -n "$logs" ]; then
  export FLUX_OUTPUT_DIR="$logs"
  mkdir -p "$logs" || fail "can't make $logs for the output of jobs"
fi
place_certificate
write_environment
write_resources
release_cores
quiet_block pre

# The arguments become the broker and its options.
# shellcheck source=/dev/null
. "$here/cluster/broker.sh"
[ ! -e "$config/initrc.lua" ] || set -- "$@" "-Sconf.shell_initrc=$config/initrc.lua"
# In the node's network the pod has the node's name; ranks go by the pod's.
if [ "$hostname" = pod ]; then
  export FLUX_FAKE_HOSTNAME="${name:?}-$rank"
  set -- "$@" "-Shostname=$FLUX_FAKE_HOSTNAME"
fi

if [ "$rank" = 0 ] && [ "$joins" != yes ]; then
  if [ -n "$archive" ]; then
    [ ! -e "$archive" ] || set -- "$@" "-Scontent.restore=$archive"
    # Flux finds the format by how the file's name ends, and refuses what it does not know.
    case $archive in
    *.tar | *.tgz | *.tar.gz | *.tar.bz2 | *.tar.xz) dump=${archive%/*}/new-${archive##*/} ;;
    *) dump=$archive.new.tar ;;
    esac
    set -- "$@" "-Scontent.dump=$dump"
  fi
  # shellcheck source=/dev/null
  . "$here/cluster/lead.sh"
  lead "$@"
else
  work "$@"
fi
ended=$code
block post
# Told to go is not done: 0 would count the pod as finished for good.
[ -z "$terminated" ] || ended=143
exit "$ended"
