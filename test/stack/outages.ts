/** Outages of what the controller needs, each with how it begins, how it shows that the controller has met it, and how it ends. */
import { Client } from 'pg';
import { CONTROLLER_LEASE, STACK_NAMESPACE } from '../../constructs/api/labels';
import { leases, nodes as nodePath } from '../../runtime/kubernetes/paths';
import type { KubernetesObject, Lease } from '../../runtime/kubernetes/types';
import type { TcpProxy } from '../crash-matrix/tcp-proxy';
import { everything, type Fault, type FaultProxy, isWatch, type Match } from '../kubernetes/fault-proxy';
import type { RoleProcess } from './roles';
import type { Fixture } from './suite';

/** What an outage is made with. */
export interface Scene {
  readonly fixture: Fixture;
  /** Between the controller and Postgres. */
  readonly database: TcpProxy;
  /** Between the controller and the apiserver. */
  readonly apiserver: FaultProxy;
  readonly fluxion: RoleProcess;
  /** The process that runs now: another one follows one that has ended. */
  readonly controller: () => RoleProcess;
}

export interface Outage {
  readonly name: string;
  /** Resolves once it has begun. */
  begin(scene: Scene): Promise<UnderWay>;
}

interface UnderWay {
  /** Whether the controller has met it often enough. */
  isMet(): Promise<boolean> | boolean;
  end(): Promise<void> | void;
}

/** Answers and statements that an outage meets before it ends. */
const OFTEN = 20;

const slowDatabase = (seconds: number): Outage => ({
  name: `a database that answers after ${seconds} s`,
  async begin({ database }) {
    const before = database.sent;
    // Both directions are late.
    database.delayMs = seconds * 500;
    return {
      isMet: () => database.sent >= before + OFTEN,
      end: () => {
        database.delayMs = 0;
      },
    };
  },
});

