/** The points by which a waiting workload is ordered, for those who may read them: evidence of `why`. */

import type { FluxJobObject } from '../kubernetes/custom-resources';
import { ifFound } from '../kubernetes/errors';
import { ask, priorities, type ReadApiClient } from '../kubernetes/read-api';
import type { PrioritizedJob, Priority } from '../reader/kinds';
import { withoutReadApi } from './without-read-api';

function prioritySentence({ points, factors }: PrioritizedJob): string {
  const { own, queue, age, fairShare, size } = factors;
  const parts = [
    `${rounded(own)} of its own`,
    `${rounded(queue)} of its queue`,
    `${rounded(age)} for its age`,
    `${rounded(fairShare)} for fair share`,
    `${rounded(size)} for its size`,
  ];
  return `its place in the order comes from ${rounded(points)} points: ${parts.join(' + ')}`;
}

/** A day of waiting is half a point by default: a thousandth is minutes. */
function rounded(points: number): string {
  return `${Math.round(points * 1000) / 1000}`;
}

/** @returns undefined if it is not the workload of this user, who then does not see it, or nobody answers */
export async function priorityOfJob(
  client: ReadApiClient,
  { metadata, spec }: FluxJobObject,
): Promise<string | undefined> {
  const { namespace = '' } = metadata;
  const answer = await withoutReadApi(() =>
    // A reader of an earlier version has no priorities.
    ifFound(
      ask<Priority>(client, {
        verb: 'list',
        path: priorities(namespace),
        scope: { namespace },
        request: { timeout: 5_000, retries: 0 },
      }),
    ),
  );
  const job = answer?.jobs.find(({ uid }) => uid === spec.workload.uid);
  return job && prioritySentence(job);
}
