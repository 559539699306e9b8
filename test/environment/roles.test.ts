/** Every role as it is shipped, in the environment that a kubelet with service links gives it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../../runtime/admission/certificates';
import type { ConfigInput } from '../../runtime/config';
import { ENVIRONMENT_VARIABLES } from '../../runtime/config';
import { waitFor } from '../cluster/wait';
import { stackObjects } from '../constructs/manifests';
import { Roles } from '../stack/roles';
import { NOBODY, UNREACHABLE_KUBECONFIG } from '../unreachable';
import { hostileServices, servicesOf, serviceVariables } from './service-variables';

describe('with the variables of hostile Services', () => {
  const variables = (services: ReturnType<typeof servicesOf>) =>
    Object.assign({}, ...services.map(serviceVariables)) as NodeJS.ProcessEnv;
  const ENVIRONMENTS: [string, NodeJS.ProcessEnv][] = [
    ["the stack's own Services", variables(servicesOf(stackObjects()))],
    ['a namespace full of hostile names', variables(hostileServices(ENVIRONMENT_VARIABLES))],
  ];
  let roles: Roles;
  let folder: string;
  beforeAll(async () => {
    roles = new Roles();
    folder = mkdtempSync(join(tmpdir(), 'fluxqueue-environment-'));
    writeFileSync(join(folder, 'config'), UNREACHABLE_KUBECONFIG);
    const { key, cert } = await makeCertificate({ names: ['localhost'], now: new Date(), trusted: '' });
    writeFileSync(join(folder, 'tls.key'), key);
    writeFileSync(join(folder, 'tls.crt'), cert);
  });
  afterAll(async () => {
    await roles.stop();
    rmSync(folder, { recursive: true });
  });

  const kubernetes = () => ({ kubeconfig: join(folder, 'config') });
  const ROLES: [string, () => ConfigInput, string][] = [
    ['webhook', () => ({ webhook: { host: '127.0.0.1', port: 0, certDir: folder } }), 'ok\n'],
    [
      'fluxion',
      () => ({ fluxion: { listen: `unix:${join(folder, 'fluxion.sock')}`, engine: 'embedded' } }),
      'ok\n',
    ],
    [
      // The database is nobody: as far as a controller comes without one.
      'controller',
      () => ({ kubernetes: kubernetes(), database: { url: `postgres://u:p@${NOBODY}/d` } }),
      'not ready: database\n',
    ],
    [
      // The apiserver is nobody: as far as a reader comes without one.
      'reader',
      () => ({ kubernetes: kubernetes(), database: { url: `postgres://u:p@${NOBODY}/d` } }),
      'not ready: certificate\n',
    ],
  ];

  describe.each(ENVIRONMENTS)('%s', (_, environment) => {
    test.each(ROLES)('the %s starts', async (name, config, ready) => {
      const role = await roles.start(name, config(), environment);
      const ended = role.process.exited.then((how) => {
        throw new Error(`${how}: ${role.process.logTail()}`);
      });
      const starts = waitFor(`the ${name} to start`, async () => (await role.notReady()) === ready);
      await Promise.race([starts, ended]);
      await role.stop();
      expect(await role.process.exited).toBe('exit code 0');
    });
  });
});
