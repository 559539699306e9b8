/** kube-score finds nothing in any stack of the matrix but what is named here with its reason. */
import { spawnSync } from 'node:child_process';
import { Yaml } from 'cdk8s';
import { LINTER } from '../../go-programs';
import { stackObjects } from '../manifests';
import { COUNT, stacks } from './matrix';

interface Exception {
  readonly check: string;
  /** Matches its kind and name. */
  readonly object: RegExp;
  readonly why: string;
}

const EXCEPTIONS: readonly Exception[] = [
  {
    check: 'container-resources',
    object: /./,
    why: 'no CPU limit: a controller that is throttled loses its lease; its request is what it needs',
  },
  {
    check: 'container-image-pull-policy',
    object: /./,
    why: 'images of a release have digests, and a registry that does not answer must not stop a restart',
  },
  {
    check: 'container-ephemeral-storage-request-and-limit',
    object: /./,
    why: 'the root is read-only and volumes have a size limit (but that of a dump), so logs are left, which the kubelet rotates',
  },
  {
    check: 'deployment-has-host-podantiaffinity',
    object: /^Deployment/,
    why: 'topology spread constraints do it, and do not keep a pod from a cluster with one node',
  },
  {
    check: 'container-security-context-user-group-id',
    object: /^(StatefulSet .*-database|CronJob .*-backup|Job .*-backup-first-\w+)$/,
    why: "the users of Postgres' image, to whom the data belong",
  },
  {
    check: 'pod-probes-identical',
    object: /^Deployment .*-scheduler$/,
    why: 'kube-scheduler before 1.31 has one path only',
  },
  {
    check: 'networkpolicy-targets-pod',
    object: /^NetworkPolicy .*-database$/,
    why: 'the operator makes the pods of the database',
  },
];

interface Finding {
  readonly type_meta: { readonly kind: string };
  readonly object_meta: { readonly name: string };
  readonly checks: readonly {
    readonly check: { readonly id: string };
    readonly grade: number;
    readonly skipped: boolean;
  }[];
}

/** What passes all but one thing is a warning (5), and counts, too. */
const ALL_RIGHT = 10;

function findings(program: string, objects: readonly unknown[]): { check: string; object: string }[] {
  const args = ['score', '--kubernetes-version', 'v1.37', '--output-format', 'json', '-'];
  const input = Yaml.stringify(...objects);
  const { stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (stdout === '') throw new Error(stderr);
  // A stack without any object that it knows has the answer null.
  return ((JSON.parse(stdout) as Finding[] | null) ?? []).flatMap(({ type_meta, object_meta, checks }) =>
    checks
      .filter(({ grade, skipped }) => !skipped && grade < ALL_RIGHT)
      .map(({ check }) => ({ check: check.id, object: `${type_meta.kind} ${object_meta.name}` })),
  );
}

test('a linter finds nothing that has no reason', () => {
  const program = LINTER.buildOrSkip();
  if (program === undefined) return;
  const used = new Set<Exception>();
  const unexpected = stacks(COUNT)
    // Whoever leaves out the NetworkPolicies wants none.
    .filter(
      ({ networkPolicies, externalRuntime }) => networkPolicies !== false && externalRuntime === undefined,
    )
    .flatMap((props, stack) =>
      findings(program, stackObjects(props)).flatMap(({ check, object }) => {
        const exception = EXCEPTIONS.find((each) => each.check === check && each.object.test(object));
        if (exception !== undefined) used.add(exception);
        return exception === undefined ? `stack ${stack}: ${check}: ${object}` : [];
      }),
    );
  expect(unexpected).toEqual([]);
  expect(EXCEPTIONS.filter((exception) => !used.has(exception))).toEqual([]);
});
