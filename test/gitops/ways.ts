/** The ways in which the engines bring what Git has to a cluster, with the answers that the scenario counts. */
import { argoCdHealth, fluxCdHealth } from '../../constructs/gitops';
import type { KubeObject } from '../cluster/api';
import type { Engines } from './suite';

export interface Way {
  readonly name: string;
  /** Applies, and deletes what Git had before and has no more; returns the refusals. */
  apply(
    app: string,
    objects: readonly KubeObject[],
    previous: readonly KubeObject[],
  ): Promise<readonly string[]>;
  /** What the engine would change now although nobody changed Git. */
  drift(app: string, objects: readonly KubeObject[]): Promise<readonly string[]>;
}

/** The waves of the stack wait for each other, and a busy machine is slow. */
const SYNC_SECONDS = 300;

const refusals = (error: unknown): readonly string[] => [
  error instanceof Error ? error.message : String(error),
];

function fluxCd({ flux }: Engines): Way {
  return {
    name: 'flux-cd',
    async apply(app, objects, previous) {
      try {
        await flux.run({ op: 'apply', app, objects });
        await flux.run({ op: 'prune', app, objects, previous });
        return [];
      } catch (error) {
        return refusals(error);
      }
    },
    async drift(app, objects) {
      const actions = await flux.run({ op: 'apply', app, objects });
      return Object.entries(actions).flatMap(([object, action]) =>
        action === 'unchanged' ? [] : [`${object} ${action}`],
      );
    },
  };
}

function argoCd({ argo }: Engines, serverSide: boolean): Way {
  return {
    name: serverSide ? 'argo-cd-server-side' : 'argo-cd',
    async apply(app, objects) {
      const lua = argoCdHealth();
      try {
        const command = { op: 'sync', app, objects, serverSide, prune: true, lua } as const;
        const results = await argo.run({ ...command, timeoutSeconds: SYNC_SECONDS });
        return Object.entries(results).flatMap(([object, said]) =>
          said.startsWith('SyncFailed') ? [`${object}: ${said}`] : [],
        );
      } catch (error) {
        return refusals(error);
      }
    },
    async drift(app, objects) {
      // Its diff on the client, its diff by a dry run, and what a second sync changes.
      const found: string[] = [];
      for (const dryRun of [false, true]) {
        const command = { op: 'diff', app, objects, serverSide: dryRun } as const;
        const differences = await argo.run<Record<string, unknown>>(command);
        for (const [object, how] of Object.entries(differences))
          found.push(`${object} ${JSON.stringify(how).slice(0, 2000)}`);
      }
      return [...found, ...(await this.apply(app, objects, []))];
    },
  };
}

export const waysOf = (engines: Engines): readonly Way[] => [
  fluxCd(engines),
  argoCd(engines, false),
  argoCd(engines, true),
];

/** What both engines say about live objects with the project's checks. */
export async function healthOf(
  { flux, argo }: Engines,
  objects: readonly KubeObject[],
): Promise<readonly (readonly [string, string])[]> {
  const [byFlux, byArgo] = await Promise.all([
    flux.judge('cel', objects, { cel: fluxCdHealth() }),
    argo.judge('health', objects, { lua: argoCdHealth() }),
  ]);
  return objects.map((_, index) => [byFlux[index]?.status ?? 'none', byArgo[index]?.status ?? 'none']);
}
