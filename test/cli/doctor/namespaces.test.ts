import { misspelledFindings, refusalFinding } from '../../../runtime/cli/doctor/namespaces';
import { apiError } from '../../../runtime/kubernetes/errors';
import { metadata } from './objects';

const refused = (status: number, message: string) =>
  refusalFinding(
    'Job',
    'science',
    apiError(
      status,
      JSON.stringify({ message }),
      undefined,
      'POST /apis/batch/v1/namespaces/science/jobs?dryRun=All',
    ),
  );

test('a missing right is unknown, and named', () => {
  const message =
    'jobs.batch is forbidden: User "ada" cannot create resource "jobs" in API group "batch" in the namespace "science"';
  expect(refused(403, message)).toEqual({
    level: 'unknown',
    message:
      'not tried whether a new Job in namespace science would wait in the queue: you may not create jobs.batch in namespace science',
    remedy: expect.stringContaining('nothing is created'),
  });
});

test('a webhook that cannot be called is an error', () => {
  const message =
    'Internal error occurred: failed calling webhook "jobs.fluxqueue": failed to call webhook: connection refused';
  expect(refused(500, message)).toMatchObject({
    level: 'error',
    message: `no Job can be created in namespace science: ${message}`,
  });
});

test('a quota that refuses the dry run proves nothing', () => {
  expect(refused(403, 'jobs "x" is forbidden: exceeded quota: small')).toMatchObject({
    level: 'unknown',
    message:
      'not tried whether a new Job in namespace science would wait in the queue: jobs "x" is forbidden: exceeded quota: small',
  });
});

test('only the values true and false are not misspelled', () => {
  const labelled = (value?: string) =>
    misspelledFindings({
      metadata: metadata('science', { labels: value === undefined ? {} : { 'fluxqueue/enabled': value } }),
    });
  expect([labelled(), labelled('true'), labelled('false')]).toEqual([[], [], []]);
  expect(labelled('True')).toMatchObject([
    { level: 'warning', remedy: 'kubectl label --overwrite namespace science fluxqueue/enabled=true' },
  ]);
});
