#!/bin/sh
# The init container: copies Flux from its image to the volume that the other containers mount.
target=$1
for found in /opt/views/._view/*/ /opt/view/; do
  [ -x "${found}bin/flux" ] || continue
  mkdir -p "$target/view" && cp -Rf "$found." "$target/view/" || exit
  [ ! -d /opt/software ] || cp -Rf /opt/software/. /flux_software/ || exit
  exit 0
done
echo "MiniCluster: this image has no view of Flux; the image of the next container must have Flux" >&2
