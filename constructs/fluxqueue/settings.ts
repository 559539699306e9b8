/** The configuration that runtime/config.ts parses; test/constructs/fluxqueue/configuration.test.ts compares the defaults. */
import {
  CONTROLLER_LEASE,
  READ_API_SERVICE,
  READER_SECRET,
  READER_SERVICE,
  SCHEDULER_NAME,
  WEBHOOK_CONFIGURATION,
  WEBHOOK_SECRET,
  WEBHOOK_SERVICE,
} from '../api/labels';
import { STACK_DEFAULTS } from '../api/queue-defaults';
import { WORKLOAD_KIND_NAMES } from '../api/workload-kinds';
import { excludedNamespaces } from './admission/scope';
import { certificateFiles } from './certificates';
import type { Database } from './database';
import { queueSettings } from './default-queue';
import { fluxionSettings } from './fluxion';
import { grantSettings } from './grant-settings';
import type { FluxQueueProps } from './props';
import { READER_PORT } from './reader';
import { WEBHOOK_PORT } from './webhook';

export interface StackFacts {
  readonly namespace: string;
  readonly database: Database;
  /** Whether the webhook reads its certificate from files. */
  readonly hasFiles: boolean;
}

export function stackSettings(props: FluxQueueProps, facts: StackFacts): Record<string, unknown> {
  const { namespace, database } = facts;
  return {
    logLevel: props.logLevel ?? 'info',
    ...databaseFacts(database),
    namespaces: {
      clusterWide: props.clusterWide ?? false,
      excluded: excludedNamespaces({ ...props, stackNamespace: namespace }),
    },
    leaderElection: { namespace, name: CONTROLLER_LEASE },
    ...(props.monitoringNamespace === undefined ? {} : { metrics: { host: '' } }),
    fluxion: fluxionSettings(props),
    queue: queueSettings(props),
    fairShare: {
      enabled: props.fairShare ?? false,
      halfLifeSeconds: props.fairShareHalfLife?.toSeconds() ?? STACK_DEFAULTS.halfLifeSeconds,
    },
    fluxJobs: { policy: props.fluxJobs ?? STACK_DEFAULTS.fluxJobs },
    grants: grantSettings(props),
    workloads: { kinds: props.workloadKinds ?? WORKLOAD_KIND_NAMES },
    units: unitSettings(props),
    miniClusters: { enabled: props.miniClusters ?? true },
    webhook: webhookSettings(props, facts),
    reader: {
      port: READER_PORT,
      secretNamespace: namespace,
      secretName: READER_SECRET,
      serviceName: READER_SERVICE,
      apiServiceName: READ_API_SERVICE,
    },
  };
}

function webhookSettings({ gitOpsUsers, scheduler }: FluxQueueProps, { namespace, hasFiles }: StackFacts) {
  return {
    port: WEBHOOK_PORT,
    ...(hasFiles ? { certDir: certificateFiles.folder } : {}),
    secretNamespace: namespace,
    secretName: WEBHOOK_SECRET,
    serviceName: WEBHOOK_SERVICE,
    configurationName: WEBHOOK_CONFIGURATION,
    ...(gitOpsUsers === undefined ? {} : { gitOpsUsers }),
    ...(scheduler === true ? { schedulerName: SCHEDULER_NAME } : {}),
  };
}

function unitSettings({ fluxionEngine, coreUnitMillis, memoryUnit }: FluxQueueProps) {
  const defaults = fluxionEngine === 'library' ? STACK_DEFAULTS.libraryUnits : STACK_DEFAULTS.units;
  return {
    cpuMillis: coreUnitMillis ?? defaults.cpuMillis,
    memoryMiB: memoryUnit?.toMebibytes() ?? defaults.memoryMiB,
  };
}

function databaseFacts({ hasOwner, storage }: Database) {
  if (!hasOwner && storage === undefined) return {};
  const size = storage === undefined ? {} : { storage: storage.asString() };
  return { database: { ...(hasOwner ? { migrate: false } : {}), ...size } };
}
