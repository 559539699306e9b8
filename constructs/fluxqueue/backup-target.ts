/** Where the dumps of the database go: a volume of the cluster, or a bucket of a store that speaks S3. */
import type { Size } from 'cdk8s';
import type { ISecret } from 'cdk8s-plus-28';
import { PropsError } from '../api/errors';
import { checkByRules, group, type PropRules, required } from '../api/prop-rules';
import { atLeast, instance, reference, size, text, textOrEmpty } from '../api/rules';

export interface VolumeTargetProps {
  /** Size of the volume for the dumps. @default Size.gibibytes(10) */
  readonly storage?: Size;
  /** Name of the StorageClass of the volume. @default - the default StorageClass of the cluster */
  readonly storageClassName?: string;
  /** Number of dumps to keep; the oldest ones are deleted. @default 14 */
  readonly keep?: number;
}

export interface S3TargetProps {
  /** URL of the store, e.g. `https://s3.eu-central-1.amazonaws.com` or `https://minio.example.org:9000`. */
  readonly endpoint: string;
  /** Bucket of the dumps. Which of them stay, and how long, is a lifecycle rule of the bucket. */
  readonly bucket: string;
  /** First part of the names of the objects, e.g. `clusters/north/`. @default - none */
  readonly prefix?: string;
  /** Region for which requests are signed. @default us-east-1 */
  readonly region?: string;
  /** Secret in the namespace of the stack with the keys `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`. */
  readonly credentials: ISecret;
}

export interface BackupProps {
  /** Times of the dumps as in a CronJob, in UTC. @default 0 3 * * * */
  readonly schedule?: string;
  /** Where the dumps go. @default BackupTarget.volume() */
  readonly target?: BackupTarget;
}

const VOLUME: PropRules<VolumeTargetProps> = {
  storage: size,
  storageClassName: textOrEmpty,
  keep: atLeast(1),
};
const S3: PropRules<S3TargetProps> = {
  endpoint: required(text),
  bucket: required(text),
  prefix: textOrEmpty,
  region: text,
  credentials: required(reference('Secret', { canBeLazy: true })),
};

/** A place for dumps. */
export class BackupTarget {
  private constructor(
    readonly kind: { readonly volume: VolumeTargetProps } | { readonly s3: S3TargetProps },
    /** Port of the store. @default - a volume has none */
    readonly port?: number,
  ) {}

  /**
   * A volume of the cluster. It does not help against the loss of the cluster.
   * @throws PropsError for a wrong prop, such as a number of dumps that is not positive
   */
  static volume(props: VolumeTargetProps = {}): BackupTarget {
    checkByRules('BackupTarget.volume', props, VOLUME);
    return new BackupTarget({ volume: props });
  }

  /**
   * A bucket of S3, or of a store with the same protocol.
   * @throws PropsError for a wrong prop, such as an endpoint that is not a URL
   */
  static s3(props: S3TargetProps): BackupTarget {
    checkByRules('BackupTarget.s3', props, S3);
    const url = URL.parse(props.endpoint);
    if (url === null || !/^https?:$/.test(url.protocol))
      throw new PropsError(
        'BackupTarget.s3.endpoint',
        'is not a URL of a store',
        props.endpoint,
        'give https://HOST:PORT',
      );
    const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
    return new BackupTarget({ s3: props }, port);
  }
}

const BACKUP: PropRules<BackupProps> = {
  schedule: text,
  target: instance(
    'BackupTarget',
    'BackupTarget.volume()',
    ({ kind }) => typeof kind === 'object' && kind !== null,
  ),
};
export const backup = group(BACKUP);
