import { App, Chart, Size } from 'cdk8s';
import { ConfigMap, Secret } from 'cdk8s-plus-28';
import {
  BATCH,
  BROKER_CONFIG,
  containerField,
  type Field,
  SERVICES,
  SIDECAR,
  SUBMIT,
  USER_SCRIPTS,
  WORKER,
} from './field';

const chart = new Chart(new App(), 'test');
const secret = Secret.fromSecretName(chart, 'secret', 'vault');
const configMap = ConfigMap.fromConfigMapName(chart, 'files', 'files');

const PROBE = { exec: { command: ['ready'] } };

/** A user script, which is a file in the pods. */
const script = (name: string, effect: string, more: string): Field =>
  containerField({
    path: `commands.${name}`,
    prop: name,
    value: 'echo here',
    effect,
    shows: name === 'prefix' ? 'echo here flux submit' : `runner_${name}.sh`,
    more,
  });

/** A field of a sidecar. */
const sidecar = (name: string, more: object, effect: string, shows: string): Field => {
  const side = { image: 'side', name: 'side', ...more };
  return {
    path: `containers[].${name}`,
    prop: `sidecars[].${name}`,
    effect,
    spec: { containers: [{ image: 'app', command: 'run', runFlux: true }, side] },
    props: { sidecars: [side] },
    shows,
  };
};

