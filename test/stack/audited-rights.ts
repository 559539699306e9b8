/** Which RBAC rules of the stack's accounts were used, from the audit log of the apiserver. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { k8s } from 'cdk8s-plus-28';
import { STACK_NAMESPACE } from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import { waitFor } from '../cluster/wait';

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestURI: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

const DECISION = 'authorization.k8s.io/decision';

/** An audit log with every request of the stack's ServiceAccounts. */
export class RightsAudit {
  private readonly folder = mkdtempSync(join(tmpdir(), 'fluxqueue-rights-'));
  private readonly log = join(this.folder, 'audit.log');
  /** Arguments of kube-apiserver. */
  readonly apiserverArgs: readonly string[];

  constructor() {
    const policy = join(this.folder, 'policy.json');
    writeFileSync(
      policy,
      JSON.stringify({
        apiVersion: 'audit.k8s.io/v1',
        kind: 'Policy',
        // A watch has no other line until it ends.
        omitStages: ['RequestReceived'],
        rules: [
          { level: 'Metadata', userGroups: [`system:serviceaccounts:${STACK_NAMESPACE}`] },
          { level: 'None' },
        ],
      }),
    );
    this.apiserverArgs = [
      `--audit-policy-file=${policy}`,
      `--audit-log-path=${this.log}`,
      '--audit-log-mode=blocking',
      '--audit-log-maxsize=0',
    ];
  }

  /** `VERB RESOURCE` of every request of the account that RBAC allowed. */
  used(account: string): Set<string> {
    const rights = new Set<string>();
    for (const event of this.events(account)) {
      if (event.annotations?.[DECISION] !== 'allow' || event.objectRef === undefined) continue;
      rights.add(`${event.verb} ${resourceOf(event.objectRef)}`);
      // An apply that creates the object needs both rights; the log has the verb of the request only.
      if (event.verb === 'patch' && event.responseStatus?.code === 201)
        rights.add(`create ${resourceOf(event.objectRef)}`);
    }
    return rights;
  }

  /** Requests of the account that RBAC refused. */
  refused(account: string): string[] {
    const events = this.events(account).filter(({ annotations }) => annotations?.[DECISION] === 'forbid');
    return events.map(({ verb, requestURI }) => `${verb} ${requestURI}`);
  }

  /**
   * Waits until the account has used each right of the manifests, and sees that it has used no other and that none was refused.
   * @param more `VERB RESOURCE` of the roles of Kubernetes that the account is bound to
   */
  async expectUsed(account: string, objects: readonly KubeObject[], more: readonly string[] = []) {
    const rights = [...granted(objects, account), ...more].sort();
    const unused = () => rights.filter((right) => !this.used(account).has(right));
    await waitFor(`every right of ${account} to be used`, () => {
      const left = unused();
      if (left.length > 0) throw new Error(`unused: ${left.join(', ')}`);
      return true;
    });
    expect([...this.used(account)].filter((right) => !rights.includes(right))).toEqual([]);
    expect(this.refused(account)).toEqual([]);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private events(account: string): AuditEvent[] {
    const lines = existsSync(this.log) ? readFileSync(this.log, 'utf8').split('\n') : [];
    // The apiserver may still be writing the last line.
    const events = lines.slice(0, -1).map((line) => JSON.parse(line) as AuditEvent);
    return events.filter(
      ({ user }) => user.username === `system:serviceaccount:${STACK_NAMESPACE}:${account}`,
    );
  }
}

function resourceOf({
  apiGroup = '',
  resource = '',
  subresource,
}: NonNullable<AuditEvent['objectRef']>): string {
  const name = subresource === undefined ? resource : `${resource}/${subresource}`;
  return apiGroup === '' ? name : `${apiGroup}/${name}`;
}

/** `VERB RESOURCE` of every rule that the manifests give to an account. */
function granted(objects: readonly KubeObject[], account: string): Set<string> {
  const roles = objects.filter(
    ({ kind, metadata }) => /^(Cluster)?Role$/.test(kind) && metadata.name === account,
  );
  const rules = roles.flatMap((role) => role.rules as k8s.PolicyRule[]);
  return new Set(
    rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.map((verb) => `${verb} ${group === '' ? resource : `${group}/${resource}`}`),
        ),
      ),
    ),
  );
}

/** The accounts of a stack with their rights, and the Secrets of which they have rights. */
export function accountsOf(objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.filter(({ kind }) => ACCOUNTS.test(kind));
}

const ACCOUNTS = /^(ServiceAccount|(Cluster)?Role(Binding)?|Secret)$/;
