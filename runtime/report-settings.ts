/** Settings of the port to which lead brokers report; the leader listens once there is a MiniCluster with `flux.report`. */
import { z } from 'zod';

export const reportSettings = z.strictObject({
  /** Default: all addresses. */
  host: z.string().min(1).optional(),
  port: z.number().int().min(0).max(65535).default(8444),
  /** The addresses by which pods reach this process. Default: those of its network interfaces. */
  addresses: z.array(z.string().min(1)).min(1).optional(),
  /** Seconds between two reports of a lead broker. */
  everySeconds: z.number().int().positive().max(30).default(10),
});

export type ReportSettings = z.output<typeof reportSettings>;