async function withClient<T>({ fixture }: Scene, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: fixture.stack.postgres.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Every write of a row is refused with this SQLSTATE. */
const refusing = (state: string, what: string): Outage => ({
  name: `a database that refuses writes with ${state} (${what})`,
  async begin(scene) {
    // A sequence counts also what is rolled back.
    await withClient(scene, (client) =>
      client.query(`
        CREATE SEQUENCE IF NOT EXISTS public.refused;
        SELECT setval('public.refused', 1);
        GRANT USAGE ON SEQUENCE public.refused TO PUBLIC;
        CREATE OR REPLACE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN PERFORM nextval('public.refused'); RAISE EXCEPTION 'injected' USING ERRCODE = '${state}'; END $$;
        CREATE OR REPLACE TRIGGER refuse BEFORE INSERT OR UPDATE ON fluxqueue.workloads EXECUTE FUNCTION public.refuse()`),
    );
    return {
      isMet: () =>
        withClient(scene, async (client) => {
          const { rows } = await client.query<{ met: boolean }>(
            'SELECT last_value > 2 AS met FROM public.refused',
          );
          return rows[0]!.met;
        }),
      end: () =>
        withClient(scene, async (client) => {
          await client.query('DROP TRIGGER refuse ON fluxqueue.workloads');
        }),
    };
  },
});

const lockedTable: Outage = {
  name: 'a table that somebody has locked',
  async begin({ fixture }) {
    const other = new Client({ connectionString: fixture.stack.postgres.url });
    await other.connect();
    await other.query('BEGIN');
    await other.query('LOCK TABLE fluxqueue.workloads IN ACCESS EXCLUSIVE MODE');
    return {
      isMet: async () => {
        const { rowCount } = await other.query('SELECT FROM pg_locks WHERE NOT granted');
        return rowCount !== 0;
      },
      end: async () => {
        await other.query('ROLLBACK');
        await other.end();
      },
    };
  },
};

const blackHole: Outage = {
  name: 'a database from which nothing comes, over old and new connections',
  async begin({ database }) {
    const before = database.sent;
    database.freeze();
    return { isMet: () => database.sent >= before + OFTEN, end: () => database.thaw() };
  },
};

const apiserver = (name: string, fault: Fault, match: Match = everything): Outage => ({
  name: `an apiserver that ${name}`,
  async begin({ apiserver: proxy }) {
    const before = proxy.requests.length;
    const end = proxy.inject(match, fault);
    proxy.end(isWatch);
    return { isMet: () => proxy.requests.slice(before).filter(match).length >= OFTEN, end };
  },
});

const isWrite: Match = ({ method }) => method !== 'GET';

const flappingNodes: Outage = {
  name: 'nodes that are Ready and not Ready in turns',
  async begin({ fixture: { client } }) {
    const { items } = await client.list<KubernetesObject>(nodePath());
    const names = items.map(({ metadata }) => metadata.name);
    const mark = (value: string | null) =>
      Promise.all(
        names.map((name) =>
          client.patch(
            nodePath(name),
            { metadata: { annotations: { 'fluxqueue.test/not-ready': value } } },
            'merge',
          ),
        ),
      );
    let turns = 0;
    return {
      isMet: async () => {
        await mark(turns % 2 === 0 ? 'true' : null);
        turns += 1;
        return turns >= OFTEN;
      },
      end: async () => {
        await mark(null);
      },
    };
  },
};

const frozenFluxion: Outage = {
  name: 'a Fluxion service that is frozen',
  async begin({ fluxion, apiserver: proxy }) {
    const before = proxy.requests.length;
    fluxion.process.signal('SIGSTOP');
    return {
      isMet: () => proxy.requests.length >= before + OFTEN,
      end: () => {
        fluxion.process.signal('SIGCONT');
      },
    };
  },
};

const killedDatabase: Outage = {
  name: 'a database that is killed and started again',
  async begin({ fixture: { stack }, apiserver: proxy }) {
    const before = proxy.requests.length;
    await stack.postgres.kill();
    return {
      isMet: () => proxy.requests.length >= before + OFTEN,
      end: () => stack.postgres.restart(),
    };
  },
};

/** It is over at once: another one starts. */
const killedController: Outage = {
  name: 'a controller that is killed',
  async begin({ controller }) {
    await controller().crash();
    return { isMet: () => true, end: () => undefined };
  },
};

const frozenController: Outage = {
  name: 'a controller that is frozen for longer than its Lease',
  async begin({ controller, fixture: { client } }) {
    const frozen = controller();
    frozen.process.signal('SIGSTOP');
    return {
      isMet: async () => {
        const { spec } = await client.get<Lease>(leases(STACK_NAMESPACE, CONTROLLER_LEASE));
        const { renewTime = '', leaseDurationSeconds = 0 } = spec ?? {};
        return Date.parse(renewTime) + leaseDurationSeconds * 1000 < Date.now();
      },
      end: () => frozen.process.signal('SIGCONT'),
    };
  },
};

export const OUTAGES: readonly Outage[] = [
  slowDatabase(0.2),
  slowDatabase(2.6),
  blackHole,
  lockedTable,
  refusing('08006', 'connection'),
  refusing('40001', 'serialization'),
  refusing('53100', 'disk full'),
  refusing('57P01', 'operator'),
  refusing('XX000', 'an unlisted class'),
  apiserver('answers after 1 s', { kind: 'delay', milliseconds: 1_000 }),
  apiserver('answers 429', { kind: 'answer', status: 429, retryAfter: 1 }),
  apiserver('answers 500', { kind: 'answer', status: 500 }),
  apiserver('answers 503', { kind: 'answer', status: 503 }),
  apiserver('resets each connection', { kind: 'reset' }),
  apiserver('loses the answers to writes', { kind: 'lose-answer' }, isWrite),
  apiserver('closes watches', { kind: 'reset' }, isWatch),
  apiserver('has no history for watches', { kind: 'expire' }, isWatch),
  flappingNodes,
  frozenFluxion,
  killedDatabase,
  killedController,
  frozenController,
];
