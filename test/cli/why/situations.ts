/** All situations in which `why` is asked, by what they are about. */
import { BUSY } from './busy';
import { ENDED, LEAVING } from './ends';
import { GRANTED } from './grants';
import { LATE } from './late';
import { LINGERING } from './lingering';
import { OUTSIDE } from './outside';
import { QUOTAS } from './quotas';
import { DEPENDENCIES, HELD } from './settings';
import type { Situation } from './situation';
import { UNSATISFIABLE } from './unsatisfiable';
import { World } from './world';

export const SITUATIONS: readonly Situation[] = [
  ...BUSY,
  ...LATE,
  ...UNSATISFIABLE,
  ...QUOTAS,
  ...DEPENDENCIES,
  ...HELD,
  ...OUTSIDE,
  ...GRANTED,
  ...LEAVING,
  ...LINGERING,
  ...ENDED,
];

/** Runs the controller until the situation has come. */
export async function arranged({ arrange, kinds }: Situation): Promise<World> {
  const world = await World.start(kinds);
  await arrange(world);
  await world.settle();
  return world;
}
