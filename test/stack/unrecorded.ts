import type { RoleProcess } from './roles';

/** How many workloads have no FluxJob on purpose, since the start of the controller. */
export async function unrecorded(controller: RoleProcess): Promise<number> {
  const [, count = '0'] =
    /^fluxqueue_unrecorded_workloads_total (\d+)/m.exec(await controller.metrics()) ?? [];
  return Number(count);
}
