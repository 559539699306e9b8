#!/bin/sh
# The init container: copies Flux out of its image to where the other containers find it.
target=$1
for found in /opt/views/._view/*/ /opt/view/; do
  [ -x "${found}bin/flux" ] || continue
  mkdir -p "$target/view" && cp -Rf "$found." "$target/view/" || exit
  [ ! -d /opt/software ] || cp -Rf /opt/software/. /flux_software/ || exit
  exit 0
done
echo "MiniCluster: no view of Flux in this image; the next container must bring its own" >&2
