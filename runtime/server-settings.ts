/** Settings of the servers that the apiserver calls: the admission webhook and the read API. */
import { z } from 'zod';
import { GITOPS_USERS } from '../constructs/api/gitops-users';
import {
  READ_API_SERVICE,
  READER_SECRET,
  READER_SERVICE,
  STACK_NAMESPACE,
  WEBHOOK_CONFIGURATION,
  WEBHOOK_SECRET,
  WEBHOOK_SERVICE,
} from '../constructs/api/labels';

const port = z.number().int().min(0).max(65535);

export const webhookSettings = z.strictObject({
  /** Default: all addresses, of IPv6 and of IPv4. */
  host: z.string().default(''),
  port: port.default(9443),
  /** Seconds for which it serves after SIGTERM: the Service sends requests until all nodes know that the pod ends. */
  drainSeconds: z.number().min(0).default(5),
  /** The folder with tls.crt and tls.key. Without it the role creates and rotates its own certificate. */
  certDir: z.string().min(1).optional(),
  secretNamespace: z.string().min(1).default(STACK_NAMESPACE),
  secretName: z.string().min(1).default(WEBHOOK_SECRET),
  serviceName: z.string().min(1).default(WEBHOOK_SERVICE),
  configurationName: z.string().min(1).default(WEBHOOK_CONFIGURATION),
  /** User names of the runtime at the apiserver. Default: the controller's ServiceAccount in `secretNamespace`. */
  controllerUsers: z.array(z.string().min(1)).optional(),
  /** User names of engines of GitOps: what they create counts for its namespace. */
  gitOpsUsers: z.array(z.string().min(1)).default([...GITOPS_USERS]),
  /** The schedulerName for admitted pods that have none. Default: unchanged. */
  schedulerName: z.string().min(1).optional(),
});

export const readerSettings = z.strictObject({
  /** Default: all addresses, of IPv6 and of IPv4. */
  host: z.string().default(''),
  port: port.default(9445),
  /** Seconds for which it serves after SIGTERM. */
  drainSeconds: z.number().min(0).default(5),
  /** Seconds until the answer to a request is given up. The apiserver waits for 60. */
  deadlineSeconds: z.number().int().positive().default(30),
  secretNamespace: z.string().min(1).default(STACK_NAMESPACE),
  secretName: z.string().min(1).default(READER_SECRET),
  serviceName: z.string().min(1).default(READER_SERVICE),
  apiServiceName: z.string().min(1).default(READ_API_SERVICE),
});
