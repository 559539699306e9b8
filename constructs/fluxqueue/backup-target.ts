/** Where the dumps of the database go: a volume of the cluster, or a bucket of a store that speaks S3. */
import type { Size } from 'cdk8s';
import type { ISecret } from 'cdk8s-plus-28';
import { PropsError } from '../api/errors';

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

/** A place for dumps. */
export class BackupTarget {
  private constructor(
    readonly kind: { readonly volume: VolumeTargetProps } | { readonly s3: S3TargetProps },
    /** Port of the store. @default - a volume has none */
    readonly port?: number,
  ) {}

  /**
   * A volume of the cluster. It does not help against the loss of the cluster.
   * @throws PropsError for a number of dumps that is not positive
   */
  static volume(props: VolumeTargetProps = {}): BackupTarget {
    const { keep = 1 } = props;
    if (!Number.isInteger(keep) || keep < 1)
      throw new PropsError(
        'BackupTarget.volume.keep',
        'must be a whole number, 1 or more',
        keep,
        'give 1 or more',
      );
    return new BackupTarget({ volume: props });
  }

  /**
   * A bucket of S3, or of a store with the same protocol.
   * @throws PropsError for an endpoint that is not a URL
   */
  static s3(props: S3TargetProps): BackupTarget {
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
