/** Says when a graph is too large for flux-sched's library. */
import { LIBRARY_UNITS } from '../../../constructs/api/library-size';
import type { GraphNode } from '../../resources/types';
import type { FluxionLog } from '../engine';

export class SizeWarning {
  private wasTooLarge = false;

  constructor(private readonly log: FluxionLog) {}

  /** Warns each time that the graph has become too large, and not of each node that follows. */
  check(nodes: Iterable<Pick<GraphNode, 'units'>>): void {
    let units = 0;
    for (const node of nodes) for (const type in node.units) units += node.units[type]!;
    const isTooLarge = units > LIBRARY_UNITS;
    if (isTooLarge && !this.wasTooLarge)
      this.log.warn(
        { units, keepsUp: LIBRARY_UNITS },
        "flux-sched's library is too slow for so many units: choose the embedded engine, or larger units",
      );
    this.wasTooLarge = isTooLarge;
  }
}
