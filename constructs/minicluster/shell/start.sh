#!/bin/sh
# One broker of a MiniCluster. Pod 0 runs the lead broker with the command and exits with its exit code. The other pods
# are workers until they are terminated. The files of one cluster are in cluster/ and runner/.
here=${0%/*}
user_scripts=$here/runner
# User scripts may require bash, so bash runs everything if the image has it.
if [ -z "${BASH_VERSION:-}" ] && command -v bash >/dev/null; then exec bash "$0" "$@"; fi
certificate='' run='' affinity='' timed='' logs='' resources='' gpus='' leads='' report='' beside='' domain='' hosts='' hostname='' joins='' complete='' archive='' dump=''
# shellcheck source=lib.sh
. "$here/lib.sh"
rank=${JOB_COMPLETION_INDEX:?must be the index of this pod}

# The broker refuses a certificate that other users can read. In a mounted Secret that is always so, except for root.
place_certificate() {
  [ -n "$certificate" ] || return 0
  (
    umask 077
    cat "$certificate" >"$run/curve.cert.new" && chmod 0400 "$run/curve.cert.new" &&
      mv -f "$run/curve.cert.new" "$run/curve.cert"
  ) || fail "cannot read the certificate $certificate"
  ln -sf "$run/curve.cert" "$config/curve/curve.cert"
}

# Files for interactive shells: the environment of Flux, and a shell that is connected to the instance.
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

# Without CPU amounts in the spec, the resources of this node stand for those of all pods, including later ones.
write_resources() {
  [ "$resources" = local ] || return 0
  options=--local
  if [ -n "$gpus" ]; then
    # Devices of a pod are not always discovered, and Flux does not combine --local with --gpus.
    cores=$(flux R encode --local | flux R decode --count=core)
    case $cores in '' | 0 | 1) cores=0 ;; *) cores=0-$((cores - 1)) ;; esac
    options="--cores=$cores --gpus=$gpus"
  fi
  # shellcheck disable=SC2086 # two options without spaces
  flux R encode $options --hosts="$hosts" >"$config/etc/flux/system/R" || fail "cannot discover the resources of this node"
}

# By default Flux pins the first task of every pod to the first core of the node.
release_cores() {
  [ "$affinity" != yes ] || return 0
  builtin=$(flux config builtin shell_initrc) || return 0
  printf 'source("%s")\nif shell.options["cpu-affinity"] == nil then shell.options["cpu-affinity"] = "off" end\n' \
    "$builtin" >"$config/initrc.lua"
}

# Replaces the function of lib.sh. A broker ignores SIGTERM while it loads its first modules. A worker gets it until it is
# gone. A second signal would cut the end of the jobs and the dump of the lead broker short, so it gets one, and rc.sh
# ends it if it came too early. Without a dump, rc3 only unloads modules; it hangs if Fluxion still waits for workers.
stop_child() {
  [ -z "$leads" ] || : >"$notes/terminated"
  (
    left=2
    while kill -TERM "$child" && sleep 1; do
      while [ -n "$leads" ] && kill -0 "$child" && sleep 1; do
        if [ ! -e "$notes/rc3-began" ] || { [ -e "$notes/dump" ] && [ -e "$notes/rc1-done" ]; }; then continue; fi
        left=$((left - 1))
        [ "$left" -gt 0 ] || kill -KILL "$child"
      done
    done
  ) >/dev/null 2>&1 &
}

# Waits until the instance accepts jobs. Brokers do not wait for what runs beside them, and stay up.
wait_instance() {
  while kill -0 $$ && [ ! -e "$notes/rc1-done" ]; do sleep 1; done
  FLUX_URI=$(cat "$notes/rc1-done") && export FLUX_URI
}

# The numbers of jobs and resources, for status.flux.
run_report() {
  wait_instance || return
  [ "$quiet" != yes ] || exec 2>/dev/null
  flux python "$here/report.py" "$here/cluster/report.json" "$report" || say "the report to the controller ended with code $?"
}

# The command of an interactive cluster.
run_beside() {
  wait_instance || return
  command_beside
  say "the command exited with code $?; the cluster is interactive and stays up until it is shut down"
}

lead() {
  run_script_quietly brokerPre
  say "starting the lead broker: $*"
  leads=yes
  began=$(date +%s)
  [ -z "$beside" ] || run_beside &
  [ -z "$report" ] || run_report &
  [ -n "$terminated" ] || run "$@"
  took=$(($(date +%s) - began))
  [ "$timed" != yes ] || printf 'FLUXTIME fluxstart wall time %d:%02d\n' $((took / 60)) $((took % 60)) >&2
  # An incomplete dump must not replace the last complete one.
  [ -n "$dump" ] || return 0
  if [ -e "$notes/rc3-done" ] && [ -e "$dump" ]; then mv -f "$dump" "$archive"; else say "the state was not saved to $archive"; fi
}

# Kubernetes never replaces a pod that succeeded, and a restarted lead broker needs its workers: they stay until they are
# terminated.
work() {
  run_script_quietly workerPre
  say "starting a worker broker: $*"
  while [ -z "$terminated" ]; do
    run "$@"
    if [ "$complete" = yes ] || { [ "$joins" = yes ] && [ "$code" = 0 ]; }; then return; fi
    [ -n "$terminated" ] || say "the broker exited with code $code; restarting it in 1s"
    run sleep 1
  done
}

run_script_quietly init
find_flux
notes=$config/run/lead
rm -rf "$config"/run/flux/local* "$notes"
mkdir -p "$config/curve" "$config/etc/flux/system" "$config/run/flux" "$config/var/lib/flux" "$notes" ||
  fail "cannot write to $config; let the user of the container own it, or give the cluster an empty volume"
if [ -n "$logs" ]; then
  export FLUX_OUTPUT_DIR="$logs"
  mkdir -p "$logs" || fail "cannot create $logs for the output of jobs"
fi
place_certificate
write_environment
write_resources
release_cores
run_script_quietly pre

# broker.sh sets the arguments to the broker and its options.
# shellcheck source=/dev/null
. "$here/cluster/broker.sh"
[ ! -e "$config/initrc.lua" ] || set -- "$@" "-Sconf.shell_initrc=$config/initrc.lua"
# With hostNetwork the host name is that of the node, but ranks are assigned by the names of the pods, or their DNS names.
if [ "$hostname" = pod ]; then
  export FLUX_FAKE_HOSTNAME="${name:?}-$rank$domain"
  set -- "$@" "-Shostname=$FLUX_FAKE_HOSTNAME"
fi

if [ "$rank" = 0 ] && [ "$joins" != yes ]; then
  if [ -n "$archive" ]; then
    [ ! -e "$archive" ] || set -- "$@" "-Scontent.restore=$archive"
    # Flux chooses the format by the extension of the file and refuses one that it does not know.
    case $archive in
    *.tar | *.tgz | *.tar.gz | *.tar.bz2 | *.tar.xz) dump=${archive%/*}/new-${archive##*/} ;;
    *) dump=$archive.new.tar ;;
    esac
    printf '%s' "$dump" >"$notes/dump"
  fi
  for phase in rc1 rc3; do set -- "$@" "-Sbroker.${phase}_path='$shell' '$here/rc.sh' $phase '$notes'"; done
  # shellcheck source=/dev/null
  . "$here/cluster/lead.sh"
  lead "$@"
else
  work "$@"
fi
ended=$code
run_script post
# A terminated pod must not exit with 0, because Kubernetes would never replace it.
[ -z "$terminated" ] || ended=143
exit "$ended"
