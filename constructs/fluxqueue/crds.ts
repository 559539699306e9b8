import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiObject, type ApiObjectProps } from 'cdk8s';
import { Construct } from 'constructs';
import { parse } from 'yaml';
import { KEEP, objectMetadata, Wave } from '../metadata';

const FOLDER = join(__dirname, '..', 'crds');

interface Manifest extends ApiObjectProps {
  readonly metadata: { readonly name: string };
}

/** The CRDs of constructs/crds, unchanged except for the labels and annotations of the stack. */
export class Crds extends Construct {
  /** @param options.without file whose CRD is left out */
  constructor(scope: Construct, id: string, { without }: { readonly without?: string } = {}) {
    super(scope, id);
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml') && name !== without);
    for (const file of files.sort()) {
      const manifest = parse(readFileSync(join(FOLDER, file), 'utf8')) as Manifest;
      // A raw object, because the generated classes drop fields that they do not know.
      new ApiObject(this, manifest.metadata.name, {
        ...manifest,
        metadata: objectMetadata({
          name: manifest.metadata.name,
          component: 'base',
          wave: Wave.BASE,
          // Without this, pruning a CRD would delete all objects of its kind.
          annotations: {
            ...KEEP,
            'argocd.argoproj.io/sync-options': `${KEEP['argocd.argoproj.io/sync-options']},ServerSideApply=true`,
          },
        }),
      });
    }
  }
}
