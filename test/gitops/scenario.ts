/**
 * The life of a team in Git by one engine: apply, apply again, edit, revert, prune. It counts what an engine or a user of it
 * would see as wrong.
 */

import { isDeepStrictEqual } from 'node:util';
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import { messageOf } from '../../runtime/errors';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import type { KubeObject } from '../cluster/api';
import type { Cluster } from '../cluster/cluster';
import { Repository } from './repository';
import type { Engines } from './suite';
import {
  AT_REST,
  EDITS,
  type Edit,
  type Files,
  HELD,
  type Health,
  patched,
  REVERTED,
  RUNS,
  teamFiles,
  WAITS,
} from './team';
import { healthOf, type Way } from './ways';

export const KINDS_OF_TROUBLE = ['drift', 'denied', 'recreated', 'wrongHealth', 'lost', 'overQuota'] as const;
export type Trouble = (typeof KINDS_OF_TROUBLE)[number];

/** Collects what is wrong. */
export class Findings {
  readonly all: { readonly trouble: Trouble; readonly text: string }[] = [];
  /** Number of objects that the engines applied. */
  objects = 0;

  constructor(readonly say: (line: string) => void) {}

  add(trouble: Trouble, texts: readonly string[]): void {
    for (const text of texts) {
      this.all.push({ trouble, text });
      this.say(`${trouble.toUpperCase()} ${text}`);
    }
  }

  count(trouble: Trouble): number {
    return this.all.filter((each) => each.trouble === trouble).length;
  }
}

const REST_MS = 90_000;

const PATHS: Readonly<Record<string, string>> = {
  Job: '/apis/batch/v1/namespaces/NS/jobs',
  CronJob: '/apis/batch/v1/namespaces/NS/cronjobs',
  Deployment: '/apis/apps/v1/namespaces/NS/deployments',
  MiniCluster: '/apis/flux-framework.org/v1alpha2/namespaces/NS/miniclusters',
  FluxSetup: '/apis/flux-framework.org/v1alpha1/namespaces/NS/fluxsetups',
};

/** Whether its pods still come or go: the queue writes a Job when it grants it. */
function isMoving({ kind, spec, status }: KubeObject, expected: Health): boolean {
  const { phase, size, ready } = status as { phase?: string; size?: number; ready?: number };
  if (kind === 'MiniCluster') return phase === 'Running' && size !== (spec as { size?: number }).size;
  return kind === 'Job' && expected === RUNS && (ready ?? 0) === 0;
}

/** Which pods a Job replaces is the queue's only as long as its namespace is. */
function specOf({ spec }: KubeObject): object {
  const { podReplacementPolicy: _, ...others } = (spec ?? {}) as Record<string, unknown>;
  return others;
}

export class TeamLife {
  private readonly repository = new Repository();
  private files: Files;
  private expected: Record<string, Health> = { ...AT_REST };
  private applied: readonly KubeObject[] = [];

  constructor(
    private readonly cluster: Cluster,
    private readonly engines: Engines,
    private readonly way: Way,
    private readonly namespace: string,
    private readonly findings: Findings,
  ) {
    this.files = teamFiles(namespace);
  }

  /** @param edits only some of them, without the revert of all */
  async live(edits: readonly Edit[] = EDITS): Promise<void> {
    try {
      this.repository.commit('the team', this.files);
      await this.apply('first');
      this.findings.objects += Object.keys(this.files).length;
      await this.rest('first');
      await this.again('at rest');
      for (const edit of edits) await this.edit(edit);
      await this.again('after the edits');
      if (edits === EDITS) await this.revert(edits.length);
      await this.leaveAndReturn();
      await this.prune();
    } finally {
      this.repository.remove();
    }
  }

  private async edit({ title, file, patch, health }: Edit): Promise<void> {
    const path = `apps/${file}.yaml`;
    this.files = { ...this.files, [path]: patched(this.files[path]!, patch) };
    this.repository.commit(title, { [path]: this.files[path]! });
    if (health !== undefined) this.expected[file] = health;
    await this.unchanged(title, [file], () => this.apply(title));
    await this.rest(title);
  }

  private async revert(commits: number): Promise<void> {
    this.repository.revert(commits);
    Object.assign(this.expected, REVERTED);
    await this.apply('revert');
    await this.rest('revert');
    await this.again('after the revert');
  }

  /**
   * The label of the namespace leaves Git while its workloads wait and run, and comes back. Nothing changes but what waits, which
   * the queue hands back to Kubernetes.
   */
  private async leaveAndReturn(): Promise<void> {
    // What its user suspended is handed back too, without a start.
    const handedBack = Object.keys(this.expected).filter(
      (each) => this.expected[each] === WAITS || this.expected[each] === HELD,
    );
    const [file = ''] = Object.keys(this.files);
    const space = this.files[file]!;
    const left = patched(space, { metadata: { labels: { [NAMESPACE_LABEL]: null } } });
    for (const [what, object] of [
      ['out of the queue', left],
      ['back in the queue', space],
    ] as const) {
      this.repository.commit(what, { [file]: object });
      await this.unchanged(what, handedBack, () => this.apply(what));
      await this.again(what, handedBack);
    }
  }

  private async apply(what: string): Promise<void> {
    const objects = this.repository.read('apps');
    const refused = await this.way.apply(this.namespace, objects, this.applied);
    this.findings.add('denied', this.named(what, refused));
    this.applied = objects;
  }

