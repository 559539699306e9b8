#!/bin/sh
# A container beside the broker: runs the command of the user as soon as the socket of the broker exists.
here=${0%/*}
user_scripts=$here/sidecars/$1
if [ -z "${BASH_VERSION:-}" ] && command -v bash >/dev/null; then exec bash "$0" "$@"; fi
wait_socket=''
# shellcheck source=lib.sh
. "$here/lib.sh"

run_script_quietly init
# A sidecar may run without Flux.
(find_flux 2>/dev/null) && find_flux
export fluxsocket="$socket"
run_script_quietly servicePre
if [ "$wait_socket" = yes ]; then
  while [ -z "$terminated" ] && [ ! -S "$config/run/flux/local" ]; do run sleep 1; done
fi
# Both scripts may contain a program that runs for a long time.
for main in command post; do
  if [ -n "$terminated" ] || [ ! -e "$user_scripts/$main.sh" ]; then continue; fi
  run "$shell" "$user_scripts/$main.sh"
  [ "$code" = 0 ] || [ -n "$terminated" ] || exit "$code"
done
# The kubelet restarts a native sidecar that exits, so it stays until it is terminated.
while [ -z "$terminated" ]; do run sleep 3600; done
exit 0
