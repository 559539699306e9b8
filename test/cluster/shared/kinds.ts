/** The definitions of the project's kinds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubeObject } from '../api';

const FOLDER = join(__dirname, '..', '..', '..', 'constructs', 'crds');

export const PROJECT_KINDS: readonly KubeObject[] = ['fluxjobs', 'fluxsetups', 'miniclusters'].map(
  (name) => parse(readFileSync(join(FOLDER, `${name}.yaml`), 'utf8')) as KubeObject,
);
