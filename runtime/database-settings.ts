/** Settings of the queue's database. */
import { z } from 'zod';

const text = z.string().min(1);
const QUANTITY = /^\d{1,18}(\.\d{1,9})?([eE]\d{1,2}|[KMGTPE]i|[kMGTPE])?$/;

export const databaseSettings = z.strictObject({
  /** postgres://user:password@host:port/database, also from the variable DATABASE_URL. Default: the URL in `secret`. */
  url: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must start with postgres:// or postgresql://')
    .optional(),
  /** The key of a Secret with the URL. The controller waits until it has a value. `caName` is the Secret with the CAs, if another. */
  secret: z.strictObject({ namespace: text, name: text, key: text, caName: text.optional() }).optional(),
  /** PEM certificates of the CAs to trust with `url`; the CAs for `secret` are its key ca.crt. Default: those of the system. */
  ca: z.string().min(1).optional(),
  /** The size of its volume, as Kubernetes writes it, for the alert about it. Default: not known. */
  storage: z.string().regex(QUANTITY, 'must be a quantity of Kubernetes, as 10Gi').optional(),
  /** If false, the controller waits until the command `migrate` has migrated the tables as another role. */
  migrate: z.boolean().default(true),
});
