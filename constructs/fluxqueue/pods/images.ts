import { PropsError } from '../../api/errors';
import { DEFAULT_IMAGES } from '../../images';

/** Where the images of the stack come from. */
export interface ImageProps {
  /**
   * Registry with copies of the default images, e.g. `registry.example.org/mirror`: it replaces the host in their names. An
   * image that a prop names is used as it is.
   * @default - the registries of the publishers
   */
  readonly registry?: string;

  /**
   * Digests by image, e.g. `{ 'docker.io/library/postgres:18.6-bookworm': 'sha256:…' }`, named as without `registry`.
   * @default - the digests of this package's release
   */
  readonly digests?: Readonly<Record<string, string>>;

  /** Names of Secrets for pulling the images, in the namespace of the stack. @default - none */
  readonly pullSecrets?: readonly string[];
}

/** A registry, with a port and a path if need be. */
const REGISTRY = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:\d+)?(\/[a-z0-9]+([-._a-z0-9]*[a-z0-9])?)*$/i;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** Repository of the default image of kube-scheduler. */
export const SCHEDULER_REPOSITORY = 'registry.k8s.io/kube-scheduler';

/** Rewrites the names of images in pod templates. */
export class ImageNames {
  private readonly unused: Set<string>;
  private hasImages = false;

  /** @throws PropsError for what is not a registry or a digest */
  constructor(private readonly props: ImageProps) {
    const { registry, digests = {} } = props;
    if (registry !== undefined && !REGISTRY.test(registry))
      throw new PropsError(
        'FluxQueue.images.registry',
        'is not a registry',
        registry,
        'give its host, with port and path if need be, for example registry.example.org/mirror',
      );
    for (const [image, digest] of Object.entries(digests)) {
      if (DIGEST.test(digest)) continue;
      throw new PropsError(
        `FluxQueue.images.digests[${image}]`,
        'is not a digest',
        digest,
        'give sha256: and 64 digits',
      );
    }
    this.unused = new Set(Object.keys(digests));
  }

  /** The name under which pods pull an image. */
  of(image: string): string {
    const [tagged = image, known] = image.split('@');
    this.unused.delete(tagged);
    this.hasImages = true;
    const digest = this.props.digests?.[tagged] ?? known;
    const name = isDefault(image) ? this.mirrored(tagged) : tagged;
    return digest === undefined ? name : `${name}@${digest}`;
  }

  /** @throws PropsError for what no pod of the stack uses */
  checkUsed(): void {
    if (Object.keys(this.props).length > 0 && !this.hasImages)
      throw new PropsError(
        'FluxQueue.images',
        'has no effect, because the stack has no pods',
        undefined,
        'remove it',
      );
    for (const image of this.unused)
      throw new PropsError(
        'FluxQueue.images.digests',
        'names an image that the stack does not use',
        image,
        'remove it, or name the image as the manifests do without images.registry',
      );
  }

  private mirrored(image: string): string {
    const { registry } = this.props;
    return registry === undefined ? image : `${registry}${image.slice(image.indexOf('/'))}`;
  }
}

function isDefault(image: string): boolean {
  return (
    Object.values<string>({ ...DEFAULT_IMAGES }).includes(image) ||
    image.startsWith(`${SCHEDULER_REPOSITORY}:`)
  );
}
