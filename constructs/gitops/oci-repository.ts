import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { PropsError } from '../api/errors';
import { checkByRules, group, type PropRules, required } from '../api/prop-rules';
import { oneOf, text } from '../api/rules';

export interface FluxCdOciRepositoryProps {
  /** Name of the OCIRepository. @default - the id of the construct */
  readonly name?: string;
  /** Namespace of the OCIRepository. @default flux-system */
  readonly namespace?: string;
  /** Address of the artifact, e.g. `oci://ghcr.io/example/manifests`; `flux push artifact` writes one. */
  readonly url: string;
  /** Which artifact; one of the three. */
  readonly ref: FluxCdOciReference;
  /** Name of a Secret with the login of the registry, in the namespace of the OCIRepository. @default - no login */
  readonly secretName?: string;
  /** Program whose signature an artifact must have. @default - signatures are not verified */
  readonly verify?: 'cosign' | 'notation';
}

export interface FluxCdOciReference {
  /** Tag of the artifact. @default - not by tag */
  readonly tag?: string;
  /** Range of versions, e.g. `>=1.0.0`. @default - not by version */
  readonly semver?: string;
  /** Digest of the artifact, `sha256:…`. @default - not by digest */
  readonly digest?: string;
}

const REFERENCE: PropRules<FluxCdOciReference> = { tag: text, semver: text, digest: text };
const RULES: PropRules<FluxCdOciRepositoryProps> = {
  name: text,
  namespace: text,
  url: required(text),
  ref: required(group(REFERENCE)),
  secretName: text,
  verify: oneOf('cosign', 'notation'),
};

/** A source of Flux CD: manifests in a registry of images, for a `FluxCdKustomization` with `sourceKind: 'OCIRepository'`. */
export class FluxCdOciRepository extends Construct {
  /** Name of the OCIRepository, for `source`. */
  readonly name: string;

  /** @throws PropsError for a wrong prop, for an address that is not one of a registry, and for none or several references */
  constructor(scope: Construct, id: string, props: FluxCdOciRepositoryProps) {
    super(scope, id);
    checkByRules('FluxCdOciRepository', props, RULES);
    this.name = props.name ?? id;
    const { namespace = 'flux-system', url, ref, secretName, verify } = props;
    check(props);
    new ApiObject(this, 'Resource', {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'OCIRepository',
      metadata: { name: this.name, namespace },
      spec: {
        interval: '10m',
        url,
        ref,
        ...(secretName === undefined ? {} : { secretRef: { name: secretName } }),
        ...(verify === undefined ? {} : { verify: { provider: verify } }),
      },
    });
  }
}

function check({ url, ref }: FluxCdOciRepositoryProps): void {
  if (!/^oci:\/\/[^/]+\/.+/.test(url))
    throw new PropsError(
      'FluxCdOciRepository.url',
      'is not the address of an artifact',
      url,
      'give oci://REGISTRY/NAME',
    );
  const given = Object.values(ref).filter((value) => value !== undefined);
  if (given.length !== 1)
    throw new PropsError(
      'FluxCdOciRepository.ref',
      'must have one of: tag, semver, digest',
      ref,
      'give one of the three',
    );
}
