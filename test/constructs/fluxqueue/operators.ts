/** Definitions of operators whose objects a stack can have (operators/*.yaml), for the real apiserver. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Cluster, KubeObject } from '../../cluster/cluster';
import { expectEstablished } from '../crds/expect-established';

const FOLDER = join(__dirname, 'operators');

/** Applies all definitions and waits until the apiserver serves their kinds. */
export async function installOperators(cluster: Cluster): Promise<void> {
  const definitions = readdirSync(FOLDER).map(
    (file) => parse(readFileSync(join(FOLDER, file), 'utf8')) as KubeObject,
  );
  await cluster.apply(definitions);
  await Promise.all(definitions.map(({ metadata }) => expectEstablished(cluster, metadata.name ?? '')));
}
