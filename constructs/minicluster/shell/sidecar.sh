#!/bin/sh
# A container beside the broker: the user's command, once Flux can be reached.
here=${0%/*}
block=$here/sidecars/$1
if [ -z "${BASH_VERSION:-}" ] && command -v bash >/dev/null; then exec bash "$0" "$@"; fi
wait_socket=''
# shellcheck source=lib.sh
. "$here/lib.sh"

quiet_block init
# A sidecar may do without Flux.
(find_flux 2>/dev/null) && find_flux
export fluxsocket="$socket"
quiet_block servicePre
if [ "$wait_socket" = yes ]; then
  while [ -z "$terminated" ] && [ ! -S "$config/run/flux/local" ]; do run sleep 1; done
fi
# Main programs stand in either.
for main in command post; do
  if [ -n "$terminated" ] || [ ! -e "$block/$main.sh" ]; then continue; fi
  run "$shell" "$block/$main.sh"
  [ "$code" = 0 ] || [ -n "$terminated" ] || exit "$code"
done
# Done: ended, it would be started again.
while [ -z "$terminated" ]; do run sleep 3600; done
exit 0
