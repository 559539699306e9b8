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

/** The API types of constructs/crds as they are in their files, with the stack's labels. */
export class Crds extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));
    for (const file of files.sort()) {
      const manifest = parse(readFileSync(join(FOLDER, file), 'utf8')) as Manifest;
      // A raw object: the generated classes drop every field that is newer than they are.
      new ApiObject(this, manifest.metadata.name, {
        ...manifest,
        metadata: objectMetadata({
          name: manifest.metadata.name,
          component: 'base',
          wave: Wave.BASE,
          // Deleting a CRD deletes all its objects.
          annotations: {
            'argocd.argoproj.io/sync-options': `${KEEP['argocd.argoproj.io/sync-options']},ServerSideApply=true`,
          },
        }),
      });
    }
  }
}