export const CONTAINER_FIELDS: readonly Field[] = [
  containerField({
    path: 'image',
    value: 'lammps',
    effect: 'image of the container',
    shows: '"image":"lammps"',
  }),
  containerField({
    path: 'imagePullSecret',
    value: 'vault',
    propValue: secret,
    effect: 'imagePullSecrets of the pod, each once',
    shows: '"imagePullSecrets":[{"name":"vault"}]',
  }),
  containerField({
    path: 'name',
    value: 'main',
    effect: "name of the container and of a sidecar's files",
    shows: '"name":"main","image"',
  }),
  containerField({
    path: 'workingDir',
    value: '/work',
    effect: 'workingDir, in which jobs start too',
    shows: '"workingDir":"/work"',
  }),
  containerField({
    path: 'command',
    value: 'hostname -f',
    effect: 'command that the lead broker submits, starts or runs as a batch job',
    shows: 'hostname -f',
    more: SUBMIT,
  }),
  containerField({
    path: 'pullAlways',
    value: true,
    effect: 'imagePullPolicy Always',
    shows: '"imagePullPolicy":"Always"',
  }),
  containerField({
    path: 'imagePullPolicy',
    value: 'Never',
    effect: 'imagePullPolicy',
    shows: '"imagePullPolicy":"Never"',
  }),
  containerField({
    path: 'ports',
    value: [5000],
    effect:
      'containerPort; the ports of a sidecar or service get a Service NAME-CONTAINER, where they have names',
    shows: '"containerPort":5000',
    more: SERVICES,
  }),
  containerField({
    path: 'environment',
    value: { A: 'b' },
    effect: 'env, sorted by name',
    shows: '{"name":"A","value":"b"}',
  }),
  {
    path: 'containers[].secrets',
    prop: 'container.secrets',
    effect: 'env from a key of a Secret',
    container: { secrets: { TOKEN: { name: 'vault', key: 'token' } } },
    containerProps: { secrets: { TOKEN: { secret, key: 'token' } } },
    shows: '{"name":"TOKEN","valueFrom":{"secretKeyRef":{"name":"vault","key":"token"}}}',
  },
  containerField({
    path: 'env',
    value: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }],
    effect: 'env as in a pod; overrides the others',
    shows: '"fieldPath":"status.hostIP"',
  }),
  {
    path: 'containers[].envFrom',
    prop: 'container.envFrom',
    effect: 'envFrom',
    container: { envFrom: [{ prefix: 'X_', configMapRef: { name: 'files' } }] },
    containerProps: { envFrom: [{ prefix: 'X_', configMap }] },
    shows: '"envFrom":[{"prefix":"X_","configMapRef":{"name":"files"}}]',
  },
  containerField({
    path: 'launcher',
    value: true,
    effect: 'the command runs once, beside the lead broker, and submits jobs itself',
    shows: 'set -- \\"$@\\" run\\n',
    more: SUBMIT,
  }),
  containerField({
    path: 'batch',
    value: true,
    effect: 'every line of the command is a job of one batch job',
    shows: 'flux submit --flags=waitable',
    more: BATCH,
  }),
  containerField({
    path: 'batchRaw',
    value: true,
    effect: 'the command is the script of a batch job',
    shows: '"runner_batch.sh":"#!/bin/sh\\nrun\\n"',
    more: BATCH,
  }),
  containerField({
    path: 'logs',
    value: '/out',
    effect: 'directory for the output of batch jobs, FLUX_OUTPUT_DIR',
    shows: 'logs=/out',
    more: BATCH,
  }),
  {
    ...sidecar('runFlux', {}, 'the container that runs the broker; the others become native sidecars', ''),
    prop: 'container or sidecars',
    shows: '"restartPolicy":"Always"',
    more: SIDECAR,
  },
  sidecar(
    'noWrapEntrypoint',
    { noWrapEntrypoint: true },
    'a sidecar runs the entrypoint of its image',
    '{"name":"side","image":"side","imagePullPolicy":"IfNotPresent","volumeMounts"',
  ),
  sidecar(
    'serviceName',
    { ports: [80], serviceName: 'api' },
    'name of the Service for the ports',
    '"kind":"Service","metadata":{"name":"api"',
  ),
  containerField({
    path: 'lifeCycle.postStartExec',
    prop: 'postStart',
    value: 'touch "/a b"',
    effect: 'postStart, run by a shell',
    shows: '"postStart":{"exec":{"command":["/bin/sh","-c","touch \\"/a b\\""]}}',
  }),
  containerField({
    path: 'lifeCycle.preStopExec',
    prop: 'preStop',
    value: 'sync',
    effect: 'preStop, run by a shell',
    shows: '"preStop":{"exec":{"command":["/bin/sh","-c","sync"]}}',
  }),
  containerField({
    path: 'livenessProbe',
    value: PROBE,
    effect: 'livenessProbe',
    shows: '"livenessProbe":{"exec":',
  }),
  containerField({
    path: 'readinessProbe',
    value: PROBE,
    effect: 'readinessProbe',
    shows: '"readinessProbe":{"exec":',
  }),
  containerField({
    path: 'startupProbe',
    value: PROBE,
    effect: 'startupProbe',
    shows: '"startupProbe":{"exec":',
  }),
  {
    path: 'containers[].resources',
    prop: 'container.cpu, cpuLimit, memory, memoryLimit, devices, claims',
    effect: 'resources; the brokers offer the whole CPUs of the limit, or else of the request',
    container: {
      resources: {
        claims: [{ name: 'gpu' }],
        limits: { cpu: '4', memory: '8Gi', 'nvidia.com/gpu': 1 },
        requests: { cpu: '2500m', memory: '4Gi', 'nvidia.com/gpu': 1 },
      },
    },
    containerProps: {
      cpu: 2.5,
      cpuLimit: 4,
      memory: Size.gibibytes(4),
      memoryLimit: Size.gibibytes(8),
      devices: { 'nvidia.com/gpu': 1 },
      claims: ['gpu'],
    },
    shows: 'cores = \\"0-3\\"',
    more: BROKER_CONFIG,
  },
  containerField({
    path: 'securityContext',
    value: { privileged: true },
    effect: 'securityContext',
    shows: '"securityContext":{"privileged":true}',
  }),
  script('init', 'shell commands before everything else', USER_SCRIPTS),
  script('pre', 'shell commands before the broker', USER_SCRIPTS),
  script('brokerPre', 'shell commands before the lead broker', USER_SCRIPTS),
  script('workerPre', 'shell commands before the broker of a worker', WORKER),
  script('post', 'shell commands after the broker; the exit code does not change', USER_SCRIPTS),
  script('servicePre', 'shell commands of a sidecar before it waits for Flux', SIDECAR),
  script('prefix', 'words before the command line that the lead broker starts', SUBMIT),
  {
    path: 'containers[].commands.script',
    prop: 'container.script',
    effect: 'script that every task runs, from a file',
    spec: { containers: [{ image: 'app', commands: { script: 'echo here' } }] },
    props: { container: { image: 'app', script: 'echo here' } },
    shows: 'runner_script.sh',
    more: SUBMIT,
  },
];