  /** Applies the same revision again: nothing changes, and what runs goes on. */
  private async again(what: string, but: readonly string[] = []): Promise<void> {
    await this.unchanged(what, but, async () => {
      for (let round = 0; round < 2; round++)
        this.findings.add('drift', this.named(what, await this.way.drift(this.namespace, this.applied)));
    });
  }

  /** @param but files whose objects change; they must stay the same objects, too */
  private async unchanged(what: string, but: readonly string[], act: () => Promise<void>): Promise<void> {
    const before = await this.liveObjects();
    const podsBefore = await this.podsOfOthers(but);
    await act();
    const after = await this.liveObjects();
    for (const [file, was] of before) {
      const is = after.get(file);
      if (is?.metadata.uid !== was.metadata.uid) this.findings.add('recreated', this.named(what, [file]));
      else if (!but.includes(file) && is !== undefined && !isDeepStrictEqual(specOf(is), specOf(was)))
        this.findings.add('drift', this.named(what, [`${file} has another spec`]));
    }
    const pods = await this.podsOfOthers(but);
    this.findings.add(
      'lost',
      this.named(
        what,
        podsBefore.filter((pod) => !pods.includes(pod)),
      ),
    );
  }

  private async podsOfOthers(but: readonly string[]): Promise<readonly string[]> {
    const { items } = await this.cluster.get<{ items: KubeObject[] }>(
      `/api/v1/namespaces/${this.namespace}/pods`,
    );
    return items
      .filter(({ metadata }) => !but.some((file) => metadata.name?.startsWith(`${file}-`)))
      .map(({ metadata }) => `pod ${metadata.name} ${metadata.uid}`);
  }

  /** Waits until the engines say what is expected, and each workload has its FluxJob. */
  private async rest(what: string): Promise<void> {
    this.findings.say(`${this.way.name}: ${what}`);
    let wrong: readonly string[] = [];
    let lost: readonly string[] = [];
    const settle = async () => {
      const live = await this.liveObjects();
      wrong = await this.unexpected(live);
      lost = await this.withoutFluxJob(live);
      if (wrong.length + lost.length > 0) throw new Error([...wrong, ...lost].join('; '));
      return true;
    };
    try {
      await this.cluster.waitFor(`${this.way.name} to come to rest: ${what}`, settle, { timeoutMs: REST_MS });
    } catch (error) {
      if (wrong.length + lost.length === 0) throw new Error(messageOf(error));
      this.findings.add('wrongHealth', this.named(what, wrong));
      this.findings.add('lost', this.named(what, lost));
    }
  }

  private async unexpected(live: ReadonlyMap<string, KubeObject>): Promise<readonly string[]> {
    const files = Object.keys(this.expected);
    const objects = files.flatMap((file) => live.get(file) ?? []);
    if (objects.length < files.length) return ['objects are missing'];
    const said = await healthOf(this.engines, objects);
    const moving = files.flatMap((file, index) =>
      isMoving(objects[index]!, this.expected[file]!) ? [`${file} has not all its pods yet`] : [],
    );
    const wrong = files.flatMap((file, index) => {
      const [is, wanted] = [said[index]!.join(', '), this.expected[file]!.join(', ')];
      return is === wanted ? [] : [`${file} is ${is}, not ${wanted}`];
    });
    return [...wrong, ...moving];
  }

  private async withoutFluxJob(live: ReadonlyMap<string, KubeObject>): Promise<readonly string[]> {
    const { items } = await this.cluster.get<{ items: FluxJobObject[] }>(fluxJobs(this.namespace));
    const uids = new Set(items.map(({ spec }) => spec.workload.uid));
    return [...live].flatMap(([file, { kind, metadata }]) =>
      kind === 'Job' && !uids.has(metadata.uid!) ? [`${file} has no FluxJob`] : [],
    );
  }

  /** Live objects by file. */
  private async liveObjects(): Promise<ReadonlyMap<string, KubeObject>> {
    const found = new Map<string, KubeObject>();
    for (const kind of Object.keys(PATHS))
      for (const object of await this.listed(kind)) {
        const file = kind === 'FluxSetup' ? 'queue' : (object.metadata.name ?? '');
        if (`apps/${file}.yaml` in this.files && object.metadata.ownerReferences === undefined)
          found.set(file, object);
      }
    return found;
  }

  private async listed(kind: string): Promise<readonly KubeObject[]> {
    const path = PATHS[kind]!.replace('NS', this.namespace);
    const { apiVersion, items } = await this.cluster.get<{ apiVersion: string; items: KubeObject[] }>(path);
    return items.map((object) => ({ ...object, apiVersion, kind }));
  }

  /** Everything leaves Git. */
  private async prune(): Promise<void> {
    const [space] = Object.keys(this.files);
    const others = Object.keys(this.files).filter((file) => file !== space);
    this.repository.commit('leave', Object.fromEntries(others.map((file) => [file, null])));
    await this.apply('prune');
    let left: readonly string[] = [];
    const gone = async () => {
      const { items } = await this.cluster.get<{ items: FluxJobObject[] }>(fluxJobs(this.namespace));
      left = [
        ...(await this.liveObjects()).keys(),
        ...items.map(({ metadata }) => `FluxJob ${metadata.name}`),
      ];
      if (left.length > 0) throw new Error(left.join(', '));
      return true;
    };
    await this.cluster
      .waitFor('the pruned objects to go', gone, { timeoutMs: REST_MS })
      .catch((error: unknown) => {
        if (left.length === 0) throw error;
        this.findings.add('lost', this.named('left by the prune', left));
      });
  }

  private named(what: string, texts: readonly string[]): readonly string[] {
    return texts.map((text) => `${this.way.name}, ${what}: ${text}`);
  }
}
