import { ApiObject, type ApiObjectProps } from 'cdk8s';
import { Construct } from 'constructs';
import crds from '../../imports/crds.json';
import { KEEP, objectMetadata, Wave } from '../metadata';

interface Manifest extends ApiObjectProps {
  readonly metadata: { readonly name: string };
}

/** The CRDs of constructs/crds, unchanged except for the labels and annotations of the stack. */
export class Crds extends Construct {
  /** @param options.without file whose CRD is left out */
  constructor(scope: Construct, id: string, { without }: { readonly without?: string } = {}) {
    super(scope, id);
    for (const [file, manifest] of Object.entries<Manifest>(crds)) {
      if (file === without) continue;
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
