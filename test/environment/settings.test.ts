/** The kubelet may set variables for Services, which anybody may name: none of them is a setting of ours. */

import { ENVIRONMENT_VARIABLES, loadConfig } from '../../runtime/config';
import { stackObjects } from '../constructs/manifests';
import fc from '../fast-check';
import { hostileServices, servicesNear, servicesOf, serviceVariables } from './service-variables';

/** What our programs read from the environment, through the configuration and beside it. */
const READ = [...ENVIRONMENT_VARIABLES, 'FLUXION_LIBRARY', 'LD_LIBRARY_PATH', 'KUBECONFIG', 'HOME', 'PATH'];

const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
const port = fc.record({
  name: label,
  port: fc.integer({ min: 1, max: 65535 }),
  protocol: fc.constantFrom('TCP', 'UDP', 'SCTP'),
});
/** Any name, and names that begin as our variables do. */
const name = fc.oneof(label, fc.constantFrom(...READ.flatMap(servicesNear).map((service) => service.name)));
const service = fc.record({ name, ports: fc.array(port, { minLength: 1, maxLength: 4 }) });

test('what the kubelet sets is known here', () => {
  const variables = serviceVariables({ name: 'redis-primary', ports: [{ name: 'db-1', port: 6379 }] });
  expect(variables).toEqual({
    REDIS_PRIMARY_SERVICE_HOST: '10.96.7.7',
    REDIS_PRIMARY_SERVICE_PORT: '6379',
    REDIS_PRIMARY_SERVICE_PORT_DB_1: '6379',
    REDIS_PRIMARY_PORT: 'tcp://10.96.7.7:6379',
    REDIS_PRIMARY_PORT_6379_TCP: 'tcp://10.96.7.7:6379',
    REDIS_PRIMARY_PORT_6379_TCP_PROTO: 'tcp',
    REDIS_PRIMARY_PORT_6379_TCP_PORT: '6379',
    REDIS_PRIMARY_PORT_6379_TCP_ADDR: '10.96.7.7',
  });
});

test('no Service can set a variable that is read', () => {
  fc.assert(
    fc.property(service, (each) => {
      expect(Object.keys(serviceVariables(each)).filter((variable) => READ.includes(variable))).toEqual([]);
    }),
    { numRuns: 2000 },
  );
});

test('no Service can set a variable that a setting could ever have', () => {
  // What a Service sets is in capitals; the path of a setting is not.
  for (const variable of ENVIRONMENT_VARIABLES)
    expect(variable).toMatch(/^(FLUXQUEUE_[a-z][A-Za-z]*(_[a-z][A-Za-z]*)*|DATABASE_URL)$/);
});

test("the variables of the stack's own Services, and of hostile ones, leave the configuration as it is", () => {
  const services = [...servicesOf(stackObjects()), ...hostileServices(READ)];
  expect(services.map((each) => each.name)).toEqual(
    expect.arrayContaining(['fluxqueue-webhook', 'fluxqueue-database', 'fluxqueue-http', 'database']),
  );
  const environment = Object.assign({}, ...services.map(serviceVariables)) as NodeJS.ProcessEnv;
  expect(environment.FLUXQUEUE_WEBHOOK_PORT).toMatch(/^tcp:/);
  expect(loadConfig(undefined, environment)).toEqual(loadConfig(undefined, {}));
});
